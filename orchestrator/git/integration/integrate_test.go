package integration

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

// landed shows what is on top of a commit along first parents: title, number of parents, files changed.
func (l *lab) steps(base, tip string) string {
	l.Helper()
	var steps []string
	for hash := range strings.FieldsSeq(l.Git("rev-list", "--first-parent", "--reverse", base+".."+tip)) {
		files := strings.Fields(l.Git("diff", "--name-only", hash+"^1", hash))
		parents := len(strings.Fields(l.Git("log", "-1", "--format=%P", hash)))
		steps = append(steps, l.Git("log", "-1", "--format=%s", hash)+" "+strings.Repeat("^", parents)+" "+strings.Join(files, ","))
	}
	return strings.Join(steps, "; ")
}

// sides is a trunk that went on, and a task that has not seen that.
const sides = `add() { echo "$2" > "$1"; git add -A; git commit -q -m "$1"; }
	git checkout -q -b trunk; add t1 x; git tag base; `

// A ledger to which both have added has the lines of both, and each once where git sees a conflict.
func TestJoinUnitesLedgers(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode]string{Merge: "0\n3\nboth\n1\n2", Rebase: "0\n3\nboth\n1\nboth\n2", Squash: "0\n3\nboth\n1\n2"} {
		l := newLand(t)
		l.Sh(sides + `log() { echo "$1" >> .ledgersync/ledger.jsonl; add "$1" x; }; mkdir .ledgersync; log 0
			git checkout -q -b task; log 1; log both; log 2; git checkout -q trunk; log 3; log both`)
		task := l.Git("rev-parse", "task")
		merged, err := NewBranch(l.Open(), "lab", mode).Integrate(t.Context(), l.Git("rev-parse", "trunk"), task, MergeInput{Message: "Land\n"})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Git("show", merged.Commit+":.ledgersync/ledger.jsonl"); got != want {
			t.Errorf("%s: got %q, want %q", mode, got, want)
		}
	}
}

