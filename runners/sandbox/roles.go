package sandbox

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role says what a process is for.
type Role string

// The roles. A Bare process has no wall: relay asks a program for its version.
const (
	Bare      Role = ""
	Agent     Role = "agent"
	Reviewer  Role = "reviewer" // also an agent that writes a plan: it changes no files
	Check     Role = "check"
	SetUp     Role = "setup"
	SetUpFor  Role = "setup of work"             // of a commit with agents' work, whose scripts may be theirs: without logins
	SetUpWith Role = "setup of work with logins" // the same with logins, which are refused if a sandbox is required
)

// IsCommand reports whether processes of the role are set-up commands and checks.
func (r Role) IsCommand() bool { return r == Check || strings.HasPrefix(string(r), string(SetUp)) }

// secret are files and folders below the home with keys, or with sockets of programs that hold keys. No process sees them.
var secret = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli",
	".config/gcloud", ".config/op", ".config/sops", ".config/rclone", ".config/doctl", ".config/containers/auth.json", ".1password",
	".vault-token", ".password-store", ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".gem/credentials",
	".pgpass", ".terraform.d/credentials.tfrc.json", ".bash_history", ".zsh_history", ".pypirc",
}

// logins are files below the home with keys of package registries.
var logins = []string{
	".netrc", ".npmrc", ".config/pip/pip.conf", ".cargo/credentials.toml", ".cargo/credentials", ".m2/settings.xml",
}

// running are the parts of /run that programs need to find hosts and themselves. Sockets of services are elsewhere there.
var running = []string{
	"/etc/resolv.conf", "/run/systemd/resolve", "/run/NetworkManager", "/run/nscd", "/run/current-system", "/run/wrappers",
}

// state is what the CLI of an agent keeps between its sessions. Other CLIs and checks do not see it.
type state struct {
	variable string   // that names the first folder
	places   []string // below the home; the CLI writes these, and makes them if they are missing
	keep     []string // seen from the first folder: it reads these, and what is in them decides what later sessions do
	make     []string // below the first folder: it makes these if they are missing, which Landlock would refuse
	beside   bool     // it makes files beside what is in keep, which Landlock allows only with all of the folder
}

// states are those of the CLIs that relay knows.
var states = map[string]state{
	"claude": {
		"CLAUDE_CONFIG_DIR",
		[]string{".claude", ".claude.json"},
		[]string{
			"settings.json", "settings.local.json", "hooks", "commands", "agents", "skills", "rules", "output-styles", "CLAUDE.md", "plugins",
		},
		[]string{"projects", "sessions", "session-env", "shell-snapshots", "plugins/store"},
		false,
	},
	"codex": {"CODEX_HOME", []string{".codex"}, []string{"config.toml", "hooks.json", "AGENTS.md", "prompts", "rules", "skills"}, nil, false},
	"gemini": {
		"", []string{".gemini"}, []string{"settings.json", "GEMINI.md", "commands", "extensions", "skills"}, []string{"tmp", "history"}, true,
	},
	"opencode": {
		"",
		[]string{".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode"},
		below(
			"../../../.config/opencode", "opencode.json", "opencode.jsonc", "config.json", "AGENTS.md", "agent", "agents", "command", "commands",
			"mode", "modes", "plugin", "plugins", "skill", "skills", "tool", "tools",
		),
		[]string{"log", "storage"},
		true,
	},
	// From their documentation: relay has not tried these.
	"aider": {"", []string{".aider"}, nil, nil, false},
	"crush": {"CRUSH_GLOBAL_DATA", []string{".local/share/crush"}, nil, nil, false},
	"qwen":  {"", []string{".qwen"}, []string{"settings.json", "QWEN.md", "commands", "extensions", "skills"}, []string{"tmp"}, true},
}

