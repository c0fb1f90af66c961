package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/runners/sandbox"
)

// refusals are what processes do or print, and what they were refused then. A printed text names paths that the rules refuse or allow.
var refusals = map[string]struct {
	role   sandbox.Role
	needs  string // a program
	script string
	want   []string
}{
	"sh":                {sandbox.Check, "", `echo x > ~/.tool/sub/x`, []string{"~/.tool"}},
	"coreutils":         {sandbox.Check, "", `touch ~/.tool/x ~/.config/tool/x; mkdir ~/.tool/d`, []string{"~/.tool", "~/.config/tool"}},
	"bash":              {sandbox.SetUp, "bash", `exec bash -c 'echo x > ~/.tool/x'`, []string{"~/.tool"}},
	"python":            {sandbox.Check, "python3", `python3 -c 'import os; open(os.environ["HOME"]+"/.tool/x", "w")'`, []string{"~/.tool"}},
	"node":              {sandbox.Check, "node", `node -e 'require("fs").writeFileSync(process.env.HOME+"/.tool/x", "")'`, []string{"~/.tool"}},
	"a key":             {sandbox.Agent, "", `cat ~/.ssh/id`, []string{"~/.ssh"}},
	"the checkout":      {sandbox.Check, "", `cat $ALL/checkout/a`, []string{"./a"}},
	"through a link":    {sandbox.Check, "", `touch ~/linked/x`, []string{"~/.tool"}},
	"a path of its own": {sandbox.Check, "", `mkdir -p d; chmod 0 d; cat $PWD/none; echo "$PWD/a: Permission denied"`, nil},
	"go":                {sandbox.Check, "", `echo "open $HOME/.tool/x: read-only file system"`, []string{"~/.tool"}},
	"java":              {sandbox.Check, "", `echo "java.io.FileNotFoundException: $HOME/.tool/x (Permission denied)"`, []string{"~/.tool"}},
	"java, denied":      {sandbox.Check, "", `echo "java.nio.file.AccessDeniedException: $HOME/.tool/x"`, nil},
	"npm":               {sandbox.Check, "", `echo "npm error EROFS: read-only file system, mkdir '$HOME/.tool/x'"`, []string{"~/.tool"}},
	"a transcript":      {sandbox.Agent, "", `printf '{"text":"touch: cannot touch \\u0027x\\u0027\\n/bin/sh: 1: cannot create %s/.tool/x: Read-only file system\\nok"}' ~`, []string{"~/.tool"}},
	"up and down":       {sandbox.Check, "", `echo "$HOME/.tool/none/../x: Permission denied"; echo "$HOME/d/../.ssh/x: Permission denied"`, []string{"~/.tool", "~/.ssh"}},
	"nothing there":     {sandbox.Check, "", `cat ~/.none/x`, nil},
	"no path":           {sandbox.Check, "", `echo "mount: Operation not permitted"`, []string{sandbox.Unnamed}},
	"sudo":              {sandbox.Check, "", `echo 'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.'`, []string{sandbox.Unnamed}},
	"nothing":           {sandbox.Check, "", `echo "permission to land /x granted"`, nil},
}

// What a process was refused is found in what shells, tools and languages print, if the rules explain it, with what a setting would open.
func TestRefused(t *testing.T) {
	t.Parallel()
	for kind, box := range boxes(t) {
		for name, r := range refusals {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(r.needs); err != nil && r.needs != "" {
					t.Skip(err)
				}
				s := newStage(t)
				s.shell(`mkdir -p home/.tool/sub home/.config/tool; ln -s .tool home/linked`)
				box := *box
				box.Place = s.place
				said, _ := s.run(&box, r.role, r.script)
				out := filepath.Join(t.TempDir(), "out")
				if err := os.WriteFile(out, []byte(said), 0o600); err != nil {
					t.Fatal(err)
				}
				wall, err := box.Wall(sandbox.Process{Role: r.role, CLI: "claude", Dir: filepath.Join(s.place.Slots, "1"), Env: s.env()})
				if err != nil {
					t.Fatal(err)
				}
				if got := sandbox.Refused(wall, filepath.Join(s.folder, "home"), s.place.Root, out, out, out+"none"); !slices.Equal(got, r.want) {
					t.Errorf("got %q, want %q of:\n%s", got, r.want, said)
				}
			})
		}
	}
}