// squashed is how a squash lands what a merge lands in one step.
func squashed(merge string) string {
	_, files, landed := strings.Cut(merge, "^ ")
	switch {
	case !landed:
		return merge
	case files == "":
		return ""
	}
	return "Squashed ^ " + files
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, merge, rebase string }{
		"moved, one commit": {
			given: `git checkout -q -b task; add a 1; git checkout -q trunk; add t2 x`,
			merge: "a ^ a", rebase: "a ^ a",
		},
		"moved, three commits": {
			given: `git checkout -q -b task; add a 1; add b 1; add a 2; git checkout -q trunk; add t2 x`,
			merge: "Land ^^ a,b", rebase: "Land ^^ a,b",
		},
		"not moved, one commit":    {given: `git checkout -q -b task; add a 1`, merge: "a ^ a", rebase: "a ^ a"},
		"not moved, two commits":   {given: `git checkout -q -b task; add a 1; add b 1`, merge: "Land ^^ a,b", rebase: "Land ^^ a,b"},
		"rounds left uncommitted":  {given: `git checkout -q -b task; for f in a b; do echo 1 > $f; git add $f; git commit -q -m S; done; git checkout -q trunk; add t2 x`, merge: "S ^ a,b", rebase: "S ^ a,b"},
		"nothing":                  {given: `git branch task; add t2 x`},
		"landed before":            {given: `git checkout -q -b task; add a 1; git checkout -q trunk; add t2 x; git merge -q -m m task`},
		"same tip":                 {given: `git branch task`},
		"with a merge in it":       {given: `git checkout -q -b side; add s 1; git checkout -q -b task base; add a 1; git merge -q -m m side; git checkout -q trunk; add t2 x`, merge: "Land ^^ a,s", rebase: "Land ^^ a,s"},
		"trunk taken in":           {given: `git checkout -q -b task; add a 1; git checkout -q trunk; add t2 x; git checkout -q task; git merge -q -m m trunk`, merge: "Land ^^ a", rebase: "Land ^^ a"},
		"the same change":          {given: `git checkout -q -b task; add a 1; git checkout -q trunk; add t2 x; add a 1`, merge: "Land ^^ "},
		"half of it there":         {given: `git checkout -q -b task; add a 1; add b 1; git checkout -q trunk; add t2 x; add a 1`, merge: "Land ^^ b", rebase: "b ^ b"},
		"an empty commit":          {given: `git checkout -q -b task; add a 1; git commit -q --allow-empty -m E; git checkout -q trunk; add t2 x`, merge: "Land ^^ a", rebase: "Land ^^ a"},
		"renamed there, edited":    {given: `git checkout -q -b task; seq 9 > seed.txt; add seed.txt y; git checkout -q trunk; git mv seed.txt moved.txt; add t2 x`, merge: "seed.txt ^ moved.txt", rebase: "seed.txt ^ moved.txt"},
		"lines apart":              {given: `seq 20 > f; add l x; git checkout -q -b task; sed -i 1d f; add a 1; git checkout -q trunk; sed -i '$d' f; add t2 x`, merge: "a ^ a,f", rebase: "a ^ a,f"},
		"conflict on the way only": {given: `git checkout -q -b task; echo mine > f; add a 1; add f both; git checkout -q trunk; add a 1; add f both`, merge: "Land ^^ ", rebase: "conflict"},
		"attributes of the checkout": {
			given: `git checkout -q -b task; echo mine >> seed.txt; add a 1; git checkout -q trunk; echo 'seed.txt merge=union' > .gitattributes; echo theirs >> seed.txt; add t2 x`,
			merge: "a ^ a,seed.txt", rebase: "a ^ a,seed.txt",
		},
		"both add to the ledger": {
			given: `log() { mkdir -p .ledgersync; echo "{\"id\":\"$1\"}" >> .ledgersync/ledger.jsonl; add "$1" "$1"; }; ` +
				`log 0; git checkout -q -b task; log 1; log 2; git checkout -q trunk; log 3`,
			merge: "Land ^^ .ledgersync/ledger.jsonl,1,2", rebase: "Land ^^ .ledgersync/ledger.jsonl,1,2",
		},
		"a ledger there and here": {
			given: `mkdir .ledgersync; git checkout -q -b task; echo 1 > .ledgersync/ledger.jsonl; add a 1; git checkout -q trunk; mkdir -p .ledgersync; echo 2 > .ledgersync/ledger.jsonl; add t2 x`,
			merge: "a ^ .ledgersync/ledger.jsonl,a", rebase: "a ^ .ledgersync/ledger.jsonl,a",
		},
		"a ledger and another file": {
			given: `mkdir .ledgersync; git checkout -q -b task; echo 1 > .ledgersync/ledger.jsonl; add a 1; git checkout -q trunk; mkdir -p .ledgersync; echo 2 > .ledgersync/ledger.jsonl; add a x`,
			merge: "conflict", rebase: "conflict",
		},
		"a ledger that is gone": {
			given: `mkdir .ledgersync; echo 0 > .ledgersync/ledger.jsonl; add t0 x; git checkout -q -b task; echo 1 >> .ledgersync/ledger.jsonl; add a 1; git checkout -q trunk; git rm -q .ledgersync/ledger.jsonl; add t2 x`,
			merge: "conflict", rebase: "conflict",
		},
		"odd names": {given: `git checkout -q -b task; add "$(printf 'a\nb')" 1; add -- 1; git checkout -q trunk; add ':x' x`, merge: "Land ^^ --,\"a\\nb\"", rebase: "Land ^^ --,\"a\\nb\""},
	} {
		for mode, landed := range map[Mode]string{Merge: c.merge, Rebase: c.rebase, Squash: squashed(c.merge)} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				slowtest.OneIn(t, 6)
				t.Parallel()
				l := newLand(t)
				l.Sh(sides + c.given + `; git checkout -q trunk`)
				before := l.Sh(`git status --porcelain; git for-each-ref; cat .git/index | cksum`)
				tip := l.Git("rev-parse", "trunk")
				merged, err := NewBranch(l.Open(), "lab", mode).Integrate(t.Context(), tip, l.Git("rev-parse", "task"), MergeInput{Message: "Land\n\nRelay-Task: T1\n", Squash: "Squashed\n"})
				var conflict *ConflictError
				if errors.As(err, &conflict) != (landed == "conflict") || err != nil && conflict == nil {
					t.Fatal(err)
				}
				if err == nil && l.steps(tip, merged.Commit) != landed {
					t.Errorf("landed %q, want %q", l.steps(tip, merged.Commit), landed)
				}
				if err == nil {
					l.Git("fsck", "--strict", "--no-dangling", merged.Commit)
					if lacks := l.Git("rev-list", "--max-count=1", "task", "^"+merged.Commit) != ""; merged.Anew != lacks {
						t.Errorf("it says anew: %v, and its history lacks the task's commits: %v", merged.Anew, lacks)
					}
				}
				if after := l.Sh(`git status --porcelain; git for-each-ref; cat .git/index | cksum`); after != before {
					t.Errorf("before\n%s\nafter\n%s", before, after)
				}
			})
		}
	}
}

