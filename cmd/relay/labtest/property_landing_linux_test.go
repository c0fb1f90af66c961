package labtest

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// rounds is how many random nights TestLandingProperties makes. CI makes 40, .ci/long 1,000, a soak thousands:
// go test ./cmd/relay/labtest -run TestLandingProperties -timeout 0 -args -rounds 3000 -seed 7
var (
	rounds = flag.Int("rounds", 1, "random nights of TestLandingProperties")
	seed   = flag.Uint64("seed", 1, "of the first of them")
)

// Whatever agents do to each other and whenever relay is killed: the integration branch is whole at every step of its
// own line, holds exactly the tasks that are completed, every byte an agent wrote is reachable, and nothing is left in
// the user's way.
func TestLandingProperties(t *testing.T) {
	if *rounds == 1 {
		needsMore(t)
	}
	t.Parallel()
	n := *rounds
	if raceEnabled || testing.Short() {
		n = min(n, 5) // scripts reach the same goroutines in less time
	}
	var together atomic.Int32
	t.Cleanup(func() {
		t.Logf("work landed together in %d of %d nights", together.Load(), n)
		if n >= 100 && together.Load() == 0 && !t.Failed() {
			t.Error("nothing has landed together with others")
		}
	})
	for i := range n {
		round := *seed + uint64(i)
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			if landingRound(t, rand.New(rand.NewPCG(round, 99))) {
				together.Add(1)
			}
		})
	}
}

// whole is the epic's check: what is used is defined.
const whole = `for u in uses/*; do test -e "$u" || continue; test -e "defs/$(cat "$u")" || { echo "$u uses $(cat "$u")"; exit 1; }; done`

// landingRound makes one night and looks at what is left of it. It reports whether anything landed together.
func landingRound(t *testing.T, dice *rand.Rand) bool {
	t.Helper()
	l, made := landingLab(t, dice)
	u := newUser(l, made, dice)
	for range dice.IntN(4) {
		point := []string{"append.before-write", "append.torn-write", "append.after-sync", "replace.after-rename"}[dice.IntN(4)]
		r := l.prepared([]string{fmt.Sprintf("%s=%s#%d=kill", project.FaultVariable, point, 1+dice.IntN(6*len(made)))}, "work")
		u.during(r)
	}
	r := l.prepared(nil, "work")
	u.during(r)
	if code := r.code(); code != terminal.OK && code != terminal.Gated {
		t.Errorf("exit code %d; the last run said\n%s", code, &r.stderr)
	}
	l.quiet()
	log := l.run("ledger", "log").stdout.String()
	u.undisturbed()
	l.landedWhole()
	l.landedExactly(log)
	l.nothingLost(l.left(r.stderr.String()))
	if got := l.git("for-each-ref", "--format=%(refname)", "refs/heads/relay-tasks"); got != "" {
		t.Errorf("branches of tasks are left: %s", got)
	}
	if t.Failed() {
		t.Logf("stderr of the last run:\n%s\nall events:\n%s\nrefs:\n%s\nwhat agents' commands said:\n%s", r.stderr.String(), log, l.git("for-each-ref"), l.read(l.inHome("said")))
	}
	return strings.Contains("\n"+l.git("log", "--first-parent", "--format=%s", "main.."+landingBranch), "\nLand ")
}

// staying is what is said of a worktree that is left: a kill came before it was put away, or it has a repository in it.
var staying = regexp.MustCompile(` the worktree (\S+) was not removed: (a rebase in it is half done|changes in no commit: |commits that are nowhere else: [0-9]+;|repositories of their own inside it: sub;)`)

// left wants that worktrees that are left are told, and returns them.
func (l *lab) left(said string) []string {
	l.t.Helper()
	var told []string
	for _, m := range staying.FindAllStringSubmatch(said, -1) {
		told = append(told, l.path(m[1]))
	}
	if got := l.git("worktree", "list"); strings.Contains(got, "\n") {
		l.t.Errorf("the user's repository has worktrees:\n%s", got)
	}
	if left := l.slots(); !slices.Equal(left, told) {
		l.t.Errorf("folders of worktrees are left, and told are %v: %v", told, left)
	}
	return told
}