// providers are the hosts of the CLIs' models and logins.
var providers = map[string][]string{
	"claude":   {"api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"},
	"codex":    {"api.openai.com", "chatgpt.com", "auth.openai.com"},
	"gemini":   {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "accounts.google.com"},
	"opencode": {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"},
}

// Knows reports whether relay knows the CLI of a type.
func Knows(cli string) bool { return len(states[cli].places) > 0 }

// nests are the CLIs with a sandbox of their own that starts inside bubblewrap, but not inside Landlock.
var nests = map[string]bool{"codex": true}

// ruleset collects the rules for a process: a later rule for a path replaces an earlier one.
type ruleset struct {
	modes   map[string]Mode
	process Process
	env     []string
}

// rules decides what a process can reach.
func (s *Sandbox) rules(p Process) *ruleset {
	r := &ruleset{modes: map[string]Mode{}, process: p}
	home, works := r.variable("HOME"), p.Role.IsCommand()
	r.set(ReadOnly, "/")
	r.set(Private, "/tmp", "/var/tmp", "/dev/shm", s.Temp)
	r.set(Hidden, append(below(home, secret...), "/run")...)
	r.set(ReadOnly, running...)
	r.setLogins(s, home)
	r.setStates(home, s.Kind)
	r.set(Hidden, s.State, s.Slots)
	if p.Role == Check && p.Dir != s.Root {
		r.set(Hidden, s.Root)
		r.set(ReadOnly, filepath.Join(s.Git, "objects"), s.Hook)
	}
	inCheckout := s.Kind == Landlock && p.Dir == s.Root && p.Role != Reviewer // with rules below it, nothing could make files in it
	if !inCheckout {
		r.showFolder(s, works)
	}
	r.set(map[bool]Mode{false: Writable, true: ReadOnly}[p.Role == Reviewer], p.Dir)
	if p.Dir == s.Root && p.Role != Reviewer {
		r.set(Writable, s.Git)
	}
	r.own(s)
	if inCheckout {
		delete(r.modes, r.variable("RELAY_PROMPT"))
	}
	write := slices.Concat(s.Write, p.Write)
	for _, path := range write {
		if !NamesFile(path) {
			_ = os.MkdirAll(path, 0o700) // only what exists can be opened
		}
	}
	r.set(Writable, write...)
	for _, path := range slices.DeleteFunc(slices.Clone(p.Allow), isHost) {
		r.set(Writable, strings.Replace(path, "~", home, 1))
	}
	r.setCaches(s, home, works)
	r.set(ReadOnly, s.Sockets...)
	self, _ := os.Executable() // which agents start as a server; "": they say so
	r.reveal(slices.Concat([]string{home, s.Root, s.Git, self}, filepath.SplitList(r.variable("PATH")))...)
	return r
}

// hosts decides which hosts a process can reach besides its own loopback; nil: all. An agent reaches its provider.
func (s *Sandbox) hosts(r *ruleset) []string {
	hosts := map[Role][]string{Check: s.Checks, Agent: s.Agents, Reviewer: s.Agents}[r.process.Role]
	if hosts == nil {
		return nil
	}
	hosts = append(slices.Clone(hosts), slices.DeleteFunc(slices.Clone(r.process.Allow), func(path string) bool { return !isHost(path) })...)
	if r.process.Role == Check {
		return hosts
	}
	hosts = append(hosts, providers[r.process.CLI]...)
	for _, entry := range r.process.Env {
		name, value, _ := strings.Cut(entry, "=")
		if at, err := url.Parse(value); err == nil && strings.HasSuffix(name, "_BASE_URL") && at.Hostname() != "" {
			hosts = append(hosts, listing(at.Hostname(), cmp.Or(at.Port(), "443")))
		}
	}
	return hosts
}

// showFolder hides relay's folder. An agent sees there what is its task's own, with the plan, and asks its run for the rest.
func (r *ruleset) showFolder(s *Sandbox, works bool) {
	if !works && s.Socket == "" {
		r.set(ReadOnly, s.Folder)
		return
	}
	r.set(Hidden, s.Folder)
	epic, own, ok := strings.Cut(strings.TrimPrefix(r.variable("RELAY_PROMPT"), s.Folder), "runs/")
	if parts := strings.Split(own, "/"); ok && !works && len(parts) > 1 {
		runs := filepath.Join(s.Folder, epic, "runs")
		all, _ := filepath.Glob(filepath.Join(runs, "*", parts[1]))
		if s.Kind == Bubblewrap { // Landlock hides no sockets, and with a rule below /tmp it lets no process create files there
			all = append(all, filepath.Dir(s.Socket))
		}
		r.set(ReadOnly, append(all, filepath.Join(runs, parts[0], "epic.yml"))...)
		r.env = append(r.env, SocketVariable+"="+s.Socket)
	}
}

// own adds what only this process has: its folder for temporary files and its result.
func (r *ruleset) own(s *Sandbox) {
	if temp := r.variable("TMPDIR"); temp != "" && temp != s.Temp {
		r.set(Writable, temp)
	}
	r.env = append(r.env, "XDG_RUNTIME_DIR="+cmp.Or(r.variable("TMPDIR"), s.Temp)) // the user's has the sockets of services
	result := r.variable("RELAY_RESULT")
	progress := filepath.Join(result, "../../../progress.jsonl")
	if filepath.IsAbs(result) {
		f, _ := os.OpenFile(progress, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // a process inside cannot make it
		_ = f.Close()
	}
	r.set(Writable, filepath.Dir(result), progress)
	r.set(ReadOnly, r.variable("RELAY_PROMPT"))
}

// setLogins lets set-up use the user's logins and ssh agent, but not that of agents' work. If a sandbox is not required, agents and checks
// see logins, too, as their packages may need them.
func (r *ruleset) setLogins(s *Sandbox, home string) {
	switch role := r.process.Role; {
	case role == SetUp || role == SetUpWith || role == SetUpFor && (s.Logins || slices.Contains(r.process.Allow, Logins)):
		r.set(ReadOnly, r.variable("SSH_AUTH_SOCK"))
	case role == SetUpFor || s.Setting == Require:
		r.set(Hidden, below(home, logins...)...)
	}
}

// setStates lets the CLI of an agent write its own state, and hides those of others.
func (r *ruleset) setStates(home string, kind Kind) {
	for _, cli := range slices.Sorted(maps.Keys(states)) {
		known := states[cli]
		places := below(home, known.places...)
		places[0] = cmp.Or(r.variable(known.variable), places[0])
		if cli != r.process.CLI {
			r.set(Hidden, places...)
			continue
		}
		for _, folder := range append(below(places[0], known.make...), places...) {
			if filepath.Ext(folder) == "" || folder == places[0] {
				_ = os.MkdirAll(folder, 0o700) // the CLI says so
			}
		}
		r.set(Writable, places...)
		if kind == Landlock && known.beside {
			continue
		}
		kept := below(places[0], known.keep...)
		if kind == Bubblewrap { // Landlock lets no process make what is missing
			makeMissing(kept)
		}
		r.set(ReadOnly, kept...)
		r.set(Writable, below(places[0], known.make...)...)
	}
}

// makeMissing makes folders and files without settings, so that a process inside does not make them with its own.
func makeMissing(paths []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if filepath.Ext(path) == "" {
			_ = os.MkdirAll(path, 0o700)
		} else {
			_ = os.WriteFile(path, []byte(map[bool]string{true: "{}\n"}[strings.HasPrefix(filepath.Ext(path), ".json")]), 0o600)
		}
	}
}

// set gives paths a mode. It follows links, and leaves out paths that are missing. It opens nothing by a link that a process like this one
// could have made.
func (r *ruleset) set(mode Mode, paths ...string) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) && (mode == Hidden || !r.isLinked(path)) {
			r.modes[real] = mode
		}
	}
}

