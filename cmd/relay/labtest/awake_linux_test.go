package labtest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// sleepless puts a systemd-inhibit on the PATH of a lab.
func sleepless(t *testing.T, l *lab, script string) {
	t.Helper()
	name := l.inHome("bin/systemd-inhibit")
	l.write(name, "#!/bin/sh\n"+script)
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "RELAY_INHIBIT_SLEEP=true", "PATH="+l.inHome("bin")+":"+os.Getenv("PATH"))
}

const awakeEpic = "version: 2\nid: 20260101-awake\ntitle: Awake\ntasks:\n  T1: {title: One}\n"

// onceAsked is an agent that works until somebody was asked to keep the machine awake.
const onceAsked = `until [ -e "$HOME/asked" ]; do sleep 0.01; done; echo x > x.txt; ok`

// holds notes what it is asked, and keeps the machine awake for as long as what it is given runs.
const holds = `echo "$*" >> "$HOME/asked"; shift 4; exec "$@"`

// keptAwake reports whether what keeps the machine awake runs. No agent may be reading its brief meanwhile.
func (l *lab) keptAwake() bool {
	l.t.Helper()
	return len(l.alive(func(_ int, environ, args string) bool {
		return args == "cat\x00" && strings.Contains(environ, "\x00HOME="+l.home+"\x00")
	})) > 0
}

// The machine is kept awake for as long as relay works, and no longer, however relay ends.
func TestStaysAwake(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"ended": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, awakeEpic, `
until [ -e "$HOME/asked" ]; do sleep 0.01; done; touch "$HOME/up"
until [ -e "$HOME/go" ]; do sleep 0.01; done; echo x > x.txt; ok`)
			sleepless(t, l, holds)
			r := l.start("work")
			l.awaitFile(l.inHome("up"))
			l.await("the machine to be kept awake", l.keptAwake)
			if killed {
				r.signal(t, syscall.SIGKILL)
			} else {
				l.write(l.inHome("go"), "")
				l.end(r)
				r.wants(t, terminal.OK)
			}
			l.await("the machine to be let go", func() bool { return !l.keptAwake() })
			if got, want := l.read(l.inHome("asked")), "--what=idle:sleep --who=relay --why="+"relay work: 20260101-awake"+" --mode=block cat\n"; got != want {
				t.Errorf("it was asked %q, want %q", got, want)
			}
		})
	}
}

// Whatever becomes of the wish to stay awake, the night goes on, and relay check tells.
func TestStaysAwakeOrNot(t *testing.T) {
	needsMore(t)
	t.Parallel()
	const (
		warned = "warn  sleep          nothing keeps the machine awake while relay works: systemd-inhibit"
		hint   = "\n                     keep it awake yourself, or set relay.inhibit_sleep: false if it never sleeps"
	)
	for name, c := range map[string]struct{ script, says string }{
		"granted": {holds, "ok    sleep          the machine stays awake while relay works (systemd-inhibit)"},
		"refused": {`touch "$HOME/asked"; echo Access denied >&2; exit 1`, warned + ": Access denied" + hint},
		"silent":  {`touch "$HOME/asked"; exec sleep 600`, warned + " did not answer" + hint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, awakeEpic, onceAsked)
			sleepless(t, l, c.script)
			if said := l.run("check").stdout.String(); !strings.Contains(said, c.says+"\n") {
				t.Errorf("relay check says\n%s\nwant %s", said, c.says)
			}
			if err := os.Remove(l.inHome("asked")); err != nil {
				t.Fatal(err)
			}
			l.work(terminal.OK)
			l.quiet()
		})
	}
}

// Nobody is asked when that is not wanted, also when relay works for so long that it would have asked.
func TestNotKeptAwake(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, awakeEpic, `touch "$HOME/up"; until [ -e "$HOME/go" ]; do sleep 0.01; done; echo x > x.txt; ok`)
	sleepless(t, l, holds)
	l.env = append(l.env, "RELAY_INHIBIT_SLEEP=false")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	later := newLab(t, awakeEpic, onceAsked)
	sleepless(t, later, holds)
	later.work(terminal.OK)
	l.write(l.inHome("go"), "")
	l.end(r)
	r.wants(t, terminal.OK)
	if said := l.run("check").stdout.String(); strings.Contains(said, "sleep") || git.Exists(l.inHome("asked")) {
		t.Error(fmt.Sprint("it was asked although nobody wants it: ", said))
	}
}
