package worker

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
)

// Whatever an agent destroys: its attempt fails, what it had committed is kept, and the next one works and lands.
func TestSlotsSurviveAgents(t *testing.T) {
	t.Parallel()
	const committed = "echo 1 > done; git add done; git commit -qm done; "
	const gone = "echo 1 > done; git add done; git commit -q -m done; " // and nothing is left of it
	for name, script := range map[string]string{
		"its .git":                  "rm -rf .git; echo x > x; exit 3",
		".git is the user's":        "rm -rf .git; echo gitdir: $PWD/../../../../.git > .git; echo x > x; exit 3",
		"its worktree":              gone + `rm -rf "$PWD"; exit 3`,
		"every worktree":            gone + "rm -rf ../*; exit 3",
		"their folder":              gone + `d=$(dirname "$PWD"); cd /; rm -rf "$d"; exit 3`,
		"a link instead":            gone + `d=$PWD; cd /; rm -rf "$d"; ln -s /tmp "$d"; exit 3`,
		"what git knows of it":      committed + `rm -rf "$(git rev-parse --absolute-git-dir)"; exit 3`,
		"its index":                 committed + `echo rubbish > "$(git rev-parse --absolute-git-dir)/index"; exit 3`,
		"its HEAD":                  committed + `echo rubbish > "$(git rev-parse --absolute-git-dir)/HEAD"; exit 3`,
		"a pipe for an index":       committed + `g=$(git rev-parse --absolute-git-dir); rm "$g/index"; mkfifo "$g/index"; exit 3`,
		"a pipe for .gitignore":     committed + `rm -f .gitignore; mkfifo .gitignore; exit 3`,
		"locks":                     committed + `touch "$(git rev-parse --absolute-git-dir)/index.lock"; touch -d "1 minute ago" "$(git rev-parse --git-common-dir)/packed-refs.lock"; exit 3`,
		"a rebase":                  committed + "echo 2 > done; git commit -qam two; git -c sequence.editor='sed -i s/^pick/edit/' rebase -q -i HEAD~1; exit 3",
		"read-only":                 committed + "mkdir ro; echo x > ro/x; chmod -R a-w ro; exit 3",
		"another worktree's branch": committed + "git switch -q --orphan other; exit 3",
		"hooks":                     committed + `c=$(git rev-parse --path-format=absolute --git-common-dir); h=$c/hooks; mkdir -p "$h"; for n in post-checkout reference-transaction pre-commit; do echo "touch $c/hook-ran; exit 1" > "$h/$n"; chmod 755 "$h/$n"; done; exit 3`,
		"a worktree of its own":     committed + `git worktree add -q ../mine HEAD; exit 3`,
		"sparse":                    committed + "git sparse-checkout set nothing; exit 3",
		"the user's .git":           committed + `rm -rf "$(git rev-parse --path-format=absolute --git-common-dir)"; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			f := y.does("T1", script).Result
			if f.Outcome == attempts.Success {
				t.Errorf("it succeeded")
			}
			if strings.Contains(script, committed) && f.Receipt.Salvage == "" {
				t.Errorf("what was committed is not kept: %s, %+v", f.Receipt.ErrorSummary, f.Notes)
			}
			if got := y.step(y.proved("T2", "echo 2 > two", "test -e seed.txt", "test ! -e x", "test ! -e done")); got != "T2 success" {
				t.Error(got)
			}
			y.holds("two")
			if got := y.Git("status", "--porcelain"); got != "" {
				t.Errorf("the user's checkout has %s", got)
			}
			y.Wants(map[string]string{"seed.txt": "seed\n", "x": "-", ".git/hook-ran": "-"})
		})
	}
}

// A repository inside the worktree is in no commit: the worktree stays, and the next task gets another one.
func TestSlotsKeepNestedRepositories(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", "git init -q inner; cd inner; echo deep > deep; git add deep; git -c user.name=a -c user.email=a@b commit -qm deep; exit 3").Result
	if n := len(f.Notes); n == 0 || !strings.Contains(f.Notes[n-1].Text, "inner/ is in no commit of this repository: it stays in .agents-os/relay/worktrees/1, which no other task gets") {
		t.Errorf("notes: %+v", f.Notes)
	}
	if got := y.step(y.proved("T2", "echo 2 > two; test ! -e inner")); got != "T2 success" {
		t.Error(got)
	}
	y.Wants(map[string]string{".agents-os/relay/worktrees/1/inner/deep": "deep\n", ".agents-os/relay/worktrees/2/two": "2\n"})
	stay, err := y.life.Close(t.Context())
	if err != nil || len(stay) != 1 {
		t.Errorf("stays: %q, %v", stay, err)
	}
	y.Wants(map[string]string{".agents-os/relay/worktrees/1/inner/deep": "deep\n", ".agents-os/relay/worktrees/2/two": "-"})

	again := y.again()
	if got := again.step(again.proved("T3", "echo 3 > three; test ! -e inner")); got != "T3 success" {
		t.Error(got)
	}
	y.Wants(map[string]string{".agents-os/relay/worktrees/1/inner/deep": "deep\n"})
}

// So does one that an agent has made of a folder with tracked files, in which git sees none.
func TestSlotsKeepRepositoriesInPlaceOfTheirs(t *testing.T) {
	t.Parallel()
	const deep = "git config user.name a; git config user.email a@b; echo deep > deep; git add deep; git commit -qm deep; git rm -q deep; git commit -qm none; "
	for name, c := range map[string]struct{ script, at string }{
		"a folder":                {"cd tests; git init -q; " + deep + "cd ..; echo one > one", "tests"},
		"a folder, and no change": {"cd tests; git init -q; " + deep, "tests"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			f := y.does("T1", c.script).Result
			if n := len(f.Notes); n == 0 || f.Notes[n-1].Text != c.at+"/ is in no commit of this repository: it stays in .agents-os/relay/worktrees/1, which no other task gets" {
				t.Errorf("notes: %+v", f.Notes)
			}
			if got := y.step(y.proved("T2", "echo 2 > two")); got != "T2 success" {
				t.Error(got)
			}
			if stay, err := y.life.Close(t.Context()); err != nil || len(stay) != 1 {
				t.Errorf("stays: %q, %v", stay, err)
			}
			if got := y.Git("-C", ".agents-os/relay/worktrees/1/"+c.at, "show", "HEAD^:deep"); got != "deep" {
				t.Errorf("its commit has %q", got)
			}
		})
	}
}

// A person looks at the branch of a task that waits for its landing, and goes on from it: nothing of that is removed or
// moved, and what they leave there is kept when the task is tried again.
func TestSlotsLeaveBranchOfPerson(t *testing.T) {
	t.Parallel()
	const name = "relay-tasks/20260101-lab/T1"
	y := newSlotLab(t)
	r := y.proved("T1", "echo 1 > one")
	y.Sh("git switch -q " + name + "; echo mine > fix; git add fix; git commit -qm fix")
	fix := y.Git("rev-parse", "HEAD")
	if got := y.step(r); got != "T1 success" {
		t.Fatal(got)
	}
	if got := y.Git("rev-parse", "HEAD", name); got != fix+"\n"+fix {
		t.Errorf("HEAD and the branch are at %q, want %s", got, fix)
	}
	f := y.does("T1", "echo 2 > two; exit 3").Result
	if want := "the branch " + name + " is checked out in " + y.Root + "; git switch to another one there"; f.Receipt.ErrorSummary != want || f.Gate != attempts.Infrastructure {
		t.Errorf("got gate %q, %q", f.Gate, f.Receipt.ErrorSummary)
	}
	stay, err := y.life.Close(t.Context())
	if want := "the branch " + name + " was not removed: commits that have neither landed nor been kept elsewhere: 1"; err != nil || len(stay) != 1 || stay[0] != want {
		t.Errorf("stays: %q, %v", stay, err)
	}
	y.Git("switch", "-q", "main")
	f = y.does("T1", "echo 2 > two; exit 3").Result
	kept := "refs/relay/20260101-lab-moved/" + fix
	if want := "what was on the branch " + name + " and in no other is kept as " + kept; len(f.Notes) == 0 || f.Notes[0].Text != want || y.Git("rev-parse", kept) != fix {
		t.Errorf("notes: %+v", f.Notes)
	}
	if got := y.Git("for-each-ref", "refs/heads/relay-tasks"); got != "" {
		t.Errorf("left is %s", got)
	}

	r = y.proved("T3", "echo 3 > three")
	y.Git("switch", "-q", "relay-tasks/20260101-lab/T3")
	if got := y.step(r); got != "T3 success" || y.Git("rev-parse", "HEAD") != r.Result.Head {
		t.Errorf("%s, and who looks at it is at %s", got, y.Git("status", "--branch", "--short"))
	}
}

// What git does not take ends neither the night nor the next one.
func TestSlotsGoOnWithWhatGitDoesNotTake(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", "git init -q a; git init -q b; exit 3").Result
	if f.Outcome != attempts.Agent || len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0].Text, "a/, b/ is in no commit of this repository") {
		t.Errorf("%s, %+v", f.Outcome, f.Notes)
	}
	f = y.does("T3", "git init -q a; git -C a -c user.name=a -c user.email=a commit -q --allow-empty -m a").Result
	if want := "the agent claims success, but nothing has changed but a/, which git does not take into a commit"; f.Receipt.ErrorSummary != want {
		t.Errorf("got %q, want %q", f.Receipt.ErrorSummary, want)
	}
	f = y.does("T2", "rm seed.txt; mkfifo seed.txt; echo 2 > two").Result
	if want := "git does not take what the agent left in place of seed.txt; its other work is kept, but not landed"; f.Receipt.ErrorSummary != want {
		t.Errorf("got %q, want %q", f.Receipt.ErrorSummary, want)
	}
	if got := y.Git("show", f.Receipt.Salvage+":two"); got != "2" {
		t.Errorf("what is kept has %q", got)
	}
}

// In the user's own checkout, too, git asks an agent for no signature and no password.
func TestAgentsAreAskedNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, `echo x > x; git add x; git commit -qm x && test "$GIT_TERMINAL_PROMPT" = 0`)
	l.Sh("git config commit.gpgSign true; git config gpg.program false")
	if f := l.begin().try(epic.Task{}, nil); f.Outcome != attempts.Success {
		t.Errorf("got %s %q", f.Outcome, f.Receipt.ErrorSummary)
	}
}

// A file that its filter refuses fails the attempt, and is kept with all else.
func TestWhatAFilterRefusesIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.Sh("git config filter.nb.clean 'grep ^good'; git config filter.nb.smudge cat; git config filter.nb.required true; echo '*.nb filter=nb' > .gitattributes; git add -A; git commit -qm nb")
	y := l.inSlots(l.slotOptions())
	f := y.does("T1", "echo bad > b.nb; echo 2 > two").Result
	if want := "git does not take b.nb: git add: fatal: b.nb: clean filter 'nb' failed; the work is kept as it is, but not landed"; f.Outcome != attempts.Agent || f.Receipt.ErrorSummary != want {
		t.Errorf("got %s %q, want %q", f.Outcome, f.Receipt.ErrorSummary, want)
	}
	if got := y.Git("show", f.Receipt.Salvage+":two") + y.Git("show", f.Receipt.Salvage+":b.nb"); got != "2bad" {
		t.Errorf("what is kept has %q", got)
	}
}

// Objects that git holds for damaged do not come into the user's repository, and cost their own attempt alone.
func TestDamagedCommitsStayOutside(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", `echo 1 > one; git add one
		tree=$(git write-tree)
		c=$(printf 'tree %s\nparent %s\nauthor A <a@b nonsense\ncommitter A <a@b> 1 +0000\n\nm\n' $tree $(git rev-parse HEAD) |
			git hash-object -t commit -w --stdin --literally)
		git update-ref HEAD $c`).Result
	if want := "git does not take what the agent has committed: git fetch: error: "; f.Outcome != attempts.Agent || !strings.HasPrefix(f.Receipt.ErrorSummary, want) {
		t.Errorf("%s: %s, want %s", f.Outcome, f.Receipt.ErrorSummary, want)
	}
	if got := y.step(y.proved("T2", "echo 2 > two")); got != "T2 success" {
		t.Error(got)
	}
	y.Git("fsck", "--strict")
}

// A fresh checkout that git takes for changed, for attributes that came later, is no agent's change: one that does nothing
// has done nothing, and one that works beside protected files like that is not taken for somebody who tampers.
func TestCheckoutsThatAreNeverClean(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]string{
		"eol":      `printf 'a\r\nb\r\n' > odd; git add odd; git commit -qm odd; echo 'odd text eol=lf' > .gitattributes`,
		"crlf":     `printf 'a\r\nb\r\n' > odd; git add odd; git commit -qm odd; echo 'odd text=auto eol=crlf' > .gitattributes`,
		"ident":    `printf '$Id: 0123 $\n' > odd; git add odd; git commit -qm odd; echo 'odd ident' > .gitattributes`,
		"a filter": `echo one > odd; git add odd; git commit -qm odd; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge cat; echo 'odd filter=up' > .gitattributes`,
		"pointers": `printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5\n' 0 > odd; git add odd; git commit -qm odd; echo 'odd filter=lfs diff=lfs merge=lfs -text' > .gitattributes`,
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLab(t, "true")
			l.Sh(given + `; git add .gitattributes; git commit -qm attributes`)
			y := l.inSlots(l.slotOptions())
			y.l.run.o.Epic.Protected = []string{"odd"}
			const touch = "touch -d yesterday odd; "
			if f := y.does("T1", touch+"git status >/dev/null").Result; f.Outcome == attempts.Success || len(f.Receipt.FilesChanged) > 0 {
				t.Errorf("did nothing: %s, %q changed, %s", f.Outcome, f.Receipt.FilesChanged, texts(f.Notes))
			}
			for id, script := range map[string]string{"T2": "echo 1 > one", "T3": "echo 2 > two; git add -A; git commit -qm two"} {
				f := y.does(id, touch+script).Result
				if f.Outcome != attempts.Success || f.Gate != "" || strings.Contains(texts(f.Notes), "protected") {
					t.Errorf("%s: %s, gate %q: %s, %q", id, f.Outcome, f.Gate, f.Receipt.ErrorSummary, texts(f.Notes))
				}
			}
			if f := y.does("T4", "echo mine > odd").Result; f.Outcome != attempts.Tamper {
				t.Errorf("a change of it: %s", f.Outcome)
			}
			if stay, err := y.life.Close(t.Context()); err != nil || len(stay) > 0 {
				t.Errorf("stays: %q, %v", stay, err)
			}
		})
	}
}
