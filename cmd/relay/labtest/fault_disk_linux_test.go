package labtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
)

// mounting is what mount(2) takes besides the folder.
type mounting struct {
	source, kind string
	flags        uintptr
	data         string
}

// mount puts a small file system of its own at a folder until the test ends.
func mount(t *testing.T, dir string, how mounting) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(how.source, dir, how.kind, how.flags, how.data); err != nil {
		t.Skipf("only who may mount can fill a disk for a test: mount %s: %v", dir, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// An agent that fills the disk that a folder is on, once.
const fillingAgent = `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
if [ "$RELAY_TASK" = T1 ] && [ ! -e "$HOME/filled" ]; then touch "$HOME/filled"; ok; cat /dev/zero > "$FILL" 2>/dev/null; exit 0; fi
ok
`

// A full disk ends the run with the path of what cannot be written. With room again the next run comes to the end.
func TestFaultDiskOfTheLedgerFull(t *testing.T) {
	t.Parallel()
	l := newLab(t, crashPlan, fillingAgent)
	dir := l.path(".agents-os/relay")
	plan := l.read(".agents-os/relay/epic.yml")
	mount(t, dir, mounting{source: "tmpfs", kind: "tmpfs", data: "size=8m"})
	l.write(".agents-os/relay/epic.yml", plan)
	l.write(".agents-os/relay/.gitignore", "*\n")
	fill := filepath.Join(dir, "fill")
	l.env = append(l.env, "FILL="+fill, "RELAY_ENV=FILL")
	r := l.work(terminal.Failure)
	r.says(t, "no space left on device")
	r.says(t, ".agents-os/relay")
	r.says(t, "relay: hint: make room")
	l.quiet()
	l.ledger()
	l.looks()
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	l.work(terminal.OK)
	for id, list := range l.ledger().Attempts {
		for _, a := range list {
			if a.Charged {
				t.Errorf("%s paid for a full disk: %+v", id, a)
			}
		}
	}
	l.commits("T1: One", "T2: Two")
	l.clean()
}

// The same for the disk the repository is on.
func TestFaultDiskOfTheRepositoryFull(t *testing.T) {
	needsMore(t)
	t.Parallel()
	root := filepath.Join(t.TempDir(), "work")
	mount(t, root, mounting{source: "tmpfs", kind: "tmpfs", data: "size=8m"})
	l := newLabAt(t, root, crashPlan, fillingAgent)
	l.env = append(l.env, "FILL="+l.path("fill.bin"), "RELAY_ENV=FILL")
	r := l.work(terminal.Failure)
	// Git puts it in two ways, and relay in a third.
	if said := r.stderr.String(); !strings.Contains(said, "o space left on device") && !strings.Contains(said, "Out of diskspace") || !strings.Contains(said, root) {
		t.Errorf("relay does not say what is wrong, and where: %s", said)
	}
	l.quiet()
	l.ledger()
	l.looks()
	if err := os.Remove(l.path("fill.bin")); err != nil {
		t.Fatal(err)
	}
	l.work(terminal.OK)
	if got := l.git("log", "--format=%s", "main"); got != "T2: Two\nT1: One\nBegin" {
		t.Errorf("commits are\n%s", got)
	}
	l.clean()
}

// A program that fills the disk of the worktrees is stopped, an agent, one that has ended, and a check alike. What it wrote makes room
// again, others pay nothing, and the run comes to its end.
func TestFaultDiskFilled(t *testing.T) {
	t.Parallel()
	const fill = `cat /dev/urandom > fill 2>/dev/null`
	const endless = fill + `; while :; do cat /dev/urandom >> fill; sleep .05; done 2>/dev/null`
	for by, test := range map[string]struct{ agent, check, want string }{
		"agent":           {agent: endless, want: "the agent filled the disk: relay removed fill ("},
		"ended agent":     {agent: fill, want: "the agent filled the disk: relay removed fill ("},
		"no room for git": {agent: "head -c 40m /dev/urandom > fill", want: "the agent filled the disk: relay removed fill ("},
		"zeros":           {agent: strings.ReplaceAll(endless, "urandom", "zero"), want: "filled the disk: "},
		"small files": {
			agent: `i=0; while mkdir d$i && head -c 60000 /dev/urandom > d$i/f; do i=$((i+1)); done 2>/dev/null`,
			want:  "the agent filled the disk: relay removed d",
		},
		"check": {check: endless, want: `filled the disk: what it wrote took `},
	} {
		t.Run(by, func(t *testing.T) {
			onlyFirst(t, by, "agent", "ended agent", "no room for git", "zeros", "small files", "check")
			t.Parallel()
			var plan strings.Builder
			plan.WriteString("version: 2\nid: 20260101-disk\ntitle: Fill\ntasks:\n  T1: {title: Fill, max_attempts: 1, checks: ['" + cmp.Or(test.check, "true") + "']}\n")
			for i := 2; i < 12; i++ {
				fmt.Fprintf(&plan, "  T%d: {title: Other, checks: [test -s T%d.txt]}\n", i, i)
			}
			l := newLab(t, plan.String(), "echo x > $RELAY_TASK.txt\n[ $RELAY_TASK != T1 ] || { "+cmp.Or(test.agent, ":")+"; }\nok")
			trees := l.inHome("trees")
			mount(t, trees, mounting{source: "tmpfs", kind: "tmpfs", data: "size=64m"})
			l.env = append(l.env, "RELAY_ISOLATION=worktree", "RELAY_WORKTREE_DIR="+trees, "RELAY_JOBS=2", "RELAY_DISK_FLOOR_MIB=16")
			l.work(terminal.Gated)
			f := l.ledger()
			if last := f.Attempts["T1"][len(f.Attempts["T1"])-1]; !strings.Contains(last.Receipt.ErrorSummary, test.want) {
				t.Errorf("the attempt at T1 is %+v", last.Receipt)
			}
			for id, list := range f.Attempts {
				for _, a := range list {
					if id != "T1" && (a.Charged && a.Result != string(attempts.ResultSuccess) || f.TaskStatus[id] != "completed") {
						t.Errorf("%s is %s: %+v", id, f.TaskStatus[id], a)
					}
				}
			}
			l.quiet()
		})
	}
}

// A folder that cannot be written to is refused before the first agent starts, whoever asks: root may do what
// permissions forbid, but not write to a disk that is mounted for reading.
func TestFaultReadOnlyFolder(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"fresh": false, "known": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, crashPlan, `if [ "$RELAY_TASK" = T1 ]; then bad nothing; else echo 2 > T2.txt; ok; fi`)
			if first {
				l.run("work", "--max-attempts", "1").wants(t, terminal.Gated)
			}
			before := len(l.starts())
			dir := l.path(".agents-os/relay")
			mount(t, dir, mounting{source: dir, flags: syscall.MS_BIND})
			if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"work"}, {"ungate", "T1"}, {"gate", "T2"}} {
				if !first && args[0] == "ungate" {
					continue
				}
				r := l.run(args...)
				r.wants(t, terminal.Failure)
				r.says(t, "read-only file system")
				r.says(t, "relay: hint: ")
			}
			l.looks()
			l.run("show", "T1").wants(t, terminal.OK)
			if after := len(l.starts()); after != before {
				t.Errorf("%d agents were started", after-before)
			}
			l.quiet()
		})
	}
}