// What a task has taken in of others keeps its name: it is merged where its own commits would be replayed.
func TestOthersCommitsAreNotReplayed(t *testing.T) {
	t.Parallel()
	for name, theirs := range map[string]string{
		"followed": `git merge -q --ff-only user`,
		"merged":   `add mine 1; git merge -q -m m user`,
		"many":     `many; git merge -q -m m user`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLand(t)
			l.Sh(`many() { { i=0; while [ $i -lt 2001 ]; do printf 'commit refs/heads/user\ncommitter A <a@b> %d +0000\ndata 2\nx\n' $i; [ $i -gt 0 ] || echo "from $(git rev-parse user)"; i=$((i+1)); done; } | git fast-import --quiet; }
				` + sides + `git checkout -q -b user; add user 1; git checkout -q -b task base; ` + theirs + `; git commit -q --allow-empty -m 'Mine

Relay-Task: T1'; git checkout -q trunk; add t2 x`)
			merged := repotest.Want[Integrated](t)(NewBranch(l.Open(), "lab", Rebase).Integrate(t.Context(), l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task"),
				MergeInput{Base: l.Git("rev-parse", "base"), Message: "Land\n", Trailers: []string{"Relay-Task: T1"}}))
			l.Git("merge-base", "--is-ancestor", "user", merged.Commit)
			if got := l.steps(l.Git("rev-parse", "trunk"), merged.Commit); !strings.HasPrefix(got, "Land ^^ ") {
				t.Errorf("landed %q", got)
			}
		})
	}
}

func TestReplayKeepsTheAuthor(t *testing.T) {
	t.Parallel()
	l := newLand(t)
	l.Sh(sides + `git checkout -q -b task; export GIT_AUTHOR_NAME='Ünï' GIT_AUTHOR_EMAIL=u@x GIT_AUTHOR_DATE='1234567890 -0730' GIT_COMMITTER_DATE='1234567891 +1200'
		add a 1; printf 'caf\351' > ../m; echo 2 > a; git -c i18n.commitEncoding=ISO-8859-1 commit -q -a --cleanup=verbatim -F ../m; git checkout -q trunk; add t2 x`)
	for _, unset := range []string{"user.name", "user.email"} {
		l.Git("config", "--unset", unset)
	}
	l.Git("config", "user.useConfigOnly", "true") // else git makes up a name
	tip, head := l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task")
	merged := repotest.Want[Integrated](t)(NewBranch(l.Open(), "lab", Rebase).Integrate(t.Context(), tip, head, MergeInput{Message: "Land\n"}))
	show := func(head, what string) string {
		return l.Git("log", "--topo-order", "--date=raw", "--format="+what, tip+".."+head, "--")
	}
	if old, now := show(head, "%an %ae %ad %e %B"), show(merged.Commit+"^2", "%an %ae %ad %e %B"); old != now {
		t.Errorf("they were\n%s\nand are\n%s", old, now)
	}
	if got := show(merged.Commit, "%ct"); strings.Contains(got, "1234567891") {
		t.Errorf("committed %s", got)
	}
}

