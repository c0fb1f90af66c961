package orchestrator

import (
	"strings"
	"testing"
)

// What agents have done to what is the user's, and to the branch, when relay was killed before it could look: the next run
// puts it right, or tells.
func TestKilledBeforeItCouldLook(t *testing.T) {
	t.Parallel()
	const moved = " was moved by an agent; relay put it back, and keeps what was there as refs/relay/20260101-lab-moved/"
	for name, c := range map[string]struct{ script, noted string }{
		"a branch":         {"git branch -f feature HEAD", "the branch feature" + moved},
		"the user's own":   {"git update-ref refs/heads/main HEAD", "the branch main" + moved},
		"a tag":            {"git tag -f v1 HEAD", "the tag v1" + moved},
		"a tag is gone":    {"git tag -d v1", "the tag v1 was deleted during the attempt; if that was not you: git tag v1 "},
		"it was looked at": {"git tag -d v1; touch looked", "the tag v1 was deleted during the attempt; if that was not you: git tag v1 "},
		"the stash, again": {"git stash pop -q; touch looked twice", `"On main: mine" had gone from your stash when relay had been killed; relay leaves it so, and keeps it as refs/relay/20260101-lab/stash/`},
		"the stash":        {"git stash pop -q", `"On main: mine" had gone from your stash when relay had been killed; relay leaves it so, and keeps it as refs/relay/20260101-lab/stash/`},
		"what has landed":  {"git update-ref refs/heads/relay/20260101-lab HEAD", ""},
		"nothing":          {"true", ""},
		"the user commits": {"cd $(git rev-parse --git-common-dir)/..; echo u > u; git add u; git commit -qm u; git branch -f feature HEAD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.Sh("git branch feature; git tag v1; echo mine > seed.txt; git stash push -q -m mine")
			if err := y.l.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := func() string {
				return y.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/[mf]*", "refs/tags") + y.Git("stash", "list")
			}
			before, landed := all(), y.Git("rev-parse", "relay/20260101-lab")
			if _, err := y.l.yard.Site(t.Context(), "1", y.l.tips.Tip(), "relay-tasks/20260101-lab/T1"); err != nil {
				t.Fatal(err)
			}
			y.Sh("cd .agents-os/relay/worktrees/1; echo x > x; git add x; git commit -qm x; " + c.script)
			if strings.Contains(c.script, "looked") {
				y.looks()
			}
			if strings.Contains(c.script, "twice") {
				y.Git("stash", "drop", "-q")
				y.looks()
			}
			o := *y.l.o
			again := y.yard(&o)
			if !again.l.unclean() {
				t.Error("nobody would look")
			}
			notes, err := again.l.cleanAfter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, n := range notes {
				said += n.Text
			}
			if !strings.HasPrefix(said, c.noted) || c.noted == "" && said != "" {
				t.Errorf("noted %q, want %q", said, c.noted)
			}
			switch _, kept, _ := strings.Cut(said, "keeps it as "); {
			case strings.Contains(said, "if that was not you: "):
				y.Sh(said[strings.LastIndex(said, ": git ")+2:])
			case kept != "":
				y.Git("stash", "store", "-m", "On main: mine", kept)
			}
			if after := all(); (after != before) != (name == "the user commits") {
				t.Errorf("got\n%s\nwant\n%s", after, before)
			}
			if got := y.Git("rev-parse", "relay/20260101-lab"); got != landed {
				t.Error("an agent has landed something")
			}
			if err := again.l.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			if stay, err := again.l.close(t.Context()); err != nil || again.l.unclean() {
				t.Errorf("stays: %v, %v", stay, err)
			}
		})
	}
}

// looks is what an attempt does at its end.
func (y *yardLab) looks() {
	y.Helper()
	if _, err := y.l.refs.Mend(y.Context()); err != nil {
		y.Fatal(err)
	}
	if _, err := y.l.stash.settle(y.Context(), stasher{repo: y.l.home, alone: true}); err != nil {
		y.Fatal(err)
	}
}
