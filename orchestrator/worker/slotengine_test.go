package worker

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/schedule"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
)

// slotLab is a lab whose tasks work in worktrees; each task's agent is a script.
type slotLab struct {
	*lab
	l        *slotEngine
	life     *slotLifecycle
	last     engine.Result // of the last step
	together bool          // landings share one run of the checks
}

// newSlotLab makes one whose epic has these checks.
func newSlotLab(t *testing.T, checks ...string) *slotLab {
	t.Helper()
	l := newLab(t, "true")
	o := l.slotOptions()
	o.Epic = &epic.Epic{ID: "20260101-lab", Title: "lab", Checks: checksOf(checks)}
	return l.inSlots(o)
}

// slotOptions are those of the lab with tasks in worktrees, whose runners' names are scripts.
func (l *lab) slotOptions() *engine.LocalOptions {
	o := *l.c.run.o
	o.Isolation, o.Jobs, o.Worktree.Dir = engine.IsolationWorktree, 4, filepath.Join(o.Dir, "worktrees")
	o.NewRunner = func(script string, sup process.Supervisor) (runners.Runner, error) {
		return command.New(sup, command.Options{Name: "sh", Argv: []string{"sh", "-ec", script}, Exit: true}), nil
	}
	return &o
}

// inSlots opens the engine of tasks in worktrees.
func (l *lab) inSlots(o *engine.LocalOptions) *slotLab {
	l.Helper()
	y := l.slots(o)
	if err := y.life.Begin(l.Context()); err != nil {
		l.Fatal(err)
	}
	return y
}

// slots is inSlots before anything has begun.
func (l *lab) slots(o *engine.LocalOptions) *slotLab {
	l.Helper()
	engine, err := Open(l.Context(), o, make(chan engine.Event, 100))
	if err != nil {
		l.Fatal(err)
	}
	engine.SetLedger(noLedger{}, nil)
	return &slotLab{lab: l, l: engine.slots.s, life: engine.slots}
}

// again opens the engine anew, as another run does.
func (y *slotLab) again() *slotLab {
	o := *y.l.run.o
	return y.inSlots(&o)
}

func checksOf(commands []string) []epic.Check {
	var checks []epic.Check
	for _, run := range commands {
		checks = append(checks, epic.Check{Name: run, Run: run})
	}
	return checks
}

