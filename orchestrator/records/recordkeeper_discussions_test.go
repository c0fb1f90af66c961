package records

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts/discussion"
)

// What others have added to a discussion of relay stays, also when it is made up for what is missing; one that somebody has written in
// another form is left alone, and told.
func TestDiscussionsOfOthersStay(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first, second := nights()
	c.run(t, run1, NewKeeper(c.options(nil)), nil, first...)
	name := filepath.Join(c.top, filepath.FromSlash(discussion.Folder), "2026-01-11_b-needs-a-person-write-b.yaml")
	ada, err := discussion.Open(c.top, discussion.Options{By: "ada", Now: func() time.Time { return c.now }})
	must(t, err)
	defer ada.Close()
	_, err = ada.Mark("b-needs", discussion.Accepted, "look at the test")
	must(t, err)
	before, err := os.ReadFile(name)
	must(t, err)
	c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
	after, err := os.ReadFile(name)
	must(t, err)
	if !strings.HasPrefix(string(after), string(before)) || strings.Count(string(after), "- status: accepted\n") != 3 {
		t.Errorf("%s", after)
	}
	counts, err := Rebuild(Rebuilding{KeeperOptions: c.options(nil)})
	if now, rerr := os.ReadFile(name); err != nil || rerr != nil || string(now) != string(after) || counts.Discussions != (Counts{3, 0, 0}) {
		t.Errorf("%v, %v, %+v: %s", err, rerr, counts, now)
	}

	odd := "topic: B\norigin: 20260111-plan/B/" + run1 + "/5/gate\nstatus: accepted\nhistory: told\n"
	must(t, os.WriteFile(name, []byte(odd), 0o600))
	counts, err = Rebuild(Rebuilding{KeeperOptions: c.options(nil)})
	must(t, err)
	left := "a note of relay was left out: .ledger/entries/2026-01-11_b-needs-a-person-write-b.yaml: nothing can be added to it in the form it has"
	if len(c.warnings) != 2 || c.warnings[0] != left || c.warnings[1] != left || counts.Discussions != (Counts{3, 0, 0}) {
		t.Errorf("%q, %+v", c.warnings, counts)
	}
	must(t, os.Remove(filepath.Join(c.dir, CursorFile)))
	_, err = CatchUp(c.options(nil))
	if now, rerr := os.ReadFile(name); err != nil || rerr != nil || string(now) != odd || len(c.warnings) != 4 {
		t.Errorf("%v, %v, %q: %s", err, rerr, c.warnings, now)
	}
}
