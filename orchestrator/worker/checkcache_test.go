package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/runners/runnertest"
)

// try carries out an attempt at a task from where the branch is now.
func (y *slotLab) try(task epic.Task, script string) engine.Verified {
	y.Helper()
	task.Title = "Task " + task.ID
	a := engine.Attempt{Run: y.l.run.o.Run, Task: task, Number: 1, Runner: script}
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

// ran is how often a check has written a line into a file of the lab, and forgets it.
func (y *slotLab) ran(name string) int {
	y.Helper()
	text, err := os.ReadFile(filepath.Join(y.Root, name))
	if err != nil {
		return 0
	}
	if err := os.Remove(filepath.Join(y.Root, name)); err != nil {
		y.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// redThenGreen are checks of which each must fail before the work.
func redThenGreen(commands ...string) []epic.Check {
	checks := checksOf(commands)
	for i := range checks {
		checks[i].Expect = epic.ExpectRedThenGreen
	}
	return checks
}

// A check is told which task it is about: what it said of one task's work is not said of another's, on the same files.
func TestVerdictsAreOfOneTask(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	const check = `test -e "own-$RELAY_TASK"`
	one, two := y.proved("T1", "echo x > own-T1", check), y.does("T2", "echo x > own-T1", check)
	if f := two.Result; f.Outcome != attempts.Check {
		t.Errorf("the same files: T2 is %s, want its own check to have failed", f.Outcome)
	}
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	if f := y.try(epic.Task{ID: "T3", AllowNoChange: true, Checks: checksOf([]string{check})}, "true").Result; f.Outcome != attempts.Check {
		t.Errorf("no change: T3 is %s, want its own check to have failed", f.Outcome)
	}
	if f := y.try(epic.Task{ID: "T4", Checks: redThenGreen(check)}, "echo x > own-T4").Result; f.Outcome != attempts.Success {
		t.Errorf("red before: T4 is %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
	}
}

// The epic's checks are about no task, and neither is what is set up for them.
func TestChecksOfTheEpicNameNoTask(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, `test -z "$RELAY_TASK" && test "$(cat who.log)" = for-`)
	y.l.run.o.Worktree.Setup, y.l.run.o.Worktree.SetupWall = []string{`echo "for-$RELAY_TASK" > who.log`}, time.Minute
	f := y.proved("T1", `echo x > x; test "$(cat who.log)" = for-T1`, `test "$RELAY_TASK$(cat who.log)" = T1for-T1`).Result
	for _, run := range f.Receipt.Checks {
		if run.ExitCode != 0 || run.Attribution != attempts.StayedClean {
			t.Errorf("%s: exit code %d, %s", run.Name, run.ExitCode, run.Attribution)
		}
	}
}

// What passed is not asked again of the same files. What failed is, for it may have been mended by waiting.
func TestVerdictsAreRemembered(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, `echo ran >> "$RELAY_DIR/../../epic"`)
	const check = `echo ran >> "$RELAY_DIR/../../own"; test -e "$RELAY_DIR/../../up" || { echo server is away; exit 1; }`
	if f := y.does("T1", "echo x > x", check).Result; f.Outcome != attempts.Check {
		t.Fatalf("got %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
	}
	if own, all := y.ran("own"), y.ran("epic"); own != 3 || all != 1 {
		t.Errorf("the task's check ran %d times, the epic's %d times; want 3 and 1", own, all)
	}
	y.Write("up", "")
	again := y.proved("T1", "echo x > x", check)
	if own, all := y.ran("own"), y.ran("epic"); own != 1 || all != 1 {
		t.Errorf("then the task's check ran %d times, the epic's %d times; want 1 and 1: all but the work is known", own, all)
	}
	y.proved("T1", "echo x > x", check)
	if own, all := y.ran("own"), y.ran("epic"); own+all != 0 {
		t.Errorf("with everything known the checks ran %d and %d times", own, all)
	}
	if got := y.step(again); got != "T1 success" {
		t.Fatal(got)
	}
	y.proved("T2", "echo y > y", check)
	if own, all := y.ran("own"), y.ran("epic"); own != 1 || all != 1 {
		t.Errorf("for the next task they ran %d and %d times, want 1 and 1: its base is known", own, all)
	}
}

// A check that passed within ten minutes has not passed within one second.
func TestVerdictsKnowTheLimit(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	limited := func(wall time.Duration) epic.Task {
		return epic.Task{ID: "T1", AllowNoChange: true, Checks: []epic.Check{{Name: "ends", Run: `test -e "$RELAY_DIR/../../quick" || sleep 60`, Timeout: wall}}}
	}
	y.Write("quick", "")
	if f := y.try(limited(time.Minute), "true").Result; f.Outcome != attempts.Success {
		t.Fatalf("got %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
	}
	if err := os.Remove(y.Path("quick")); err != nil {
		t.Fatal(err)
	}
	if f := y.try(limited(50*time.Millisecond), "true").Result; f.Receipt.ErrorSummary != "ends took longer than 50ms" {
		t.Errorf("got %s (%s)", f.Outcome, f.Receipt.ErrorSummary)
	}
}

// The checks of a list are run one after another in one place, whatever is known of some of them.
func TestChecksOfAListBuildOnEachOther(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.proved("T1", "echo 1 > one", "echo ok > built", "cat built && test -e seed.txt")
	two := y.does("T2", "echo 2 > two", "echo ok > built", "cat built && test ! -e two").Result
	if two.Outcome != attempts.Check || two.Receipt.Checks[1].Attribution != attempts.BrokenByTask {
		t.Errorf("T2 is %s: %+v", two.Outcome, two.Receipt.Checks)
	}
	three := y.try(epic.Task{ID: "T3", Checks: append(checksOf([]string{"echo ok > built"}), redThenGreen("cat built && test -e seed.txt && true")...)}, "echo 3 > three").Result
	if three.Gate != attempts.Infrastructure {
		t.Errorf("T3 is %s, gate %q: its check passes before the work", three.Outcome, three.Gate)
	}
}

// A check of the epic that fails on the base is no excuse unless it does so twice.
func TestFlakeOnTheBaseIsNoExcuse(t *testing.T) {
	t.Parallel()
	const flaky = `echo ran >> "$RELAY_DIR/../../epic"; test "$(wc -l < "$RELAY_DIR/../../epic")" != 1 || { echo port in use; exit 1; }; test -e seed.txt || { echo no seed; exit 1; }`
	y := newSlotLab(t, flaky)
	f := y.does("T1", "rm seed.txt").Result
	if f.Outcome != attempts.Check || f.Receipt.Checks[0].Attribution != attempts.BrokenByTask {
		t.Errorf("got %s (%s): %+v", f.Outcome, f.Receipt.ErrorSummary, f.Receipt.Checks)
	}
	if got := y.ran("epic"); got != 5 {
		t.Errorf("the check ran %d times, want 5: on the base and the work, twice each, and on the base again for the second failure", got)
	}
	y.Write("epic", "ran\n")
	y.proved("T2", "echo x > x")
	if got := y.ran("epic") - 1; got != 2 {
		t.Errorf("for the next task the check ran %d times, want 2: what it said of the base does not count any more", got)
	}
}

// A check that fails is repeated where its first run has left nothing, behind the checks before it.
func TestRepeatedInACleanCheckout(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", "echo x > x", "test -e built || { touch built; exit 1; }").Result
	if f.Outcome != attempts.Check {
		t.Errorf("got %s: it passes only by what its first run left", f.Outcome)
	}
	if f := y.does("T3", "echo x > x", "touch left", "test ! -e left").Result; f.Outcome != attempts.Check {
		t.Errorf("got %s: it fails behind the check before it", f.Outcome)
	}
	const once = `test -e built || { echo not built; exit 1; }; test ! -e x -o -e "$RELAY_DIR/../../once" || { touch "$RELAY_DIR/../../once"; echo port in use; exit 1; }`
	flaky := y.proved("T2", "echo x > x", "touch built", once, "test -e built")
	if len(flaky.Result.Notes) == 0 || flaky.Result.Notes[0].Kind != "flaky" {
		t.Errorf("no note says that the check is flaky: %+v", flaky.Result.Notes)
	}
}

// A check that is flaky twice on work of one task needs a look.
func TestFlakyAgain(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	const check = `test -e x || exit 1; echo ran >> "$RELAY_DIR/../../runs"; case $(wc -l < "$RELAY_DIR/../../runs") in 1 | 5 | 9) echo port in use; exit 1 ;; esac`
	for n, c := range []struct {
		task  string
		flaky bool
		looks int
	}{{"T1", true, 0}, {"T1", true, 1}, {"T2", true, 0}, {"T1", false, 1}} {
		f := y.does(c.task, fmt.Sprintf("echo %d > x", n), check).Result
		if f.Outcome != attempts.Success || slices.ContainsFunc(f.Notes, func(n attempts.Note) bool { return n.Kind == "flaky" }) != c.flaky || len(f.Receipt.Looks) != c.looks {
			t.Errorf("work %d, on %s: got %s, notes %v, looks %v; want %d looks", n, c.task, f.Outcome, f.Notes, f.Receipt.Looks, c.looks)
		}
	}
}

// A failure on the tip excuses nobody either: the base is the tip that the work lands on.
func TestFlakeOnTheTipIsNoExcuse(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, `test ! -e one || test ! -e two || { echo both; exit 1; }; test ! -e "$RELAY_DIR/../../flake" || { rm "$RELAY_DIR/../../flake"; echo port in use; exit 1; }`)
	one, two := y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two")
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	y.l.benches.Results = checks.NewCache() // as in another run
	y.Write("flake", "")
	if got := y.step(two); got != "T2 conflict" {
		t.Errorf("got %s: the branch fails now", got)
	}
}

// A check of the epic that fails on the tip in another way is no excuse.
func TestWorseOnTheMergedTree(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, `echo "--- FAIL: TestA"; ! test -e one || ! test -e two || echo "--- FAIL: TestB"; false`)
	one, two := y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two")
	if got := y.step(one) + ", " + y.step(two); got != "T1 success, T2 conflict" {
		t.Fatal(got)
	}
}

// A check of the epic that fails on the base is noted with how it fails. While it takes too long there, relay asks no agent.
func TestBrokenBefore(t *testing.T) {
	t.Parallel()
	const held = " before the work: raise its timeout or relay.check_timeout_minutes"
	for name, c := range map[string]struct {
		check, script string
		outcome       attempts.Outcome
		note, why     string
		runs          int
		wall          time.Duration
	}{
		"in the same way":                  {"echo 2 tests fail; false", "echo x > x", attempts.Success, "check fails on the base of T1 too; it is not charged to the task", "", 3, time.Minute},
		"in another way":                   {"ls; false", "echo x > x", attempts.Success, "check fails on the base of T1 too, but in another way: it may be worse than before; it is not charged to the task", "", 3, time.Minute},
		"with another test":                {`echo "--- FAIL: TestA"; test ! -e x || echo "--- FAIL: TestB"; false`, "echo x > x", attempts.Check, "", "check: exit status 1: --- FAIL: TestA; --- FAIL: TestB; it failed before the work, and with more tests: 1 failed before, 2 do now", 4, time.Minute},
		"it took too long, and would fail": {"test -e x || { touch ready; sleep 60; }; false", "echo x > x", attempts.Environment, "", "check took longer than 1s" + held, 1, time.Second},
		"it takes too long":                {"touch ready; sleep 60", "echo x > x", attempts.Environment, "", "check took longer than 50ms" + held, 1, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 2)
			t.Parallel()
			y := newSlotLab(t)
			y.l.run.o.Supervisor = runnertest.WhenReady{Supervisor: y.l.run.o.Supervisor}
			y.l.run.o.Epic.Checks = []epic.Check{{Name: "check", Run: `echo ran >> "$RELAY_DIR/../../epic"; ` + c.check, Timeout: c.wall}}
			f := y.does("T1", c.script).Result
			note := ""
			if len(f.Notes) > 0 {
				note = f.Notes[0].Text
			}
			if f.Outcome != c.outcome || f.Receipt.ErrorSummary != c.why || note != c.note {
				t.Errorf("got %s %q, note %q", f.Outcome, f.Receipt.ErrorSummary, note)
			}
			if got := y.ran("epic"); got != c.runs {
				t.Errorf("the check ran %d times, want %d", got, c.runs)
			}
			want := 1 // on the work: it has failed twice on that base
			if c.outcome == attempts.Environment {
				want = 0
			}
			y.does("T2", "echo y > y")
			if got := y.ran("epic"); got != want {
				t.Errorf("for the next task the check ran %d times, want %d: its base is known", got, want)
			}
		})
	}
}

