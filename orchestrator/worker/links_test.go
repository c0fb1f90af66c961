package worker

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// A repository that an agent commits would land as a name without content: its attempt fails, and what is in it stays.
func TestRepositoriesInCommits(t *testing.T) {
	t.Parallel()
	const dep = `mkdir -p vendor/dep; cd vendor/dep; git init -q; echo hours > code.c; git add .; git commit -qm dep; cd ../..; echo ok > ok.txt; `
	const put = "the agent put a repository into the commit: vendor/dep; its content would not land"
	for name, c := range map[string]struct{ script, why string }{
		"committed":     {dep + "git add -A; git commit -qm all", put},
		"staged":        {dep + "git add -A", put},
		"left":          {dep, ""},
		"a worktree":    {`git worktree add -q -b x vendor/dep; echo hours > vendor/dep/code.c; echo ok > ok.txt; git add -A; git commit -qm all`, put},
		"and it failed": {dep + "git add -A; git commit -qm all; exit 3", "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			f := y.does("T1", c.script).Result
			if (f.Outcome == attempts.Success) != (c.why == "") || !strings.Contains(f.Receipt.ErrorSummary, c.why) {
				t.Errorf("%s: %s", f.Outcome, f.Receipt.ErrorSummary)
			}
			y.proved("T2", "echo 2 > two; test ! -e vendor/dep/code.c")
			if _, err := y.life.Close(t.Context()); err != nil {
				t.Error(err)
			}
			y.Wants(map[string]string{".agents-os/relay/worktrees/1/vendor/dep/code.c": "hours\n", ".agents-os/relay/worktrees/2": "-"})
			if f.Outcome == attempts.Success && strings.Contains(y.Git("ls-tree", "-r", f.Head), "commit") {
				t.Error("it would land")
			}
		})
	}
}

// A submodule may go to a commit that others can get, and what only this worktree has of it stays there.
func TestSubmodulesInWorktrees(t *testing.T) {
	t.Parallel()
	const fill = "git -c protocol.file.allow=always submodule --quiet update --init; "
	for name, c := range map[string]struct {
		script, why string
		stays       bool
	}{
		"looked at":           {fill + "cat lib/v > ok.txt", "", false},
		"moved on":            {fill + "git -C lib checkout -q --detach origin/next; git add lib", "", false},
		"declared, not there": {"git update-index --cacheinfo 160000,$(git rev-parse HEAD),lib", "", false},
		"committed in":        {fill + "cd lib; echo v2 > v; git commit -qam v2; cd ..; git add lib; git commit -qm bump", "the agent committed in submodule lib, and only this worktree has that commit; it would not land", true},
		"changed":             {fill + "echo dirty > lib/v; echo ok > ok.txt", "", true},
		"on a branch":         {fill + "cd lib; git switch -qc own; echo v2 > v; git commit -qam v2; git checkout -q -; cd ..; echo ok > ok.txt", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLab(t, "true")
			up := l.TempDir()
			l.Sh("git init -q -b main '" + up + "'; cd '" + up + "'; echo v1 > v; git add .; git commit -qm v1; git switch -qc next; git commit -qm v2 --allow-empty; git switch -q main")
			l.Sh("git -c protocol.file.allow=always submodule --quiet add '" + up + "' lib; git commit -qm lib; git submodule --quiet deinit -f --all")
			y := l.inSlots(l.slotOptions())
			f := y.does("T1", c.script).Result
			if (f.Outcome == attempts.Success) != (c.why == "") || !strings.Contains(f.Receipt.ErrorSummary, c.why) {
				t.Errorf("%s: %s", f.Outcome, f.Receipt.ErrorSummary)
			}
			stay, err := y.life.Close(t.Context())
			if err != nil || (len(stay) > 0) != c.stays {
				t.Errorf("stays: %q, %v", stay, err)
			}
		})
	}
}

