package orchestrator

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"relay/attempts"
)

// What a neighbour has not landed is nobody else's to land: neither while it works, nor when it waits or has failed. What
// has landed, and what the task itself made before, is anybody's.
func TestWorkOfANeighbour(t *testing.T) {
	t.Parallel()
	const (
		merges  = "git merge -q --no-edit relay-tasks/20260101-lab/T2; echo 1 > one"
		made    = "echo 2 > two; git add two; git commit -qm two"
		noted   = "git rev-parse HEAD > ../../../../../made"
		refused = "the agent built on commit HASH of T2, which has not landed; it is kept, but not landed"
		taken   = "git merge -q --no-edit $(cat ../../../../../made); echo 1 > one"
	)
	for name, c := range map[string]struct {
		before func(y *yardLab)
		id     string
		script string
		want   string
	}{
		"waits for its landing": {func(y *yardLab) { y.proved("T2", made) }, "T1", merges, refused},
		"as it was made":        {func(y *yardLab) { y.proved("T2", made+"; "+noted) }, "T1", taken, refused},
		"rebased":               {func(y *yardLab) { y.proved("T2", made) }, "T1", "git rebase -q relay-tasks/20260101-lab/T2; echo 1 > one", refused},
		"has failed":            {func(y *yardLab) { y.does("T2", made+"; "+noted+"; exit 1") }, "T1", taken, refused},
		"has landed":            {func(y *yardLab) { y.step(y.proved("T2", made+"; "+noted)) }, "T1", taken, ""},
		"picked":                {func(y *yardLab) { y.proved("T2", made) }, "T1", "git cherry-pick relay-tasks/20260101-lab/T2 > /dev/null", ""},
		"of the task's own":     {func(y *yardLab) { y.does("T1", made+"; "+noted+"; exit 1") }, "T1", taken, ""},
		"of a branch of yours": {func(y *yardLab) {
			y.Sh("git switch -qc other; echo 2 > two; git add two; git commit -qm two; git switch -q main")
		}, "T1", "git merge -q other; echo 1 > one", ""},
		"looked at and left":     {func(y *yardLab) { y.proved("T2", made) }, "T1", "git checkout -q --detach relay-tasks/20260101-lab/T2; git checkout -q -; echo 1 > one", ""},
		"of the task that waits": {func(y *yardLab) { y.proved("T2", made) }, "T3", "true", "the agent claims success, but nothing has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			c.before(y)
			f := y.does(c.id, c.script).Finding
			outcome := attempts.Agent
			if c.want == "" {
				outcome = attempts.Success
			}
			if why := regexp.MustCompile(`[0-9a-f]{12}`).ReplaceAllString(f.Receipt.ErrorSummary, "HASH"); f.Outcome != outcome || why != c.want {
				t.Errorf("%s: %q, want %q", f.Outcome, why, c.want)
			}
		})
	}
}

// The same, while the neighbour is at work.
func TestWorkOfANeighbourAtWork(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.Sh("mkfifo ../made ../merged")
	done := make(chan Ready)
	go func() {
		done <- y.does("T2", "echo 2 > two; git add two; git commit -qm two; : > ../../../../../made; cat ../../../../../merged")
	}()
	f := y.does("T1", "cat ../../../../../made; git merge -q relay-tasks/20260101-lab/T2; echo 1 > one").Finding
	if why := f.Receipt.ErrorSummary; !strings.Contains(why, " of T2, which has not landed") {
		t.Errorf("%s: %s", f.Outcome, why)
	}
	if err := os.WriteFile(y.Path("../merged"), nil, 0); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if got := y.step(r); got != "T2 success" {
		t.Errorf("%s: %s", got, r.Finding.Receipt.ErrorSummary)
	}
	y.holds("two")
}
