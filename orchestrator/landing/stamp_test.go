package landing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/repotest"
	"relay/reanchor"
)

var stamps = []string{"Relay-Epic: lab", "Relay-Task: T1", "Relay-Attempt: 2"}

// agentMessages are what agents write; what git cannot tell from trailers is left to it.
var agentMessages = map[string]string{
	"title":            "Fix it\n",
	"body":             "Fix it\n\nBecause it was broken.\n",
	"signed":           "Fix it\n\nBecause.\n\nSigned-off-by: Ada <ada@example.com>\n",
	"trailers only":    "Fix it\n\nCo-authored-by: Bob <b@example.com>\nRefs: #1\n",
	"continued":        "Fix it\n\nNote: this is\n  long\nRefs: #1\n",
	"prose with colon": "Fix it\n\nNote: this\nis not a trailer\n",
	"mostly prose":     "Fix it\n\na\nb\nc\nd\ne\nSigned-off-by: Ada <a@b>\n",
	"quarter":          "Fix it\n\na\nb\nc\nSigned-off-by: Ada <a@b>\n",
	"cherry":           "Fix it\n\nBecause.\n(cherry picked from commit 0123456789012345678901234567890123456789)\n",
	"title with colon": "fix: it\n",
	"title like one":   "Refs: #1\nSigned-off-by: Ada <a@b>\n",
	"there":            "Fix it\n\nRelay-Epic: lab\nRelay-Task: T1\nRelay-Attempt: 2\n",
	"partly there":     "Fix it\n\nRelay-Task: T1\nRefs: #2\n",
	"another's":        "Fix it\n\nRelay-Task: T9\n",
	"divider":          "Fix it\n\n---\n a.txt | 1 +\n",
	"not utf-8":        "Fix caf\xe9\n\nBecause \xff\xfe.\n",
	"space in a name":  "Fix it\n\nSome thing: x\n",
	"dashes":           "Fix it\n\n-: x\n",
	"spaces":           "Fix it\n   \nRefs: 1\n",
}

// What relay adds is what git interpret-trailers adds.
func TestTrailersAreAddedAsGitAddsThem(t *testing.T) {
	t.Parallel()
	for name, message := range agentMessages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"interpret-trailers", "--no-divider", "--if-exists=addIfDifferent"}
			for _, s := range stamps {
				args = append(args, "--trailer", s)
			}
			out, err := reanchor.Run(t.Context(), reanchor.Call{Dir: t.TempDir(), Args: args, Stdin: strings.NewReader(message)})
			if err != nil {
				t.Fatal(err)
			}
			got, want := withTrailers(message, stamps), string(out)
			if strings.TrimRight(got, "\n ") != strings.TrimRight(want, "\n ") {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if again := withTrailers(got, stamps); again != got {
				t.Errorf("again it is %q", again)
			}
		})
	}
}

