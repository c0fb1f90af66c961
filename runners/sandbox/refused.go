package sandbox

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"relay/epic/pattern"
)

// Unnamed stands for a refusal in output that names no path.
const Unnamed = "(unnamed)"

// Logins stands for the user's logins and ssh agent, where set-up needs them.
const Logins = "agents' work the logins of registries and the ssh agent"

// ErrUntried means that relay would have to run a command outside of the sandbox to see what it lacks, and that is forbidden or no trial.
var ErrUntried = errors.New("relay.sandbox is require, so nothing is tried outside")

// refusals matches what shells, tools and languages print about a file that they cannot use: its path stands before the reason or behind
// it. A path that is hidden seems to be missing. Some name none: docker's tools, sudo, git in the user's checkout, and chromium.
var refusals = regexp.MustCompile(`(?:^|[\s'"‘“(=])` + pathForm + `['"’”:)\s(]*(?:connect: )?` + reason +
	`|` + reason + `(?:[^\n/]{0,20}[\s'"‘“(:]` + pathForm + `)?|(?:(?:AccessDenied|NoSuchFile)Exception:? \(?|npm error path |unix://)` + pathForm +
	`|container runtime strategy|fetching server API version|no new privileges|snap-confine|fatal: not a git repository|user data directory for headless`)

const (
	pathForm = `(/[^\s'"‘’“”:,;()<>|*?$\\]*[^\s'"‘’“”:,;()<>|*?$\\.])`
	reason   = `(?i:permission denied|read-only file system|operation not permitted|no space left on device|(no such file or directory|connection refused|ENOENT))`
)

// places matches the folder that a setting opens for a path: that of one tool, or a socket.
var places = pattern.New(`^(?:.*\.sock$|~/\.local/[^/]*/[^/]*|~/(?:\.config|\.cache|[^./][^/]*)/[^/]*|~/[^/]*|/[^/]*/[^/]*|.*)`)

// guarded matches paths that no setting should open: what holds keys, starts programs or decides what they do, the system, the user's
// checkout. It also matches text that is neither a path nor a host.
var guarded = regexp.MustCompile(`^(?:[^/~]|~$|/(?:etc|usr|bin|sbin|lib\w*|boot|proc|sys|dev|home|root|run/user)(?:/|$)|` +
	`~/\.(?:config|local)(?:/share|/state)?$|~/(?:bin|\.\w*(?:profile|rc|login|env)|\.gitconfig|\.(?:claude|codex|gemini)\b.*|` +
	`\.config/(?:git|fish|systemd|autostart)|\.local/(?:bin|state/relay|\w+/opencode)|` +
	strings.Join(slices.Concat(secret, logins), "|") + `)(?:/|$))`)

const (
	mostRefused = 5         // paths of one process
	mostRead    = 256 << 10 // bytes at the end of each output
)

