package slot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

type lab struct{ *repotest.Repo }

func (l *lab) cleanup() finish.Remains {
	l.Helper()
	repo, err := git.Open(l.Context(), l.Root)
	if err != nil {
		l.Fatal(err)
	}
	worktrees := l.Path(".agents-os/relay/worktrees")
	return finish.Remains{Git: repo, Dir: l.Path(".agents-os/relay"), Worktrees: worktrees, Backup: filepath.Join(filepath.Dir(l.Root), "copies", "one")}
}

// remains lists what is left: its name, and why it stays.
func (l *lab) remains() (names []string, found []finish.Leftover) {
	l.Helper()
	found, err := l.cleanup().List(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	for _, f := range found {
		name := string(f.Kind) + " " + strings.ReplaceAll(f.Name, filepath.Dir(l.Root), "TEMP")
		if f.Why != "" {
			name += ": " + strings.ReplaceAll(f.Why, filepath.Dir(l.Root), "TEMP")
		}
		names = append(names, name)
	}
	return names, found
}

// What has landed or is kept elsewhere goes; what would be lost stays, and is named.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	l := &lab{Repo: repotest.NewLanded(t)}
	l.Sh(`
		commit() { git commit-tree -p main -m "$1" 'main^{tree}'; }
		tasks=relay-tasks/20260101-lab
		git branch $tasks/landed ` + repotest.Landed + `~
		git branch $tasks/kept $(commit kept); git update-ref refs/relay/20260101-lab/kept/1 $tasks/kept
		git branch $tasks/own $(commit own)
		git branch $tasks/looked-at ` + repotest.Landed + `
		git worktree add -q ../beside $tasks/looked-at
		git worktree add -q -b $tasks/gone ../gone ` + repotest.Landed + `; rm -rf ../gone
		cd .agents-os/relay; mkdir worktrees; cd worktrees
		slot() { git clone -q --shared --no-checkout ../../.. $1; echo 1 > $1/.git/relay-slot; git -C $1 checkout -q --detach origin/` + repotest.Landed + `; }
		slot 1
		slot check-1; echo x > check-1/x.log
		slot 3; echo x > 3/x
		slot 4; git -C 4 -c user.name=a -c user.email=a@b commit -q --allow-empty -m lost
		mkdir mine; echo x > mine/x
		cp -r ../../../.git ../../../../copies; mkdir ../../../../c; mv ../../../../copies ../../../../c/one; mv ../../../../c ../../../../copies
		mkdir ../git-damaged
	`)
	before := l.Sh("git for-each-ref refs/heads/main refs/heads/relay refs/relay refs/relay-tip; git status --porcelain")
	want := []string{
		"worktree TEMP/work/.agents-os/relay/worktrees/1",
		"worktree TEMP/work/.agents-os/relay/worktrees/3: changes in no commit: x",
		"worktree TEMP/work/.agents-os/relay/worktrees/4: commits that are nowhere else: 1",
		"worktree TEMP/work/.agents-os/relay/worktrees/check-1",
		"worktree TEMP/work/.agents-os/relay/worktrees/mine: git does not know it",
		"branch relay-tasks/20260101-lab/gone",
		"branch relay-tasks/20260101-lab/kept",
		"branch relay-tasks/20260101-lab/landed",
		"branch relay-tasks/20260101-lab/looked-at: it is checked out in TEMP/beside",
		"branch relay-tasks/20260101-lab/own: commits that have neither landed nor been kept elsewhere: 1",
		"copy TEMP/copies/one",
		"copy TEMP/work/.agents-os/relay/git-damaged: what was left of a .git that an agent had damaged",
	}
	names, found := l.remains()
	if !slices.Equal(names, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range found {
		if err := l.cleanup().Remove(t.Context(), f); (err != nil) != (f.Why != "") {
			t.Errorf("remove %s, which stays because %q: %v", f.Name, f.Why, err)
		}
		if f.Why != "" {
			l.Sh(f.Show) // whatever it says to type works
		}
	}
	stays := slices.DeleteFunc(want, func(name string) bool { return !strings.Contains(name, ": ") })
	if names, _ := l.remains(); !slices.Equal(names, stays) {
		t.Errorf("then\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(stays, "\n"))
	}
	if after := l.Sh("git for-each-ref refs/heads/main refs/heads/relay refs/relay refs/relay-tip; git status --porcelain"); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(l.Root), "copies")); err == nil {
		t.Error("the empty folder of the copies is still there")
	}
	l.Sh("git fsck --connectivity-only --no-dangling")
}