// So is a .git that cannot be written to, as in the sandbox of an agent's CLI; relay check has said so.
func TestFaultReadOnlyGit(t *testing.T) {
	t.Parallel()
	l := newLab(t, crashPlan, `ok`)
	dir := l.path(".git")
	mount(t, dir, mounting{source: dir, flags: syscall.MS_BIND})
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check"}, {"work"}} {
		r := l.run(args...)
		r.wants(t, terminal.Failure)
		r.says(t, "read-only file system")
		r.says(t, "run it outside the sandbox of an agent's CLI")
	}
	if len(l.starts()) > 0 {
		t.Error("an agent was started")
	}
}

// The worktrees may be on another disk.
func TestCheckSeesEachDisk(t *testing.T) {
	t.Parallel()
	l := newLab(t, crashPlan, `ok`)
	trees := l.inHome("trees")
	mount(t, trees, mounting{source: "tmpfs", kind: "tmpfs", data: "size=64k"})
	l.env = append(l.env, "RELAY_ISOLATION=worktree", "RELAY_WORKTREE_DIR="+trees)
	r := l.run("check")
	r.wants(t, terminal.Failure)
	r.says(t, "fail  worktrees      there is no room for 3 checkouts of less than 1 MiB")
	r.says(t, "make room, choose another disk with relay.worktree.dir, or lower relay.jobs")
}

// Nobody needs to read what relay prints: the night goes on, and the exit code is that of the run.
func TestFaultOutputFails(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdout", "stderr", "both"} {
		t.Run(name, func(t *testing.T) {
			onlyFirst(t, name, "both", "stderr", "stdout")
			t.Parallel()
			l := newLab(t, matrixPlan, matrixAgent)
			nowhere, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer nowhere.Close()
			r := l.prepared(nil, "work")
			if name != "stderr" {
				r.cmd.Stdout = nowhere
			}
			if name != "stdout" {
				r.cmd.Stderr = nowhere
			}
			l.end(l.begin(r))
			r.wants(t, terminal.Gated)
			if f := l.ledger(); f.Status.Code != terminal.Gated || f.TaskStatus["T2"] != "completed" {
				t.Errorf("the ledger says %+v", f)
			}
			l.quiet()
		})
	}
}

// The same for a reader that goes away, as head does.
func TestFaultReaderGoesAway(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, matrixPlan, matrixAgent)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	r := l.prepared(nil, "work")
	r.cmd.Stdout, r.cmd.Stderr = writer, writer
	l.begin(r)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	l.end(r)
	r.wants(t, terminal.Gated)
	if got := l.ledger().TaskStatus["T2"]; got != "completed" {
		t.Errorf("T2 is %s", got)
	}
	l.quiet()
}
