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
	settings := func(names string) string {
		return "the settings " + names + " in .git/config were changed during the attempt; relay put them back"
	}
	for name, c := range map[string]struct{ script, noted string }{
		"a filter":            {`git config filter.evil.smudge 'echo exit 0'`, settings("filter.evil.smudge")},
		"attributes":          {info + `echo 'check.sh eol=crlf' > "$i/attributes"`, ".git/info/attributes was changed during the attempt; relay put it back"},
		"a clean filter":      {info + `echo '* filter=x' > "$i/attributes"; git config filter.x.clean true`, settings("filter.x.clean")},
		"a merge driver":      {`git config merge.ours.driver true`, settings("merge.ours.driver")},
		"sparse":              {info + `git config core.sparseCheckout true; echo '/x' > "$i/sparse-checkout"`, settings("core.sparsecheckout")},
		"elsewhere":           {`git config core.worktree /tmp`, settings("core.worktree")},
		"another file":        {`git config include.path /tmp/evil`, settings("include.path")},
		"where it pushes":     {`git config remote.origin.pushurl /tmp/evil; git config branch.main.pushRemote evil`, settings("branch.main.pushremote, remote.origin.pushurl")},
		"hooks":               {`git config core.hooksPath /tmp/evil`, settings("core.hookspath")},
		"what is left of one": {`git config --unset remote.origin.url`, settings("remote.origin.url")},
		"rubbish":             {`echo '[[[' > ".git/config"`, ".git/config was damaged during the attempt; relay put it back"},
		"a link":              {`cd .git; ln -sf config config.worktree`, ".git/config.worktree was removed or replaced during the attempt; relay put it back"},
		"rubbish beside it":   {`echo '[[[' > ".git/config.worktree"`, ".git/config.worktree was damaged during the attempt; relay put it back"},
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
			if f.Outcome != attempts.Tamper || f.Gate != attempts.TamperedWith {
				t.Errorf("%s, gate %q", f.Outcome, f.Gate)
			}
			if got := texts(f.Notes); !strings.Contains(got, c.noted) {
				t.Errorf("noted %q, want %q", got, c.noted)
			}
			y.Wants(map[string]string{".git/config": string(before), ".git/config.worktree": "[core]\n", ".git/info/attributes": "-", ".git/info/sparse-checkout": "-"})
			if got := y.Git("show", f.Receipt.Salvage+":real"); got != "real" {
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
	if got := texts(f.Notes); f.Outcome != attempts.Success || got != ".git/info/exclude was changed during the attempt; relay put it back" {
		t.Errorf("%s: %q", f.Outcome, got)
	}
	y.Wants(map[string]string{".git/info/exclude": "-"})
}

// What steers nothing stays, whoever has set it, and is reported once.
func TestOtherSettingsStay(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.Git("config", "remote.origin.url", "/nowhere")
	script := "echo 1 > one; cd " + y.Root + `; git config user.email agent@example.com; git config alias.x y; git remote add upstream /there; git config core.hooksPath .husky/_; git config remote.origin.gh-resolved base
		git config branch.main.remote upstream`
	f := y.does("T1", script).Result
	const stay = "the settings alias.x, core.hookspath, remote.origin.gh-resolved and 3 more in .git/config were changed during the attempt, and stay so: look at them with git config --local --list"
	if got := texts(f.Notes); !strings.Contains(got, stay) {
		t.Errorf("noted %q", got)
	}
	want := "agent@example.com /there .husky/_ upstream"
	if got := y.Sh("echo $(git config user.email; git config remote.upstream.url; git config core.hooksPath; git config branch.main.remote)"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if f := y.does("T2", "echo 2 > two").Result; f.Outcome != attempts.Success || texts(f.Notes) != "" {
		t.Errorf("%s: %q", f.Outcome, texts(f.Notes))
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

// A neighbour's driver does not decide how work is merged that lands meanwhile, and nobody is blamed for it.
func TestRulesOfALanding(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	one, two := y.proved("T1", "echo 1 > seed.txt"), y.proved("T2", "echo 2 > seed.txt")
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	y.l.benches.Busy.Add(2) // neighbours
	y.l.run.guard.Rules.Enter()
	y.Write(".git/info/attributes", "seed.txt merge=ours\n")
	y.Git("config", "merge.ours.driver", "true")
	if got := y.step(two); got != "T2 conflict" {
		t.Fatal(got)
	}
	y.l.run.guard.Rules.Leave()
	three := y.proved("T3", "echo 3 > three")
	if got := texts(three.Result.Notes); !strings.Contains(got, "the settings merge.ours.driver in") {
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
