package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

func TestStampKeepsWhatItDoesNotAdd(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			l := newLand(t, "--object-format="+format)
			base := l.Git("rev-parse", "HEAD")
			l.Sh(`git checkout -q -b relay-tasks/lab/T1
				export GIT_AUTHOR_NAME='Ünï' GIT_AUTHOR_EMAIL=u@x GIT_AUTHOR_DATE='1234567890 -0730' GIT_COMMITTER_DATE='1234567891 +1200'
				git commit -q --allow-empty --allow-empty-message -m ''
				printf 'caf\351\r\n' > ../m; git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty --cleanup=verbatim -F ../m
				git checkout -q -b side HEAD~1; echo x > x; git add x; git commit -q -m Side
				git checkout -q relay-tasks/lab/T1; git merge -q --no-ff -m Merge side
				tree=$(git rev-parse HEAD^{tree}); parent=$(git rev-parse HEAD)
				printf 'tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n' $tree $parent > ../raw
				printf 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\nextra field\n\nSigned' >> ../raw
				git reset -q --soft $(git hash-object -t commit -w ../raw)`)
			head := l.Git("rev-parse", "HEAD")
			branch := NewBranch(l.Open(), "lab", Merge)
			stamp := func(head string) string {
				t.Helper()
				return repotest.Want[string](t)(branch.AddTrailers(t.Context(), AttemptCommits{Base: base, Head: head, Trailers: stamps}))
			}
			stamped := stamp(head)
			for _, what := range []string{"%an %ae %ad %cn %ce %cd %T %e", "%s"} {
				show := func(head string) string {
					return l.Git("-c", "i18n.logOutputEncoding=UTF-8", "log", "--topo-order", "--date=raw", "--format="+what, base+".."+head)
				}
				old, now := show(head), show(stamped)
				if what == "%s" {
					now = strings.TrimSpace(strings.Replace(now, "(no message)", "", 1))
				}
				if old != now {
					t.Errorf("%s was\n%s\nand is\n%s", what, old, now)
				}
			}
			for hash := range strings.FieldsSeq(l.Git("rev-list", base+".."+stamped)) {
				if got := l.Git("log", "-1", "--format=%(trailers)", hash); got != strings.Join(stamps, "\n") {
					t.Errorf("the trailers of %s are %q", hash, got)
				}
			}
			if shape := l.Git("log", "--topo-order", "--format=%P", base+".."+stamped); len(strings.Fields(shape)) != 6 || !strings.Contains(shape, base) {
				t.Errorf("the history is %s", shape)
			}
			if raw := l.Git("cat-file", "commit", stamped); strings.Contains(raw, "gpgsig") || !strings.Contains(raw, "\nextra field\n") {
				t.Errorf("the last commit is\n%s", raw)
			}
			l.Git("fsck", "--strict", "--no-dangling", stamped)
			if again := stamp(stamped); again != stamped {
				t.Error("a stamped head is stamped again")
			}
			if again := stamp(head); again != stamped {
				t.Error("the same commits get other names")
			}
			if nothing := stamp(base); nothing != base {
				t.Error("a head that is its base is stamped")
			}
		})
	}
}

// What an attempt has only taken in keeps its name: what landed, what the user did meanwhile, what a remote has.
func TestStampLeavesTheWorkOfOthers(t *testing.T) {
	t.Parallel()
	for name, theirs := range map[string]string{
		"landed":      `git update-ref refs/relay-tip/lab theirs`,
		"the user's":  `git checkout -q -B main theirs`,
		"of a remote": `git update-ref refs/remotes/origin/main theirs`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLand(t)
			base := l.Git("rev-parse", "HEAD")
			l.Sh(`git checkout -q --detach; GIT_COMMITTER_DATE='1234567890 +0000' git commit -q --allow-empty -m Theirs; git tag theirs
				git checkout -q -b relay-tasks/lab/T1 main; git commit -q --allow-empty -m Mine; git merge -q -m 'Take in' theirs
				git commit -q --allow-empty -m More; git checkout -q main; ` + theirs)
			head := repotest.Want[string](t)(NewBranch(l.Open(), "lab", Merge).AddTrailers(t.Context(), AttemptCommits{Base: base, Head: l.Git("rev-parse", "relay-tasks/lab/T1"), Began: time.Unix(1234567891, 0), Trailers: stamps}))
			if got := l.Git("log", "--topo-order", "--format=%s %(trailers:key=Relay-Task,valueonly,separator=%x2C)", base+".."+head); got != "More T1\nTake in T1\nTheirs \nMine T1" &&
				got != "More T1\nTake in T1\nMine T1\nTheirs" {
				t.Errorf("history is\n%s", got)
			}
			l.Git("merge-base", "--is-ancestor", "theirs", head)
		})
	}
}

