package worker

import (
	"os"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
)

// texts are the notes of an attempt.
func texts(notes []attempts.Note) string {
	var all []string
	for _, n := range notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

// Whatever an agent tells git in the user's repository, whose path it knows, decides neither what the checks see nor what is
// committed, and the user finds the repository as it was.
func TestRulesAreTheUsers(t *testing.T) {
	t.Parallel()
	const info = `i=.git/info; mkdir -p "$i"; `
	const config = "config"
	for name, c := range map[string]struct{ script, noted string }{
		"a filter":            {`git config filter.evil.smudge 'echo exit 0'`, config},
		"attributes":          {info + `echo 'check.sh eol=crlf' > "$i/attributes"`, "info/attributes"},
		"a clean filter":      {info + `echo '* filter=x' > "$i/attributes"; git config filter.x.clean true`, config},
		"a merge driver":      {`git config merge.ours.driver true`, config},
		"sparse":              {info + `git config core.sparseCheckout true; echo '/x' > "$i/sparse-checkout"`, config},
		"elsewhere":           {`git config core.worktree /tmp`, config},
		"another file":        {`git config include.path /tmp/evil`, config},
		"where it pushes":     {`git config remote.origin.pushurl /tmp/evil; git config branch.main.pushRemote evil`, config},
		"hooks":               {`git config core.hooksPath /tmp/evil`, config},
		"what is left of one": {`git config --unset remote.origin.url`, config},
		"for the user":        {`git config user.email agent@example.com`, config},
		"in one line":         {`echo '[branch "x"][core] bare = true' >> .git/config`, config},
		"a folder":            {`cd .git; rm config; mkdir -p config/x`, config},
		"rubbish":             {`echo '[[[' > ".git/config"`, config},
		"a link":              {`cd .git; ln -sf config config.worktree`, "config.worktree"},
		"rubbish beside it":   {`echo '[[[' > ".git/config.worktree"`, "config.worktree"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			y.Git("config", "remote.origin.url", "/nowhere")
			y.Write(".git/config.worktree", "[core]\n")
			before, err := os.ReadFile(y.Path(".git/config"))
			if err != nil {
				t.Fatal(err)
			}
			f := y.does("T1", "echo real > real; cd "+y.Root+"; "+c.script, `test "$(cat real)" = real`).Result
			want := ".git/" + c.noted + ", which configures git, was changed during the attempt; relay put it back"
			if got := texts(f.Notes); f.Outcome != attempts.Success || !strings.Contains(got, want) {
				t.Errorf("%s (%s): noted %q, want %q", f.Outcome, f.Receipt.ErrorSummary, got, want)
			}
			y.Wants(map[string]string{".git/config": string(before), ".git/config.worktree": "[core]\n", ".git/info/attributes": "-", ".git/info/sparse-checkout": "-"})
			if got := y.Git("show", f.Head+":real"); got != "real" {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// A scratch file that an agent keeps out of git's sight is no reason to gate it; and its work is seen all the same.
func TestExcludedWorkIsSeen(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", `echo 1 > one; i=`+y.Root+`/.git/info; mkdir -p "$i"; echo '*' >> "$i/exclude"`, "test -e one").Result
	if got := texts(f.Notes); f.Outcome != attempts.Success || !strings.HasPrefix(got, ".git/info/exclude, which configures git, was changed during the attempt; relay put it back") {
		t.Errorf("%s: %q", f.Outcome, got)
	}
	y.Wants(map[string]string{".git/info/exclude": "-"})
}

// Notes that programs make in git's configuration stay, whoever makes them.
func TestNotesStay(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.Git("config", "remote.origin.url", "/nowhere")
	f := y.does("T1", "echo 1 > one; cd "+y.Root+`; git remote add upstream /there; git config core.hooksPath .husky/_; git config remote.origin.gh-resolved base
		git config branch.main.remote upstream; git config branch.main.merge refs/heads/main; git config lfs.repositoryformatversion 0`).Result
	if got := texts(f.Notes); f.Outcome != attempts.Success || got != "" {
		t.Errorf("%s: noted %q", f.Outcome, got)
	}
	want := "/there .husky/_ upstream base"
	if got := y.Sh("echo $(git config remote.upstream.url; git config core.hooksPath; git config branch.main.remote; git config remote.origin.gh-resolved)"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What the user does while no agent is at work is theirs, whatever it is.
func TestUsersRulesStay(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.does("T1", "echo 1 > one")
	y.Git("config", "filter.late.clean", "cat")
	y.Write(".git/info/attributes", "*.bin -text\n")
	if f := y.does("T2", "echo 2 > two").Result; f.Outcome != attempts.Success || texts(f.Notes) != "" {
		t.Errorf("%s: %q", f.Outcome, texts(f.Notes))
	}
	y.Wants(map[string]string{".git/info/attributes": "*.bin -text\n"})
	if got := y.Git("config", "filter.late.clean"); got != "cat" {
		t.Errorf("got %q", got)
	}
}

// A neighbour's driver does not decide how work is merged that lands meanwhile, and gates no task.
func TestRulesOfALanding(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	one, two := y.proved("T1", "echo 1 > seed.txt"), y.proved("T2", "echo 2 > seed.txt")
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	y.l.run.guard.Tools.Enter()
	y.Write(".git/info/attributes", "seed.txt merge=ours\n")
	y.Git("config", "merge.ours.driver", "true")
	if got := y.step(two); got != "T2 conflict" {
		t.Fatal(got)
	}
	y.l.run.guard.Tools.Leave()
	three := y.proved("T3", "echo 3 > three")
	if got := texts(three.Result.Notes); !strings.Contains(got, ".git/config, which configures git, was changed") {
		t.Errorf("noted %q", got)
	}
}

// An agent that has settings of its own for its slot does not have its work collected by them.
func TestRulesOfOneWorktree(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", "git config filter.x.clean true; git config core.excludesFile /dev/stdin; echo '* filter=x' > .gitattributes; echo real > real").Result
	if f.Outcome != attempts.Success || y.Git("show", f.Head+":real") != "real" {
		t.Errorf("%s: %s, %q", f.Outcome, f.Receipt.ErrorSummary, y.Git("show", f.Head+":real"))
	}
}