// Whatever an agent leaves behind in its worktree is kept in refs, and the worktree goes.
func TestWhatAnAgentLeavesBehind(t *testing.T) {
	t.Parallel()
	const two = "echo 1 > r1; git add .; git commit -qm r1; echo 2 > r2; git add .; git commit -qm r2; "
	for name, c := range map[string]struct {
		script string
		left   string // subjects of commits that are kept besides
		note   string
	}{
		"nothing":        {two + "exit 3", "", ""},
		"red":            {two + "echo no > verdict; git add .; git commit -qm no", "", ""},
		"reset away":     {"echo lost > lost; git add .; git commit -qm lost; git reset -q --hard HEAD~1; echo kept > kept; git add .; git commit -qm kept; exit 3", "lost", "1 commit that the agent left on no branch is kept below refs/relay/20260101-lab/T1/1-left/"},
		"detached":       {"b=$(git symbolic-ref --short HEAD); git switch -q --detach; echo d > d; git add .; git commit -qm det; git switch -q $b; echo e > e; exit 3", "det", ""},
		"twice":          {two + "git reset -q --hard HEAD~2; echo 3 > r3; git add .; git commit -qm r3; git reset -q --hard HEAD~1; exit 3", "r3 r2", "2 commits that the agent left on no branch are kept below refs/relay/20260101-lab/T1/1-left/"},
		"on its branch":  {"b=$(git symbolic-ref --short HEAD); git switch -qc own; echo d > d; git add .; git commit -qm own; git switch -q $b; exit 3", "", "the agent left its work on the branch own: relay took it from there"},
		"half a rebase":  {two + "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; echo w > wip; exit 3", "r2", ""},
		"with autostash": {two + "echo dirty >> seed.txt; git config rebase.autoStash true; GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; exit 3", "r2 autostash", ""},
		"half a merge":   {"b=$(git symbolic-ref --short HEAD); git switch -qc side; echo a > c; git add .; git commit -qm a; git switch -q $b; echo b > c; git add .; git commit -qm b; git merge side || exit 3", "", ""},
		"half a bisect":  {two + "git bisect start -q HEAD HEAD~1; exit 3", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			y.proved("T0", two+"git reset -q --hard HEAD~1; echo 0 > zero") // its log is not the next one's
			f := y.does("T1", c.script, "test ! -e verdict").Result
			var left []string
			for _, ref := range f.Receipt.Kept {
				words := strings.Fields(y.Git("log", "-1", "--format=%s", ref))
				left = append(left, words[len(words)-1])
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("kept besides are %q (%v), want %q", got, f.Receipt.Kept, c.left)
			}
			if n := len(f.Notes); c.note != "" && (n == 0 || f.Notes[n-1].Text != c.note) {
				t.Errorf("notes: %+v", f.Notes)
			}
			stay, err := y.life.Close(t.Context())
			if err != nil || len(stay) > 0 {
				t.Errorf("stays: %q, %v", stay, err)
			}
		})
	}
}

// What an agent has hidden from git is its work too when its run was killed.
func TestHiddenWorkOfAKilledRun(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Runner: "true", Base: y.l.headGuard.Tip()}
	w := y.l.attempt(a)
	if err := w.gather(t.Context(), verdict.Readied); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.files.Brief, w.files.Transcript, w.files.Stderr} {
		y.Write(strings.TrimPrefix(path, y.Root+"/"), "")
	}
	y.Write(strings.TrimPrefix(w.files.End, y.Root+"/"), `{"code":3}`)
	y.Sh("cd .agents-os/relay/worktrees/1; git update-index --assume-unchanged seed.txt; git update-index --skip-worktree tests/a.txt; echo hours > seed.txt; echo days > tests/a.txt")
	a.Ended = true
	f, err := y.again().l.Run(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got := y.Git("show", f.Receipt.Salvage+":seed.txt") + y.Git("show", f.Receipt.Salvage+":tests/a.txt"); got != "hoursdays" {
		t.Errorf("what is kept has %q", got)
	}
}