// does carries out an attempt whose agent is a script, from where the branch is now.
func (y *slotLab) does(id, script string, checks ...string) engine.Verified {
	y.Helper()
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: id, Title: "Task " + id, Checks: checksOf(checks)}, Number: 1, Runner: script}
	base, err := y.l.Prepare(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	a.Base = base
	f, err := y.l.Run(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	return engine.Verified{Attempt: a, Result: f}
}

// proved is does for an attempt that must succeed.
func (y *slotLab) proved(id, script string, checks ...string) engine.Verified {
	y.Helper()
	r := y.does(id, script, checks...)
	if r.Result.Outcome != attempts.Success {
		y.Fatalf("%s: %s (%s)", id, r.Result.Outcome, r.Result.Receipt.ErrorSummary)
	}
	return r
}

// step lands the first of what waits and says in words what came of each: "T1 success, T2 conflict".
func (y *slotLab) step(waiting ...engine.Verified) string {
	y.Helper()
	group := waiting[:1]
	if y.together {
		group = waiting
	}
	j, err := y.l.merger.Join(y.Context(), group)
	for err == nil && j.Red > 0 {
		if j.From != j.To || len(j.Results) > 0 {
			y.Errorf("%d are red together, and the step has %+v", j.Red, j)
		}
		j, err = y.l.merger.Join(y.Context(), group[:schedule.LandFewer(j.Red)])
	}
	if err != nil {
		y.Fatal(err)
	}
	if moved, err := y.l.merger.Advance(y.Context(), j); err != nil || !moved {
		y.Fatalf("moved: %v, %v", moved, err)
	}
	var said []string
	for i, f := range j.Results {
		said = append(said, waiting[i].Attempt.Task.ID+" "+string(f.Outcome))
		y.last = f
	}
	return strings.Join(said, ", ")
}

// holds wants these files on the integration branch, besides what was there.
func (y *slotLab) holds(want string) {
	y.Helper()
	got := y.Git("diff", "--name-only", "main", "relay/20260101-lab")
	if got = strings.ReplaceAll(got, "\n", " "); got != want {
		y.Errorf("the branch holds %q, want %q", got, want)
	}
}

// marked wants all trailers on every commit that has landed.
func (y *slotLab) marked() {
	y.Helper()
	for line := range strings.Lines(y.Git("log", "--format=%h %(trailers:key=Relay-Epic,valueonly,separator=%x2C) %(trailers:key=Relay-Task,valueonly,separator=%x2C) %(trailers:key=Relay-Attempt,valueonly,separator=%x2C)", "main..relay/20260101-lab")) {
		if got := strings.Fields(line); len(got) != 4 || !strings.HasPrefix(got[1], "20260101-lab") || !strings.HasPrefix(got[2], "T") || !strings.HasPrefix(got[3], "1") {
			y.Errorf("a commit has other trailers: %s", line)
		}
	}
}

// told wants a text in what the last attempt's receipt says of its last check.
func (y *slotLab) told(text string) {
	y.Helper()
	runs := y.last.Receipt.Checks
	if len(runs) == 0 {
		y.Fatal("the receipt has no check")
	}
	if last := runs[len(runs)-1]; last.ExitCode == 0 || last.Phase != attempts.PhaseMerged || !strings.Contains(last.Tail, text) {
		y.Errorf("the receipt ends with %+v, want %q in it", last, text)
	}
}

func TestLandingOneByOne(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	one, two, clash := y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two; git add two; git commit -qm two"), y.proved("T3", "echo 3 > one")
	for _, c := range []struct {
		waiting []engine.Verified
		want    string
	}{
		{[]engine.Verified{one, two, clash}, "T1 success"},
		{[]engine.Verified{two, clash}, "T2 success"},
		{[]engine.Verified{clash}, "T3 conflict"},
	} {
		if got := y.step(c.waiting...); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	y.holds("one two")
	if f := y.last; !strings.Contains(f.Receipt.ErrorSummary, "conflict with T1 in one") || f.Receipt.Salvage != "refs/relay/20260101-lab/T3/1" {
		t.Errorf("the conflict says %q, kept in %q", f.Receipt.ErrorSummary, f.Receipt.Salvage)
	}
	y.told("<<<<<<< relay/20260101-lab\n1\n=======\n3\n>>>>>>> this task\n")
	y.marked()
	if got := y.Git("show", "refs/relay/20260101-lab/T3/1:one"); got != "3" {
		t.Errorf("the work that did not land has %q", got)
	}
	y.Wants(map[string]string{"one": "-", "two": "-"})
}

// What adds nothing leaves no branch behind either, and what somebody else has landed already stays reachable.
func TestLandingOfNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []integration.Mode{integration.Merge, integration.Rebase} {
		y := newSlotLab(t)
		y.l.run.o.Landing, y.l.integration = mode, integration.NewBranch(y.l.run.home, y.l.run.o.Epic.ID, mode)
		y.l.headGuard.Branch, y.l.merger.Branch = y.l.integration, y.l.integration
		idle := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "Look", AllowNoChange: true}, Number: 1, Runner: "true", Base: y.l.headGuard.Tip()}
		f, err := y.l.Run(t.Context(), idle)
		if err != nil || f.Outcome != attempts.Success {
			t.Fatalf("%s: %s, %v", mode, f.Outcome, err)
		}
		one, same := y.proved("T2", "echo 1 > one"), y.proved("T3", "echo 1 > one")
		for _, r := range []engine.Verified{{Attempt: idle, Result: f}, one, same} {
			if got, want := y.step(r), r.Attempt.Task.ID+" success"; got != want {
				t.Errorf("%s: got %q, want %q", mode, got, want)
			}
		}
		y.holds("one")
		if got := y.Git("for-each-ref", "--format=%(refname)", "refs/heads/relay-tasks"); got != "" {
			t.Errorf("%s: branches are left: %s", mode, got)
		}
		if got := y.Git("for-each-ref", "--contains", same.Result.Head, "--format=%(refname)"); got == "" {
			t.Errorf("%s: no ref leads to what T3 did", mode)
		}
		if got := y.Git("for-each-ref", "--format=%(refname)", "refs/relay"); strings.Contains(got, "T1") {
			t.Errorf("%s: there is a ref for nothing: %s", mode, got)
		}
	}
}

