package labtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

const keysPlan = "version: 2\nid: 20260101-keys\ntitle: Keep them\ntasks:\n  T1:\n    title: One\n    checks: [\"sh look.sh checks\"]\n"

// look notes whose environment has the user's key in it, and whether the guardian and relay let anybody into their memory.
const look = `
for p in /proc/[0-9]*; do
  tr '\0' '\n' < $p/environ 2>/dev/null | grep -q '^SOME_SERVICE_TOKEN=' && echo "$1: $(tr '\0' ' ' < $p/cmdline)" >> "$HOME/seen"
done
guardian=$(ps -eo pid,args | awk -v home="$HOME" 'index($0, home "/bin/relay __guardian") && !/awk/ {print $1}')
for p in $guardian $(ps -o ppid= -p $guardian); do
  for f in environ mem fd/0 maps; do (: < /proc/$p/$f) && echo "$1: /proc/$p/$f" >> "$HOME/seen"; done
  echo "$1: looked" >> "$HOME/looked"
done 2>/dev/null
true
`

// TestKeysStayWithRelay is a night of a user who is not root: neither an agent nor a check reads from relay, its guardian or
// git what keys the user has, nor do they get at their memory.
func TestKeysStayWithRelay(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, keysPlan, "sh look.sh agent; echo x > T1.txt; git add T1.txt; git commit -qm One; ok\n")
	l.write("look.sh", look)
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Look")
	path, err := exec.LookPath("relay")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l.write(l.inHome("bin/relay"), string(program))
	if err := os.Chmod(l.inHome("bin/relay"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := l.prepared([]string{"SOME_SERVICE_TOKEN=0123456789abcdef"}, "work")
	r.cmd.Path, r.cmd.Args[0] = l.inHome("bin/relay"), l.inHome("bin/relay")
	if os.Geteuid() == 0 { // root reads everything
		const nobody = 65534
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		give(t, filepath.Dir(filepath.Dir(l.root)), nobody)
		for _, entry := range l.env {
			if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
				give(t, dir, nobody)
			}
		}
	}
	l.begin(r)
	l.end(r)
	r.wants(t, terminal.OK)
	if got, want := l.read(l.inHome("looked")), "agent: looked\nagent: looked\nchecks: looked\nchecks: looked\n"; got != want && got != "checks: looked\nchecks: looked\n"+want {
		t.Errorf("got %q, want %q\n%s", got, want, r.stderr.String())
	}
	if got := l.read(l.inHome("seen")); got != "" {
		t.Errorf("seen:\n%s", got)
	}
}

// give makes a folder and all in it another user's, with programs that they may run.
func give(t *testing.T, dir string, user int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, user, user)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
