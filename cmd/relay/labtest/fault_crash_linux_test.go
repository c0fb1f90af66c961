package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay/internal/terminal"
)

const crashPlan = `version: 2
id: 20260101-crash
title: Survive
tasks:
  T1: {title: One}
  T2: {title: Two}
`

// An agent that hangs as long as there is a file that says so, and leaves something half done. What it prints after that
// is the last sign of its life, when nobody is left to tell how it ended.
const hangingAgent = `
if [ -e "$HOME/hold" ]; then echo half > half.txt; git add half.txt; git commit -q -m "half of $RELAY_TASK"; echo more > more.txt; echo half done; hang; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`

// held is a lab whose relay is at work on an agent that hangs.
func held(t *testing.T, agent string) (*lab, *running) {
	t.Helper()
	l := newLab(t, crashPlan, agent)
	l.write(l.inHome("hold"), "")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	return l, r
}

// free lets the next agents do their work.
func (l *lab) free() {
	l.t.Helper()
	for _, name := range []string{"hold", "up"} {
		if err := os.Remove(l.inHome(name)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// resumes wants that the next run comes to a clean end, with the attempt that was cut off kept and not charged.
func (l *lab) resumes() {
	l.t.Helper()
	l.free()
	l.work(terminal.OK)
	l.interrupted(l.ledger().Attempts["T1"][0])
	l.commits("T1: One", "T2: Two")
	l.clean()
	l.quiet()
	l.accounted()
	l.remembered()
}

func (l *lab) interrupted(a ledgerAttempt) {
	l.t.Helper()
	if a.Result != "interrupted" || a.Outcome != "stopped" || a.Charged {
		l.t.Errorf("the attempt that was cut off is %+v, want it interrupted and uncharged", a)
	}
	if a.Receipt.Salvage == "" {
		l.t.Fatalf("nothing is kept of the attempt that was cut off: %+v", a)
	}
	for name, want := range map[string]string{"half.txt": "half", "more.txt": "more"} {
		if got := l.git("show", a.Receipt.Salvage+":"+name); got != want {
			l.t.Errorf("%s:%s is %q, want %q", a.Receipt.Salvage, name, got, want)
		}
	}
	patch := l.read(filepath.Join(".agents-os/relay/runs", a.Run, "T1", "1", "changes.patch"))
	if !strings.Contains(patch, "+half") || !strings.Contains(patch, "+more") {
		l.t.Errorf("changes.patch lacks the work:\n%s", patch)
	}
}

// A killed relay leaves no agent behind, and costs the task nothing, three times over.
func TestFaultKilledWhileAnAgentWorks(t *testing.T) {
	t.Parallel()
	l, r := held(t, hangingAgent)
	for i := range 3 {
		r.signal(t, syscall.SIGKILL)
		l.end(r)
		l.quiet()
		l.looks()
		if i < 2 {
			if err := os.Remove(l.inHome("up")); err != nil {
				t.Fatal(err)
			}
			r = l.start("work")
			l.awaitFile(l.inHome("up"))
		}
	}
	l.run("status").says(t, "was killed; relay work continues")
	l.resumes()
	for i, a := range l.ledger().Attempts["T1"] {
		if a.Charged || (i < 3) != (a.Result == "interrupted") {
			t.Errorf("attempt %d: %+v", a.ID, a)
		}
	}
}

// An agent that has ended when relay is killed is not run again: what it left is judged.
func TestFaultKilledAfterTheAgentEnded(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ ! -e "$HOME/go" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok "done by ${RELAY_ATTEMPT}"
`)
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	l.halt(r.cmd.Process.Pid) // relay stands still while its guardian sees the agent end
	l.write(l.inHome("go"), "")
	l.await("end.json", func() bool {
		found, err := filepath.Glob(l.path(".agents-os/relay/runs/*/T1/1/end.json"))
		return err == nil && len(found) == 1
	})
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	l.work(terminal.OK)
	if got := l.starts(); len(got) != 2 {
		t.Errorf("agents were started as %v, want one for each task", got)
	}
	if a := l.last("T1"); a.ID != 1 || a.Result != "success" || !strings.HasPrefix(a.Receipt.Summary, "done by ") {
		t.Errorf("T1 ended as %+v, want its first attempt adopted", a)
	}
	l.commits("T1: One", "T2: Two")
	l.clean()
}

// Attempts that had finished when relay was killed are proved side by side, while a new one begins: their checks wait until all
// three are under way.
func TestFaultKilledWithWorkToProve(t *testing.T) {
	needsMore(t)
	t.Parallel()
	const meet = `; for f in check.T1 check.T2 new; do until [ -e "$HOME/$f" ]; do sleep 0.01; done; done`
	l := newLab(t, "version: 2\nid: 20260101-crash\ntitle: Survive\ntasks:\n  T1: {title: One, checks: ['touch $HOME/check.T1"+meet+"']}\n  T2: {title: Two, checks: ['touch $HOME/check.T2"+meet+"']}\n  T3: {title: Three}\n", `
if [ "$RELAY_TASK" = T3 ]; then touch "$HOME/new"; else touch "$HOME/up.$RELAY_TASK"; while [ ! -e "$HOME/go" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok "done by ${RELAY_ATTEMPT}"
`)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	for _, f := range []string{"check.T1", "check.T2", "new"} {
		l.write(l.inHome(f), "") // for the base
	}
	r := l.start("work", "--jobs", "2")
	l.awaitFile(l.inHome("up.T1"))
	l.awaitFile(l.inHome("up.T2"))
	l.halt(r.cmd.Process.Pid)
	for _, f := range []string{"check.T1", "check.T2", "new"} {
		if err := os.Remove(l.inHome(f)); err != nil {
			t.Fatal(err)
		}
	}
	l.write(l.inHome("go"), "")
	l.await("both end.json", func() bool {
		found, err := filepath.Glob(l.path(".agents-os/relay/runs/*/T[12]/1/end.json"))
		return err == nil && len(found) == 2
	})
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	if r = l.run("work", "--jobs", "3"); r.code() != terminal.OK {
		t.Errorf("exit code %d\n%s%s", r.code(), r.stdout.String(), r.stderr.String())
	}
	if got := l.starts(); len(got) != 3 {
		t.Errorf("agents were started as %v, want one for each task", got)
	}
	l.quiet()
}

// The guardian may be killed as well: its processes are ended, the attempt is not charged, and the night goes on.
func TestFaultGuardianKilled(t *testing.T) {
	t.Parallel()
	l, r := held(t, hangingAgent)
	for range 2 {
		guardians := l.guardians()
		if len(guardians) != 1 {
			t.Fatalf("guardians are %v, want one", guardians)
		}
		victims := l.agents()
		if err := os.Remove(l.inHome("up")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(guardians[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		l.awaitFile(l.inHome("up")) // the next attempt
		for _, pid := range l.agents() {
			for _, victim := range victims {
				if pid == victim {
					t.Errorf("process %d of the lost guardian lives on", pid)
				}
			}
		}
	}
	l.free()
	for _, pid := range l.agents() { // the third attempt fails by itself
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	l.end(r)
	r.wants(t, terminal.OK)
	l.quiet()
	list := l.ledger().Attempts["T1"]
	for i, a := range list[:2] {
		if a.Charged || a.Outcome != "environment" || a.Receipt.Salvage == "" || a.Receipt.ErrorSummary == "" {
			t.Errorf("attempt %d: %+v, want outcome environment, uncharged, its work kept", i+1, a)
		}
	}
	l.commits("T2: Two", "T1: One") // T1 has failed: T2 was tried first
	l.clean()
}

// Relay and guardian killed in one stroke: the next run ends what they left.
func TestFaultBothKilled(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, hangingAgent)
	l.halt(r.cmd.Process.Pid)
	var victims []int
	l.await("the guardian", func() bool { victims = l.guardians(); return len(victims) > 0 })
	for _, pid := range victims {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	if len(l.agents()) == 0 {
		t.Fatal("nothing is left for the next run to end")
	}
	l.free()
	second := l.work(terminal.OK)
	second.says(t, "an earlier run had left")
	l.interrupted(l.ledger().Attempts["T1"][0])
	l.quiet()
	l.commits("T1: One", "T2: Two")
	l.clean()
}

// What a person commits after a crash is theirs: relay never resets it away.
func TestFaultOwnCommitAfterACrash(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
if [ -e "$HOME/hold" ]; then echo half > half.txt; git add -A; hang; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	odd := "odd \xff name"
	l.write(odd, "not committed\n")
	l.write(l.inHome("hold"), "")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	l.git("reset", "-q")
	l.write("mine.txt", "mine\n")
	l.git("add", "mine.txt")
	cmd := l.prepared([]string{"GIT_COMMITTER_DATE=2099-01-01T00:00:00Z"}) // certainly later than what the agent did
	l.env = cmd.cmd.Env
	l.git("commit", "-q", "-m", "My own")
	l.free()
	l.work(terminal.OK)
	l.commits("My own", "T1: One", "T2: Two")
	if got := l.git("show", "main:mine.txt"); got != "mine" {
		t.Errorf("mine.txt is %q", got)
	}
	a := l.ledger().Attempts["T1"][0]
	if a.Charged || a.Receipt.Salvage == "" || l.git("show", a.Receipt.Salvage+":half.txt") != "half" {
		t.Errorf("the work of the attempt that was cut off is not kept: %+v", a)
	}
	if got := l.read(odd); got != "not committed\n" {
		t.Errorf("an untracked file of the user's is %q", got)
	}
	if got := l.git("ls-files", "-o", "-z", "--exclude-standard"); got != odd+"\x00" {
		t.Errorf("untracked files are %q", got)
	}
}

// What relay had committed of an attempt before it was killed does not stay on the branch when the attempt then fails.
func TestFaultKilledWhileACheckRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t, `version: 2
id: 20260101-crash
title: Survive
tasks:
  T1: {title: One, max_attempts: 1, checks: ["test -e T1.txt && { touch $HOME/up; while [ -e $HOME/hold ]; do sleep 0.01; done; }; false"]}
  T2: {title: Two}
`, `echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
	l.write(l.inHome("hold"), "")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	l.commits("T1: One")
	ago := time.Now().Add(-time.Minute) // as if the check had run for long
	files, err := filepath.Glob(l.path(".agents-os/relay/runs/*/T1/1/*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if err := os.Chtimes(name, ago, ago); err != nil {
			t.Fatal(err)
		}
	}
	l.free()
	l.work(terminal.Gated)
	l.commits("T2: Two")
	if a := l.last("T1"); a.ID != 1 || a.Outcome != "check" || !a.Charged || a.Receipt.Salvage == "" {
		t.Errorf("T1 ended as %+v, want its check to have failed", a)
	}
	l.clean()
}

// What git cannot collect costs its task a few tries and then gates it, and nobody else: the run goes on, and what was left stays.
func TestFaultWhatGitCannotCollect(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, "version: 2\nid: 20260101-lab\ntitle: lab\ntasks:\n  T1: {title: One}\n  T2: {title: Two}\n", `
if [ "$RELAY_TASK" = T1 ]; then
	echo hours > work.bin; at=$(git hash-object work.bin)
	echo > "$(git rev-parse --git-common-dir)/objects/${at%%${at#??}}"
fi
echo x > "$RELAY_TASK"; ok`)
	l.landing(1)
	r := l.work(terminal.Gated)
	left := l.slots()
	if len(left) == 0 {
		t.Fatal("no worktree stays")
	}
	for _, want := range []string{
		"T1 gated: not the agent's failure: 3 attempts failed through no fault of the agent; the last: the checkout or the commits of this attempt were damaged: git ",
		"note: T1 what the agent left of T1 stays in " + left[0] + ": git status there says more",
	} {
		if !strings.Contains(r.stderr.String(), want) {
			t.Errorf("it says\n%s%s\nwant %q", &r.stdout, &r.stderr, want)
		}
	}
	l.git("show", landingBranch+":T2")
	l.run("ungate", "T1")
	l.agent(`echo x > "$RELAY_TASK"; ok`)
	l.work(terminal.OK)
	if got := l.read(left[0] + "/work.bin"); got != "hours\n" {
		t.Errorf("what was left has %q", got)
	}
}