// Each passes alone, and they merge: only on the merged tree the check fails.
func TestLandingChecksTheMergedTree(t *testing.T) {
	t.Parallel()
	const check = `test ! -e caller || test "$(cat caller)" = "$(cat seed.txt)" || { echo nobody is called "$(cat caller)"; exit 1; }`
	y := newSlotLab(t, check)
	y.Git("config", "trailer.separators", "=") // the user's habit, which relay's own trailers do not share
	rename, caller := y.proved("T1", "echo renamed > seed.txt"), y.proved("T2", "echo seed > caller")
	if got := y.step(rename); got != "T1 success" {
		t.Fatal(got)
	}
	if got := y.step(caller); got != "T2 conflict" {
		t.Fatal(got)
	}
	if got := y.last.Receipt.ErrorSummary; got != "it merges, but then "+check+": exit status 1: nobody is called seed (landed since it began: T1, in seed.txt)" {
		t.Error(got)
	}
	y.told("nobody is called seed")
	if got := y.last.Receipt.Contested; !slices.Equal(got, []string{"caller"}) {
		t.Errorf("contested is %q", got)
	}
	y.holds("seed.txt")
	again := y.proved("T2", "cp seed.txt caller")
	if got := y.step(again); got != "T2 success" {
		t.Fatal(got)
	}
	y.holds("caller seed.txt")
}

// A batch is proved once; when it is red, as many of its first as are green together land.
func TestLandingInBatches(t *testing.T) {
	t.Parallel()
	const check = `echo ran >> "$RELAY_DIR/../../epic"; test ! -e bad`
	y := newSlotLab(t, check)
	y.together = true
	var waiting []engine.Verified
	for _, id := range []string{"T1", "T2", "T3", "T4"} {
		waiting = append(waiting, y.proved(id, "echo x > "+id))
	}
	waiting[2] = y.proved("T3", `if [ -e T1 ]; then :; fi; echo x > T3; echo '[ ! -e T1 ] || exit 1' > part.sh`, "test ! -e part.sh || sh part.sh")
	y.ran("epic")
	if got := y.step(waiting...); got != "T1 success, T2 success" {
		t.Fatal(got)
	}
	if got := y.ran("epic"); got != 2 {
		t.Errorf("the epic's check ran %d times, want once for four that are red together, and once for two", got)
	}
	if got := y.Git("log", "--first-parent", "--format=%s", "main..relay/20260101-lab"); got != "Land T1, T2" {
		t.Errorf("the branch's own line is %q", got)
	}
	if got := y.step(waiting[2:]...); got != "T3 conflict" {
		t.Fatal(got)
	}
	y.ran("epic")
	if got := y.step(waiting[3]); got != "T4 success" {
		t.Fatal(got)
	}
	if got := y.ran("epic"); got != 1 {
		t.Errorf("the epic's check ran %d times for a landing by itself, want once", got)
	}
	y.holds("T1 T2 T4")
	y.marked()
}

// One in the middle of a batch does not go together with those before it: they land, and it is told why it does not.
func TestLandingInBatchesWithAClash(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "test -e seed.txt; sleep 0.001")
	y.together = true
	waiting := []engine.Verified{y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > one; echo 2 > two"), y.proved("T3", "echo 3 > three")}
	for _, want := range []string{"T1 success", "T2 conflict", "T3 success"} {
		if got := y.step(waiting...); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		waiting = waiting[1:]
	}
	y.holds("one three")
	if got := y.Git("show", "relay/20260101-lab:one"); got != "1" {
		t.Errorf("the branch has %q", got)
	}
}