// What an attempt has pushed is its own, also where it had taken in what a remote had before.
func TestStampMarksWhatWasPushed(t *testing.T) {
	t.Parallel()
	for name, push := range map[string]string{"all of it": "HEAD", "a part": "HEAD~1", "nothing": "theirs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLand(t)
			base := l.Git("rev-parse", "HEAD")
			l.Sh(`git init -q --bare ../up; git remote add origin ../up; git checkout -q --detach
				GIT_COMMITTER_DATE='1234567890 +0000' git commit -q --allow-empty -m Theirs; git tag theirs; git push -q origin HEAD:refs/heads/lib
				git checkout -q -b relay-tasks/lab/T1 main; git commit -q --allow-empty -m Mine; git merge -q -m 'Take in' theirs
				git commit -q --allow-empty -m More; git push -q origin ` + push + `:refs/heads/mine; git checkout -q main`)
			head := repotest.Want[string](t)(NewBranch(l.Open(), "lab", Merge).AddTrailers(t.Context(), AttemptCommits{Base: base, Head: l.Git("rev-parse", "relay-tasks/lab/T1"), Began: time.Unix(1234567891, 0), Trailers: stamps}))
			if got := l.Git("log", "--topo-order", "--format=%s %(trailers:key=Relay-Task,valueonly,separator=%x2C)", base+".."+head); got != "More T1\nTake in T1\nTheirs \nMine T1" &&
				got != "More T1\nTake in T1\nMine T1\nTheirs" {
				t.Errorf("history is\n%s", got)
			}
			l.Git("merge-base", "--is-ancestor", "theirs", head)
		})
	}
}

// A user who looks at a task's branch is not taken for its author.
func TestStampWhileTheUserLooks(t *testing.T) {
	t.Parallel()
	l := newLand(t)
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`git checkout -q -b relay-tasks/lab/T1; git commit -q --allow-empty -m Mine`)
	if head := l.Git("rev-parse", "HEAD"); repotest.Want[string](t)(NewBranch(l.Open(), "lab", Merge).AddTrailers(t.Context(), AttemptCommits{Base: base, Head: head, Trailers: stamps})) == head {
		t.Error("not stamped")
	}
}

func TestStampHasABound(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	l := newLand(t)
	base := l.Git("rev-parse", "HEAD")
	var many strings.Builder
	for i := range mostCommits + 1 {
		fmt.Fprintf(&many, "commit refs/heads/many\ncommitter A <a@b> %d +0000\ndata 2\nx\n", i)
		if i == 0 {
			fmt.Fprintf(&many, "from %s\n", base)
		}
	}
	l.Write(".git/many", many.String())
	l.Sh(`git fast-import --quiet < .git/many`)
	branch := NewBranch(l.Open(), "lab", Merge)
	if _, err := branch.AddTrailers(t.Context(), AttemptCommits{Base: base, Head: l.Git("rev-parse", "many"), Trailers: stamps}); !errors.As(err, new(*UnfitError)) || err.Error() != "the work has more than 2000 commits" {
		t.Errorf("%d commits are stamped: %v", mostCommits+1, err)
	}
	head := repotest.Want[string](t)(branch.AddTrailers(t.Context(), AttemptCommits{Base: base, Head: l.Git("rev-parse", "many~1"), Trailers: stamps}))
	if n := l.Git("rev-list", "--count", "--grep=^Relay-Attempt: 2$", base+".."+head); n != fmt.Sprint(mostCommits) {
		t.Errorf("%s commits are stamped", n)
	}
}

func TestStampReadsNoEndlessMessages(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	l := newLand(t)
	base := l.Git("rev-parse", "HEAD")
	head := l.Sh(`head -c 70000000 /dev/zero | tr '\0' x | git commit-tree -p HEAD HEAD^{tree}`)
	_, err := NewBranch(l.Open(), "lab", Merge).AddTrailers(t.Context(), AttemptCommits{Base: base, Head: head, Trailers: stamps})
	if !errors.As(err, new(*UnfitError)) || err.Error() != "the messages of the work's commits are too long to be read" {
		t.Errorf("got %v", err)
	}
}