// belongings is everything of the user's that a night must leave as it is: files, index, HEAD, branch and stash.
func (l *lab) belongings() string {
	l.t.Helper()
	return l.inFront() + "stash " + l.git("stash", "list") + "\n"
}

// inFront is what the user has in front of them: files, index, HEAD and branch.
func (l *lab) inFront() string {
	l.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(l.root, path)
		if d.IsDir() {
			if slices.Contains([]string{".git", ".agents-os", ".ledger", ".ledgersync", "thoughts"}, rel) { // all but the first are relay's
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", rel, sha256.Sum256(text))
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	fmt.Fprintf(&b, "index %x\nHEAD %s", sha256.Sum256([]byte(l.read(".git/index"))), l.read(".git/HEAD"))
	fmt.Fprintf(&b, "main %s\n", l.git("rev-parse", "main"))
	return b.String()
}

const landingBranch = "relay/20260101-lab"

// landedWhole wants the epic's check to pass at every commit of the branch's own line.
func (l *lab) landedWhole() {
	l.t.Helper()
	for commit := range strings.FieldsSeq(l.git("rev-list", "--first-parent", "main.."+landingBranch)) {
		defs := strings.Fields(l.git("ls-tree", "-r", "--name-only", commit, "defs/"))
		for use := range strings.FieldsSeq(l.git("ls-tree", "-r", "--name-only", commit, "uses/")) {
			if def := l.git("show", commit+":"+use); !slices.Contains(defs, "defs/"+def) {
				l.t.Errorf("%s is red: %s uses %s, and there is only %v\n%s", commit, use, def, defs, l.git("log", "--graph", "--oneline", landingBranch))
			}
		}
	}
}

// landedExactly wants the branch to hold the work of the completed tasks and of no other. What another task has removed
// that landed later is told.
func (l *lab) landedExactly(log string) {
	l.t.Helper()
	var done []string
	got, removed := l.git("ls-tree", "-r", "--name-only", landingBranch, "own/"), strings.Fields(l.read(l.inHome("removed")))
	for id, status := range l.ledger().TaskStatus {
		if status == "completed" && l.read(l.inHome("kinds/"+id)) != "idle" {
			if own := "own/" + id; strings.Contains(got+"\n", own+"\n") || !slices.Contains(removed, id) {
				done = append(done, own)
			} else if !strings.Contains(log, "a check of "+id+" fails by now") {
				l.t.Errorf("nobody is told that %s is gone", own)
			}
		}
		if status == "in_progress" {
			l.t.Errorf("%s is still in progress", id)
		}
	}
	slices.Sort(done)
	if want := strings.Join(done, "\n"); got != want {
		l.t.Errorf("the branch holds:\n%s\nwant:\n%s", got, want)
	}
	for line := range strings.Lines(l.git("log", "--invert-grep", "--grep=^Merge branch 'main' into relay/", "--format=%h %(trailers:key=Relay-Epic,valueonly,separator=%x2C) %(trailers:key=Relay-Task,valueonly,separator=%x2C) %(trailers:key=Relay-Attempt,valueonly,separator=%x2C)", "main.."+landingBranch)) {
		if len(strings.Fields(line)) != 4 {
			l.t.Errorf("a commit lacks trailers: %s", line)
		}
	}
	if l.git("rev-parse", landingBranch) != l.git("rev-parse", "refs/relay-tip/20260101-lab") {
		l.t.Error("the branch is not where the tip is")
	}
}

// nothingLost wants every token that an agent wrote to be in some commit that a ref leads to, or in a worktree that is
// left.
func (l *lab) nothingLost(left []string) {
	l.t.Helper()
	kept := strings.Split(l.git("log", "--all", "--format=", "--name-only", "--diff-filter=d", "-m", "-z", "--", "tok"), "\x00")
	for token := range strings.SplitSeq(strings.TrimSuffix(l.read(l.inHome("tokens")), "\x00"), "\x00") {
		there := func(worktree string) bool { return git.Exists(filepath.Join(worktree, token)) }
		if !slices.Contains(kept, token) && !slices.ContainsFunc(left, there) {
			l.t.Errorf("%q is lost", token)
		}
	}
}
