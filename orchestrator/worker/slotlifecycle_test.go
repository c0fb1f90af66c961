package worker

import "testing"

// A run begins from what a person has committed on the integration branch since the last one, and its record says so.
func TestTipHasCommitsOfPeople(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	if got := y.step(y.proved("T1", "echo 1 > one")); got != "T1 success" {
		t.Fatal(got)
	}
	y.Sh("git worktree add -q ../mine relay/20260101-lab; cd ../mine; echo 2 > two; git add two; git commit -qm two")
	want := y.Git("rev-parse", "relay/20260101-lab")
	if got, err := y.life.Tip(t.Context()); err != nil || got != want {
		t.Errorf("the tip is %s, %v, want %s", got, err, want)
	}
	if got, err := y.again().life.Tip(t.Context()); err != nil || got != want {
		t.Errorf("the next run begins at %s, %v, want %s", got, err, want)
	}
}