func TestConflictsAreTold(t *testing.T) {
	t.Parallel()
	const start = `add() { echo "$2" > "$1"; git add -A; git commit -q -m "$1"; }
		seq 30 > f; printf 'a\0b' > bin; mkdir d; echo x > d/x; seq 10 > r; git add -A; git commit -q -m base; git branch trunk; git checkout -q -b task; `
	for name, c := range map[string]struct {
		task, trunk string
		files       []string
		text        []string // found in it
	}{
		"lines": {
			task: `sed -i 's/^15$/mine/' f; add a 1`, trunk: `sed -i 's/^15$/theirs/' f; add b 1`, files: []string{"f"},
			text: []string{"CONFLICT (content): Merge conflict in f", "\nf:\n@ line 12\n12\n13\n14\n<<<<<<< relay/lab\ntheirs\n=======\nmine\n>>>>>>> this task\n16\n17\n18\n"},
		},
		"longer marks": {
			task: `echo 'f conflict-marker-size=20' > .gitattributes; sed -i 's/^15$/mine/' f; add a 1`, trunk: `echo 'f conflict-marker-size=20' > .gitattributes; sed -i 's/^15$/theirs/' f; add b 1`, files: []string{"f"},
			text: []string{"\nf:\n@ line 12\n12\n13\n14\n<<<<<<<<<<<<<<<<<<<< relay/lab\ntheirs\n====================\nmine\n>>>>>>>>>>>>>>>>>>>> this task\n16\n17\n18\n"},
		},
		"two hunks":          {task: `sed -i 's/^1$/m/;s/^30$/m/' f; add a 1`, trunk: `sed -i 's/^1$/t/;s/^30$/t/' f; add b 1`, files: []string{"f"}, text: []string{"@ line 1\n<<<<<<<", "@ line 31\n27\n28\n29\n<<<<"}},
		"binary":             {task: `printf 'a\0c' > bin; add a 1`, trunk: `printf 'a\0d' > bin; add b 1`, files: []string{"bin"}, text: []string{"Cannot merge binary files: bin (relay/lab vs. this task)"}},
		"deleted, changed":   {task: `git rm -q f; add a 1`, trunk: `echo x >> f; add b 1`, files: []string{"f"}, text: []string{"(modify/delete): f deleted in this task"}},
		"both renamed":       {task: `git mv r r1; add a 1`, trunk: `git mv r r2; add b 1`, files: []string{"r", "r1", "r2"}, text: []string{"(rename/rename): r renamed to r2 in relay/lab and to r1 in this task"}},
		"both added":         {task: `echo 1 > n; add a 1`, trunk: `echo 2 > n; add b 1`, files: []string{"n"}, text: []string{"(add/add)", "\nn:\n@ line 1\n<<<<<<< relay/lab\n2\n"}},
		"folder, file":       {task: `git rm -rq d; echo file > d; add a 1`, trunk: `echo y > d/y; add b 1`, files: []string{"d"}, text: []string{"(file/directory)"}},
		"link, file":         {task: `ln -s f n; add a 1`, trunk: `echo 2 > n; add b 1`, files: []string{"n"}, text: []string{"n"}},
		"modes":              {task: `chmod +x f; sed -i 's/^1$/m/' f; add a 1`, trunk: `sed -i 's/^1$/t/' f; add b 1`, files: []string{"f"}, text: []string{"<<<<<<<"}},
		"escapes and a name": {task: `printf '\033[31mred\033[0m\n' > "$(printf 'a\nb')"; add a 1`, trunk: `echo 2 > "$(printf 'a\nb')"; add b 1`, files: []string{"a\nb"}, text: []string{"<<<<<<<"}},
		"submodules": {
			task:  `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -q -m s`,
			trunk: `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD~1),sub; git commit -q -m s`, files: []string{"sub"}, text: []string{"sub"},
		},
		"very much": {task: `seq 1000000 1200000 > f; add a 1`, trunk: `seq 2000000 2200000 > f; add b 1`, files: []string{"f"}, text: []string{"bytes cut]"}},
		"no common": {task: `git checkout -q --orphan o; git commit -q -m o; git branch -f task o`, trunk: `true`, files: nil, text: []string{"the work has no commit in common with the integration branch"}},
	} {
		for _, mode := range []Mode{Merge, Rebase, Squash} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				slowtest.OneIn(t, 6)
				t.Parallel()
				l := newLand(t)
				l.Sh(start + c.task + `; git checkout -qf trunk; ` + c.trunk)
				_, err := NewBranch(l.Open(), "lab", mode).Integrate(t.Context(), l.Git("rev-parse", "trunk"), l.Git("rev-parse", "task"), MergeInput{Message: "Land\n"})
				var conflict *ConflictError
				if !errors.As(err, &conflict) {
					t.Fatalf("no conflict: %v", err)
				}
				if !slices.Equal(conflict.Files, c.files) {
					t.Errorf("files %q, want %q", conflict.Files, c.files)
				}
				for _, text := range c.text {
					if !strings.Contains(conflict.Text, text) {
						t.Errorf("%q is not in\n%s", text, conflict.Text)
					}
				}
				if len(conflict.Text) > conflictText || strings.Contains(conflict.Text, "\x1b") {
					t.Errorf("%d bytes: %q", len(conflict.Text), conflict.Text)
				}
			})
		}
	}
}

// What a batch added is one step of the branch.
func TestCloseABatch(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Merge, Rebase, Squash} {
		l := newLand(t)
		l.Sh(sides + `for n in 1 2 3; do git checkout -q -b task$n base; add a$n 1; done; git checkout -q trunk`)
		branch := NewBranch(l.Open(), "lab", mode)
		tip := l.Git("rev-parse", "trunk")
		chain := tip
		for _, n := range []string{"1", "2", "3"} {
			chain = repotest.Want[Integrated](t)(branch.Integrate(t.Context(), chain, l.Git("rev-parse", "task"+n), MergeInput{Message: "Land " + n + "\n", Squash: "Squash " + n + "\n"})).Commit
		}
		closed := repotest.Want[string](t)(branch.CloseBatch(t.Context(), tip, chain, "Three tasks\n\nRelay-Epic: lab\n"))
		if got := l.steps(tip, closed); got != "Three tasks ^^ a1,a2,a3" {
			t.Errorf("%s: landed %q", mode, got)
		}
		if got := l.Git("log", "-1", "--format=%(trailers)", closed); got != "Relay-Epic: lab" {
			t.Errorf("trailers %q", got)
		}
	}
}