// A check that took too long before the work has not failed, so that it proves nothing when it passes then.
func TestRedByTimeProvesNothing(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	checks := redThenGreen("test -e x || sleep 60")
	checks[0].Timeout = 50 * time.Millisecond
	const want = "test -e x || sleep 60 took longer than 50ms before the work, so it cannot prove it (expect: red_then_green)"
	if f := y.try(epic.Task{ID: "T1", Checks: checks}, "echo x > x").Result; f.Outcome != attempts.Environment || f.Gate != "" || f.Receipt.ErrorSummary != want {
		t.Errorf("got %s, gate %q (%s)", f.Outcome, f.Gate, f.Receipt.ErrorSummary)
	}
	if stay, err := y.life.Close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("no agent has been there, and worktrees stay: %q, %v", stay, err)
	}
	l := newLab(t, "echo x > x").begin()
	if f := l.try(epic.Task{Checks: checks}, nil); f.Outcome != attempts.Environment || f.Gate != "" || f.Receipt.ErrorSummary != want {
		t.Errorf("in the user's checkout: got %s, gate %q (%s)", f.Outcome, f.Gate, f.Receipt.ErrorSummary)
	}
}

// An attempt of a killed run whose agent had ended is judged as any other: what was red before is not held against it.
func TestEndedAttemptKnowsItsBase(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "echo red since last week; false")
	task := epic.Task{ID: "T1", Checks: redThenGreen("test -e x")}
	r := y.try(task, "echo x > x")
	a := r.Attempt
	a.Ended = true
	y.l.benches.Results = checks.NewCache() // as in another run
	f, err := y.l.Run(t.Context(), a)
	if err != nil || f.Outcome != attempts.Success {
		t.Fatalf("got %s (%s), %v", f.Outcome, f.Receipt.ErrorSummary, err)
	}
	var phases []string
	for _, run := range f.Receipt.Checks {
		phases = append(phases, run.Phase+" "+string(run.Attribution))
	}
	if got := strings.Join(phases, ", "); got != "baseline , task fixed_by_task, merged broken_before" {
		t.Errorf("checks: %s", got)
	}
}

