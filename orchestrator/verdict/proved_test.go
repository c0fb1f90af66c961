package verdict

import (
	"testing"

	"relay/attempts"
)

// What lands later may prove work only if all there is to look at is that its checks pass without its code.
func TestBlind(t *testing.T) {
	t.Parallel()
	e := proved()
	if looks := Looks(e); Blind(looks) {
		t.Errorf("%+v", looks)
	}
	e.Old.Blind = []string{"a.go", "b.go"}
	if looks := Looks(e); !Blind(looks) {
		t.Errorf("%+v", looks)
	}
	e.Old.Blind, e.Work.Weaker = nil, []string{"v.js asks whether tests run: const x = y // a.js emptied: they prove nothing of this work"}
	if looks := Looks(e); len(looks) != 1 || Blind(looks) {
		t.Errorf("words of an agent: %+v", looks)
	}
	e.Old.Blind, e.Work.Weaker = []string{"a.go"}, nil
	e.Work.Merged = []string{"feature"}
	if looks := Looks(e); Blind(looks) {
		t.Errorf("%+v", looks)
	}
}

// What is unverified: no check has passed on the work, and no reviewer approved it. A pre-commit hook that passes proves nothing.
func TestUnproved(t *testing.T) {
	t.Parallel()
	run := func(name, phase string, code int) attempts.CheckRun {
		return attempts.CheckRun{Name: name, Phase: phase, ExitCode: code}
	}
	for want, r := range map[string]attempts.Receipt{
		"":                                      {Checks: attempts.CheckRuns{run("make", attempts.PhaseTask, 0), run(HookName, attempts.PhaseTask, 0)}},
		"its checks fail as they did before it": {Checks: attempts.CheckRuns{run("make", attempts.PhaseMerged, 1), run(HookName, attempts.PhaseTask, 0)}},
		"neither a check nor a reviewer proved it": {Checks: attempts.CheckRuns{run(HookName, attempts.PhaseTask, 0)}},
	} {
		if got := Unproved(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