// Between the list and the answer somebody goes on working.
func TestLeftoversThatAreInUseByNow(t *testing.T) {
	t.Parallel()
	l := &lab{Repo: repotest.NewLanded(t)}
	l.Sh(`mkdir .agents-os/relay/worktrees; git clone -q --shared --no-checkout . .agents-os/relay/worktrees/1; echo 1 > .agents-os/relay/worktrees/1/.git/relay-slot; git -C .agents-os/relay/worktrees/1 checkout -q --detach origin/` + repotest.Landed + `; git branch relay-tasks/20260101-lab/T1 ` + repotest.Landed + `; git branch relay-tasks/20260101-lab/T2 ` + repotest.Landed)
	_, found := l.remains()
	if len(found) != 3 {
		t.Fatalf("found %+v", found)
	}
	l.Sh(`echo x > .agents-os/relay/worktrees/1/x
		git branch -f relay-tasks/20260101-lab/T1 $(git commit-tree -p main -m Later 'main^{tree}')
		git worktree add -q ../beside relay-tasks/20260101-lab/T2`)
	for i, want := range []string{"changes in no commit: x", "commits that have neither landed nor been kept elsewhere: 1", "it is checked out in "} {
		if err := l.cleanup().Remove(t.Context(), found[i]); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", found[i].Name, err, want)
		}
	}
	l.Wants(map[string]string{".agents-os/relay/worktrees/1/x": "x\n"})
}

// A copy that has what the repository lacks may be all that is left of it.
func TestLeftoverCopies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ make, why string }{
		"a commit of its own": {`cp -r .git ../copies/one; git --git-dir=../copies/one update-ref refs/heads/only $(git --git-dir=../copies/one commit-tree -m Only 'HEAD^{tree}')`, "this repository lacks the commit of its refs/heads/only"},
		"damaged":             {`cp -r .git ../copies/one; rm -r ../copies/one/objects`, "git cannot read it"},
		"cut short":           {`cp -r .git ../copies/one; rm ../copies/one/HEAD`, ""},
		"no refs":             {`git init -q --bare ../copies/one`, ""},
		"of a worktree":       {`echo 'gitdir: /x' > ../copies/one.file`, ""},
	} {
		l := &lab{Repo: repotest.NewLanded(t)}
		l.Sh("mkdir ../copies; " + c.make)
		_, found := l.remains()
		if len(found) != 1 || found[0].Why != c.why {
			t.Errorf("%s: got %+v", name, found)
		} else if c.why != "" && found[0].Show != "git --git-dir="+found[0].Name+" log --all" {
			t.Errorf("%s: look with %s", name, found[0].Show)
		}
	}
}

// What a plan or fork has is left alone while it holds its folder. What stays in it afterwards is found, and goes with the folder.
func TestLeftoversOfPlansAndForks(t *testing.T) {
	t.Parallel()
	l := &lab{Repo: repotest.NewLanded(t)}
	worktrees := l.Path(".agents-os/relay/worktrees")
	plan, err := finish.HoldAside(t.Context(), worktrees, finish.AsidePlans, "one")
	if err != nil {
		t.Fatal(err)
	}
	fork, err := finish.HoldAside(t.Context(), worktrees, finish.Forks, "fork-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*finish.Aside{plan, fork} {
		pool := slot.NewPool(l.Open(), a.Dir)
		for _, name := range []string{"1", "2"} {
			if _, err := pool.Acquire(t.Context(), name, l.Git("rev-parse", repotest.Landed), ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Sh(`echo x > .agents-os/relay/worktrees-forks/fork-1/2/x; git branch relay-tasks/20260101-lab/fork-1 ` + repotest.Landed)
	names, _ := l.remains()
	if want := []string{"branch relay-tasks/20260101-lab/fork-1: a fork is at work on it"}; !slices.Equal(names, want) {
		t.Fatalf("while they are at work: %q, want %q", names, want)
	}
	for _, a := range []*finish.Aside{plan, fork} {
		if err := a.Release(); err != nil {
			t.Fatal(err)
		}
	}
	l.Sh("touch .agents-os/relay/worktrees-plans/two.lock; mkdir .agents-os/relay/worktrees-plans/three; touch .agents-os/relay/worktrees-plans/notes")
	names, found := l.remains()
	want := []string{
		"worktree TEMP/work/.agents-os/relay/worktrees-plans/one/1",
		"worktree TEMP/work/.agents-os/relay/worktrees-plans/one/2",
		"folder TEMP/work/.agents-os/relay/worktrees-plans/three",
		"lock TEMP/work/.agents-os/relay/worktrees-plans/two.lock",
		"worktree TEMP/work/.agents-os/relay/worktrees-forks/fork-1/1",
		"worktree TEMP/work/.agents-os/relay/worktrees-forks/fork-1/2: changes in no commit: x",
		"branch relay-tasks/20260101-lab/fork-1",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	again, err := finish.HoldAside(t.Context(), worktrees, finish.AsidePlans, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cleanup().Remove(t.Context(), found[0]); err == nil || !strings.HasPrefix(err.Error(), "held by process ") {
		t.Errorf("removed while somebody is at work there: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if err := l.cleanup().Remove(t.Context(), f); (err != nil) != (f.Why != "") {
			t.Errorf("remove %s, which stays because %q: %v", f.Name, f.Why, err)
		}
	}
	const rest = "worktrees-forks\nworktrees-forks/fork-1\nworktrees-forks/fork-1/2\nworktrees-plans\nworktrees-plans/notes"
	if got := l.Sh("cd .agents-os/relay; find worktrees-* -maxdepth 2 ! -name .relay | LC_ALL=C sort"); got != rest {
		t.Errorf("left:\n%s\nwant\n%s", got, rest)
	}
}