// If a process fills its own /tmp, relay says what helps, but names no setting that opens the user's /tmp, which has sockets. It says
// nothing where another disk is full, or the process has no /tmp of its own.
func TestFull(t *testing.T) {
	t.Parallel()
	const more = " (a TMPDIR in relay.env below a folder of sandbox_write holds more)"
	for kind, box := range boxes(t) {
		s := newStage(t)
		box := *box
		box.Place = s.place
		wall, err := box.Wall(sandbox.Process{Role: sandbox.Check, Dir: filepath.Join(s.place.Slots, "1"), Env: s.env()})
		if err != nil {
			t.Fatal(err)
		}
		if box.Allows([]string{"/tmp"}) != (kind == sandbox.Landlock) {
			t.Errorf("%s: the settings allow /tmp", kind)
		}
		if box.Write = []string{"/tmp"}; !box.Allows([]string{"/tmp"}) {
			t.Errorf("%s: the settings do not allow /tmp", kind)
		}
		for said, want := range map[string]string{
			"cat: write error: No space left on device":                                    "",
			"write /dev/shm/a/b: no space left on device\n/tmp/a: No space left on device": "the sandbox refuses /dev/shm for more than 1 GiB" + more + ", /tmp for more than 1 GiB" + more,
			"Error: ENOSPC: no space left on device, open '/srv/x'":                        "",
		} {
			out := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(out, []byte(said), 0o600); err != nil {
				t.Fatal(err)
			}
			if kind == sandbox.Landlock {
				want = ""
			}
			if got := sandbox.Words(sandbox.Refused(wall, "/home/x", s.place.Root, out), "", nil); got != want {
				t.Errorf("%s: %s: got %q, want %q", kind, said, got, want)
			}
		}
	}
}

// Settings open the folder of a tool or a socket. They open no keys, nothing that starts programs, and nothing of the system or of relay.
func TestSettings(t *testing.T) {
	t.Parallel()
	guarded := []string{
		"~", "~/.ssh", "~/.config/gh", "~/.config", "~/.local", "~/.local/share", "~/.local/bin", "~/.local/share/keyrings", "~/.bashrc",
		"~/.zshenv", "~/.profile", "~/.bash_profile", "~/.gitconfig", "~/.config/git", "~/.config/systemd", "~/bin", "~/.npmrc", "~/.netrc",
		"~/.claude", "~/.claude.json", "~/.codex", "~/.local/share/opencode", "~/.local/state/relay", "./a", ".", "/etc/cron.d", "/usr/lib",
		"/lib64/x", "/home/other", "/root/x", "/run/user", "/proc/1", sandbox.Unnamed, "all:EOF", "open", "none", `a.org,"*"`, "[::1]:80",
		"/tmp", "/var/tmp",
	}
	if got := sandbox.Settings(guarded); got != "" {
		t.Errorf("guarded: got %q", got)
	}
	got := sandbox.Words([]string{"~/.m2", "/run/docker.sock", "~/.ssh", "~/go/pkg", sandbox.Unnamed, "/var/data"}, "", nil)
	want := "the sandbox refuses ~/.m2, /run/docker.sock, ~/.ssh, ~/go/pkg, /var/data; " +
		"to allow that: relay: {sandbox_sockets: [/run/docker.sock], sandbox_write: [~/.m2, ~/go/pkg, /var/data]}"
	if got != want || sandbox.Words([]string{"~/.m2"}, "log: "+sandbox.Words([]string{"~/.m2"}, "", nil), nil) != "" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A trial allows the paths that it names. relay tries a path that no setting allows outside of the sandbox. If the sandbox is required, it
// tries neither such a path nor a socket.
func TestTrial(t *testing.T) {
	t.Parallel()
	for kind, box := range boxes(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.shell(`mkdir -p home/.tool home/.other`)
			box := *box
			box.Place = s.place
			for _, setting := range []string{sandbox.Auto, sandbox.Require} {
				box.Setting = setting
				wall := func(allow ...string) (*sandbox.Wall, error) {
					return box.Wall(sandbox.Process{Role: sandbox.Check, Dir: filepath.Join(s.place.Slots, "1"), Env: s.env(), Allow: allow})
				}
				home := filepath.Join(s.folder, "home")
				w, err := wall("~/.tool")
				opens := func(path string) bool {
					return slices.Contains(w.Rules, sandbox.Rule{Path: filepath.Join(home, path), Mode: sandbox.Writable})
				}
				if err != nil || !opens(".tool") || opens(".other") || !strings.Contains(strings.Join(w.Env, " "), "/trials/") {
					t.Errorf("%s: %v, %+v", setting, err, w)
				}
				for _, path := range []string{"~/.ssh", "~/.bashrc", "~/.missing", sandbox.Unnamed, "/run/docker.sock"} {
					w, err := wall("~/.tool", path)
					bare := path != "/run/docker.sock" && w == nil
					if untried := errors.Is(err, sandbox.ErrUntried); untried != (setting == sandbox.Require) || !untried && bare != (path != "/run/docker.sock") {
						t.Errorf("%s, %s: %v, %+v", setting, path, err, w)
					}
				}
			}
		})
	}
}