// isLinked reports whether a part of the path is a link in a folder that the process may write.
func (r *ruleset) isLinked(path string) bool {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) { // also a relative one ends
		info, err := os.Lstat(path)
		if folder, _ := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && info.Mode()&fs.ModeSymlink != 0 && r.mode(folder) == Writable {
			return true
		}
	}
	return false
}

// reveal lets the process read paths that lie in a private folder.
func (r *ruleset) reveal(paths ...string) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) && r.mode(real) == Private {
			r.modes[real] = ReadOnly
		}
	}
}

// mode returns the mode of a path, by the rule for it or for the nearest folder above.
func (r *ruleset) mode(path string) Mode {
	for {
		if mode, ok := r.modes[path]; ok || path == filepath.Dir(path) { // also a relative one ends
			return mode
		}
		path = filepath.Dir(path)
	}
}

// sorted returns the rules, without those that change nothing: Landlock lets no process create files in a folder with rules below it.
func (r *ruleset) sorted() (rules []Rule) {
	for _, path := range slices.Sorted(maps.Keys(r.modes)) {
		if mode := r.modes[path]; path == "/" || mode == Private || mode != r.mode(filepath.Dir(path)) {
			rules = append(rules, Rule{path, mode})
		}
	}
	return rules
}

// variable returns the value of a variable that the process gets.
func (r *ruleset) variable(name string) (value string) {
	for _, entry := range r.process.Env {
		if own, ok := strings.CutPrefix(entry, name+"="); ok && name != "" {
			value = own
		}
	}
	return value
}

// NamesFile reports whether a path has an extension: relay makes no folder of that name.
func NamesFile(path string) bool {
	return filepath.Ext(strings.TrimPrefix(filepath.Base(path), ".")) != ""
}

func below(folder string, names ...string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, name))
	}
	return paths
}