// Refused returns what a wall refused a process, as far as its output says so and the rules explain it: the paths that a setting would
// have to open, with ~ for the home and a dot for the user's checkout.
func Refused(w *Wall, home, root string, outputs ...string) (paths []string) {
	unnamed := false
	for _, output := range slices.Compact(outputs) {
		f, _ := os.Open(output)              // what cannot be read says nothing
		_, _ = f.Seek(-mostRead, io.SeekEnd) // a smaller file is read from its beginning
		text, _ := io.ReadAll(io.LimitReader(f, mostRead))
		_ = f.Close()
		for _, m := range refusals.FindAllStringSubmatch(strings.ReplaceAll(string(text), `\n`, "\n"), -1) { // a transcript is JSON
			path, missing, full := cmp.Or(m[1], m[4], m[5]), cmp.Or(m[2], m[3], m[5]) != "", strings.Contains(m[0], "o space left")
			unnamed = unnamed || path == "" && !missing && !full
			real := keptFrom(w, path, missing, full)
			if path = real; real == "" {
				continue
			}
			for folder, name := range map[string]string{home: "~", root: "."} {
				if rest, ok := strings.CutPrefix(real+"/", folder+"/"); ok && len(rest) < len(path) {
					path = strings.TrimSuffix(name+"/"+rest, "/")
				}
			}
			if path = places.FindString(path); len(paths) < mostRefused && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	if unnamed && len(paths) == 0 {
		return []string{Unnamed}
	}
	return paths
}

// keptFrom returns a path without links if the rules keep a process from it and the user could use it; else "". If the place of the path is
// full, it returns the private folder that the path is in.
func keptFrom(w *Wall, path string, missing, full bool) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path) // a folder above has a setting of its own
	near, mode, folder := path, Writable, ""
	for near != "/" && unix.Access(near, unix.F_OK) != nil {
		near = filepath.Dir(near)
	}
	real, err := filepath.EvalSymlinks(near)
	path = real + path[len(near):]
	for _, r := range w.Rules { // each after those of the folders above
		if strings.HasPrefix(path+"/", strings.TrimSuffix(r.Path, "/")+"/") {
			mode, folder = r.Mode, r.Path
		}
	}
	if full {
		return map[bool]string{true: folder}[mode == Private && w.Wraps()]
	}
	seen := mode == Hidden && real == path || (mode == Hidden || mode == ReadOnly) && !missing && unix.Access(real, unix.W_OK) == nil
	if err != nil || !seen {
		return ""
	}
	return path
}

// Settings returns the line of the configuration that allows what was refused; "": there is none. It leaves out guarded paths, and folders
// that are full: the user's have the sockets of tmux, ssh-agent and X. Hosts in agents were refused to no check.
func Settings(refused []string, agents ...string) string {
	var set []string
	refused = slices.DeleteFunc(slices.Clone(refused), bounded.MatchString)
	for _, setting := range []string{"sandbox_sockets: [$]", "sandbox_write: [$]", "sandbox_network: {checks: [$]}", "sandbox_network: {agents: [$]}", "sandbox_logins: true"} {
		name, _, _ := strings.Cut(setting, ":")
		list := slices.DeleteFunc(slices.Clone(refused), func(path string) bool {
			return settingOf(path) != name || isHost(path) && slices.Contains(agents, path) != strings.Contains(setting, "agents")
		})
		if len(list) > 0 {
			set = append(set, strings.Replace(setting, "$", strings.Join(list, ", "), 1))
		}
	}
	line := strings.Replace(strings.Join(set, ", "), "]}, sandbox_network: {", "], ", 1) // one key for both
	return strings.TrimSuffix("relay: {"+line+"}", "relay: {}")
}

// settingOf returns the setting that allows a path or host; "": there is none.
func settingOf(path string) string {
	switch {
	case isHost(path):
		return "sandbox_network"
	case path == Logins:
		return "sandbox_logins"
	case guarded.MatchString(path):
		return ""
	case isSocket(path):
		return "sandbox_sockets"
	}
	return "sandbox_write"
}

func isSocket(path string) bool { return strings.HasSuffix(path, ".sock") }

// bounded matches the folders of which a process has its own, which can only be full: see [privateSize].
var bounded = regexp.MustCompile(`^/(?:tmp|var/tmp|dev/shm)$`)

// Words says what the sandbox refuses, and which settings allow that, as [Settings]; "" if no path is named, or told says so already.
func Words(refused []string, told string, agents []string) string {
	named := slices.DeleteFunc(slices.Clone(refused), func(path string) bool { return path == Unnamed })
	const allows = "; to allow that: "
	for i, path := range named {
		if bounded.MatchString(path) {
			named[i] += " for more than 1 GiB (a TMPDIR in relay.env below a folder of sandbox_write holds more)"
		}
	}
	said := strings.TrimSuffix("the sandbox refuses "+strings.Join(named, ", ")+allows+Settings(refused, agents...), allows)
	if len(named) == 0 || strings.Contains(told, said) {
		return ""
	}
	return said
}