// What a check runs is the agent's code too: a protected file that it changes is put back before the next one, and told.
// What else a check changes and makes stays for the next one.
func TestChecksLeaveProtectedFiles(t *testing.T) {
	t.Parallel()
	const verify = `test "$(cat verify.sh)" = good`
	for name, c := range map[string]struct {
		checks  []string
		outcome attempts.Outcome
		why     string
	}{
		"changed":           {[]string{"sh unit.sh", verify}, attempts.Tamper, "verify.sh, which is protected, was changed while sh unit.sh ran"},
		"a log":             {[]string{"sh unit.sh"}, attempts.Success, ""},
		"removed":           {[]string{"test ! -e x || rm verify.sh"}, attempts.Tamper, "verify.sh, which is protected, was changed while test ! -e x || rm verify.sh ran"},
		"looked away from":  {[]string{"test ! -e x || { git update-index --assume-unchanged verify.sh; echo bad > verify.sh; }"}, attempts.Tamper, "verify.sh, which is protected, was changed while test ! -e x || { git update-index --assume-unchanged verify.sh; echo bad > verify.sh; } ran"},
		"on the base too":   {[]string{"echo bad > verify.sh", verify}, attempts.Success, ""},
		"touched":           {[]string{"touch verify.sh", verify}, attempts.Success, ""},
		"another file":      {[]string{"echo made > built; echo 2 > seed.txt", verify + ` && test "$(cat built seed.txt | tr -d '\n')" = made2`}, attempts.Success, ""},
		"the index is gone": {[]string{`test ! -e x || echo rubbish > "$(git rev-parse --git-dir)/relay-index"`}, attempts.Environment, "what git knows of the checkout was changed while the checks ran; they prove nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			y.Sh("echo good > verify.sh; echo true > unit.sh; git add -A; git commit -qm verify; git update-ref refs/heads/relay/20260101-lab HEAD; git update-ref refs/relay-tip/20260101-lab HEAD")
			if err := y.life.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			y.l.run.o.Epic.Protected = []string{"verify.sh"}
			f := y.does("T1", "echo 'echo bad > verify.sh' > unit.sh; echo x > x", c.checks...).Result
			if f.Outcome != c.outcome || f.Receipt.ErrorSummary != c.why || f.Gate != "" {
				t.Errorf("got %s, gate %q (%s)", f.Outcome, f.Gate, f.Receipt.ErrorSummary)
			}
		})
	}
	y := newSlotLab(t)
	w := y.l.attemptAt("", y.l.run.home, engine.Attempt{})
	y.l.benches.Busy.Add(3)
	w.f.OnBase = checks.Baseline{}
	run, err := w.checks.see(t.Context(), checks.Check{Check: epic.Check{Name: "unit"}}, &checks.Result{Changed: []string{"tests/verify.sh"}}, &bench.Trouble{})
	if err != nil || run.Changed != "tests/verify.sh" || run.Alone {
		t.Errorf("beside others: got %+v, %v", run, err)
	}
}