// What fails on the base is told apart from what the task broke.
func TestAttribution(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		epic, task string
		script     string
		outcome    attempts.Outcome
		want       attempts.Attribution // of the last check
	}{
		"stays clean":               {task: "test -e seed.txt", script: "echo x > x", outcome: attempts.Success, want: attempts.StayedClean},
		"fixed":                     {task: "test -e x", script: "echo x > x", outcome: attempts.Success, want: attempts.FixedByTask},
		"broken":                    {task: "test -e seed.txt", script: "rm seed.txt", outcome: attempts.Check, want: attempts.BrokenByTask},
		"the epic's was red before": {epic: "echo no; false", script: "echo x > x", outcome: attempts.Success, want: attempts.BrokenBefore},
		"the epic's is broken now":  {epic: "test -e seed.txt", script: "rm seed.txt", outcome: attempts.Check, want: attempts.BrokenByTask},
		"not done":                  {task: "test -e x", script: "echo y > y", outcome: attempts.Check, want: attempts.BrokenBefore},
		"red in the same way":       {task: "echo 3 tests failed; false", script: "echo x > x", outcome: attempts.Check, want: attempts.BrokenBefore},
		"red in another way":        {task: "ls; false", script: "echo x > x", outcome: attempts.Check, want: attempts.BrokenBefore},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t, list(c.epic)...)
			f := y.does("T1", c.script, list(c.task)...).Result
			if f.Outcome != c.outcome {
				t.Errorf("got %s (%s), want %s", f.Outcome, f.Receipt.ErrorSummary, c.outcome)
			}
			if n := len(f.Receipt.Checks); n == 0 || f.Receipt.Checks[n-1].Attribution != c.want {
				t.Errorf("got %+v, want %s", f.Receipt.Checks, c.want)
			}
		})
	}
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// A check that must fail before the work is asked on the base first. When it passes there, it proves nothing of a change: the
// agent is only asked whether its task was done already, and the task is gated when it has changed something.
func TestRedThenGreenInSlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check   string
		outcome attempts.Outcome
		gate    attempts.Reason
	}{
		"red, then green": {"test -e x", attempts.Success, ""},
		"green before":    {"test -e seed.txt", attempts.Environment, attempts.Infrastructure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t)
			a := engine.Attempt{Run: y.l.run.o.Run, Number: 1, Runner: "echo x > x", Base: y.l.headGuard.Tip()}
			a.Task = epic.Task{ID: "T1", Title: "One", Checks: []epic.Check{{Name: "check", Run: c.check, Expect: epic.ExpectRedThenGreen}}}
			f, err := y.l.Run(t.Context(), a)
			if err != nil || f.Outcome != c.outcome || f.Gate != c.gate {
				t.Fatalf("got %s, gate %q (%s), %v", f.Outcome, f.Gate, f.Receipt.ErrorSummary, err)
			}
			if runs := f.Receipt.Checks; runs[0].Phase != attempts.PhaseBaseline || c.gate == "" && (runs[0].ExitCode == 0 || runs[1].ExitCode != 0) {
				t.Errorf("checks: %+v", runs)
			}
			if c.gate != "" && f.Landed != "" {
				t.Error("it landed")
			}
			if stay, err := y.life.Close(t.Context()); err != nil || len(stay) > 0 {
				t.Errorf("stays: %q, %v", stay, err)
			}
		})
	}
}

// Work that relay cannot mark as a task's is its agent's failure, and the next one works.
func TestSlotsSetAsideWhatCannotBeMarked(t *testing.T) {
	t.Parallel()
	const many = `h=$(git rev-parse HEAD); b=$(git symbolic-ref HEAD)
		{ i=0; while [ $i -le 2000 ]; do printf 'commit %s\ncommitter A <a@b> %d +0000\ndata 2\nx\n' $b $i; [ $i -gt 0 ] || echo "from $h"; [ $i -gt 0 ] || printf 'M 100644 inline c\ndata 2\nc\n'; i=$((i+1)); done; } | git fast-import --quiet --force
		git reset -q --hard`
	y := newSlotLab(t)
	f := y.does("T1", many).Result
	if f.Outcome != attempts.Agent || f.Receipt.ErrorSummary != "the work has more than 2000 commits; it is kept, but not landed" || f.Receipt.Salvage == "" {
		t.Errorf("got %s: %s, kept in %q", f.Outcome, f.Receipt.ErrorSummary, f.Receipt.Salvage)
	}
	if got := y.step(y.proved("T2", "echo 2 > two")); got != "T2 success" {
		t.Error(got)
	}
	y.holds("two")
}

// What an agent pushes is marked as its task's all the same.
func TestSlotsMarkWhatWasPushed(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	r := y.proved("T1", "echo 1 > one; git add one; git commit -qm one; git update-ref refs/remotes/x/y HEAD")
	if got := y.Git("log", "-1", "--format=%(trailers:key=Relay-Task,valueonly)", r.Result.Head); got != "T1" {
		t.Errorf("it is marked as that of %q", got)
	}
}