// Whatever a message is, git finds the trailers in the commit, and the rest is as it was.
func FuzzTrailers(f *testing.F) {
	for _, message := range agentMessages {
		f.Add(message)
	}
	for _, message := range []string{
		"Fix it", "Fix it\n\nBecause.\n\n \n\n", "Fix it\r\n\r\nBecause.\r\n\r\nSigned-off-by: Ada <a@b>\r\n", "Fix it\n\nRefs : x\n", "Fix it\n\nhttps://example.com/x\n", // git writes these trailers anew
		"", "\n", "\n\nx: y", "#\n\n# c: d\n", "x\n\nConflicts:\n\ta\n", "\r\n", "a\n\n\tb: c\n", "a\r\n\r\nb\rc: d", "0\n\nRelay-Epic: lab\n 0", "a\n\u00a0\nb: c\n", "a\n\v\nb: c\n",
	} {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if strings.ContainsAny(message, "\x00") {
			t.Skip("no message of a commit")
		}
		got := withTrailers(message, stamps)
		if again := withTrailers(got, stamps); again != got {
			t.Errorf("%q becomes %q, and then %q", message, got, again)
		}
		if kept := strings.TrimSpace(message); !strings.HasPrefix(strings.TrimSpace(got), kept) {
			t.Errorf("%q becomes %q", message, got)
		}
		out, err := reanchor.Run(t.Context(), reanchor.Call{Args: []string{"interpret-trailers", "--parse", "--no-divider"}, Stdin: strings.NewReader(strings.TrimLeft(got, "\n"))})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stamps {
			if !slices.Contains(strings.Split(string(out), "\n"), s) {
				t.Errorf("%q becomes %q; git reads %q", message, got, out)
			}
		}
	})
}

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
				git checkout -q -b side HEAD~1; echo x > x; git add x; git commit -q -m Side; git checkout -q relay-tasks/lab/T1; git merge -q --no-ff -m Merge side
				tree=$(git rev-parse HEAD^{tree}); parent=$(git rev-parse HEAD)
				printf 'tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\nextra field\n\nSigned' $tree $parent > ../raw
				git reset -q --soft $(git hash-object -t commit -w ../raw)`)
			head := l.Git("rev-parse", "HEAD")
			trunk := NewTrunk(l.Open(), "lab", Merge)
			stamped := repotest.Want[string](t)(trunk.Stamp(t.Context(), base, head, time.Time{}, stamps))
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
			for _, hash := range strings.Fields(l.Git("rev-list", base+".."+stamped)) {
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
			if again := repotest.Want[string](t)(trunk.Stamp(t.Context(), base, stamped, time.Time{}, stamps)); again != stamped {
				t.Error("a stamped head is stamped again")
			}
			if again := repotest.Want[string](t)(trunk.Stamp(t.Context(), base, head, time.Time{}, stamps)); again != stamped {
				t.Error("the same commits get other names")
			}
			if nothing := repotest.Want[string](t)(trunk.Stamp(t.Context(), base, base, time.Time{}, stamps)); nothing != base {
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
			head := repotest.Want[string](t)(NewTrunk(l.Open(), "lab", Merge).Stamp(t.Context(), base, l.Git("rev-parse", "relay-tasks/lab/T1"), time.Unix(1234567891, 0), stamps))
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
			head := repotest.Want[string](t)(NewTrunk(l.Open(), "lab", Merge).Stamp(t.Context(), base, l.Git("rev-parse", "relay-tasks/lab/T1"), time.Unix(1234567891, 0), stamps))
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
	if head := l.Git("rev-parse", "HEAD"); repotest.Want[string](t)(NewTrunk(l.Open(), "lab", Merge).Stamp(t.Context(), base, head, time.Time{}, stamps)) == head {
		t.Error("not stamped")
	}
}

func TestStampHasABound(t *testing.T) {
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
	trunk := NewTrunk(l.Open(), "lab", Merge)
	if _, err := trunk.Stamp(t.Context(), base, l.Git("rev-parse", "many"), time.Time{}, stamps); !errors.As(err, new(*UnfitError)) || err.Error() != "the work has more than 2000 commits" {
		t.Errorf("%d commits are stamped: %v", mostCommits+1, err)
	}
	head := repotest.Want[string](t)(trunk.Stamp(t.Context(), base, l.Git("rev-parse", "many~1"), time.Time{}, stamps))
	if n := l.Git("rev-list", "--count", "--grep=^Relay-Attempt: 2$", base+".."+head); n != fmt.Sprint(mostCommits) {
		t.Errorf("%s commits are stamped", n)
	}
}

func TestStampReadsNoEndlessMessages(t *testing.T) {
	t.Parallel()
	l := newLand(t)
	base := l.Git("rev-parse", "HEAD")
	head := l.Sh(`head -c 70000000 /dev/zero | tr '\0' x | git commit-tree -p HEAD HEAD^{tree}`)
	_, err := NewTrunk(l.Open(), "lab", Merge).Stamp(t.Context(), base, head, time.Time{}, stamps)
	if !errors.As(err, new(*UnfitError)) || err.Error() != "the messages of the work's commits are too long to be read" {
		t.Errorf("got %v", err)
	}
}
