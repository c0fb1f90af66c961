package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// rounds is how many random nights TestLandingProperties makes; a soak makes thousands:
// go test ./cmd/relay -run TestLandingProperties -timeout 0 -args -rounds 3000 -seed 7
var (
	rounds = flag.Int("rounds", 200, "random nights of TestLandingProperties")
	seed   = flag.Uint64("seed", 1, "of the first of them")
)

// Whatever agents do to each other and whenever relay is killed: the integration branch is whole at every step of its
// own line, holds exactly the tasks that are completed, every byte an agent wrote is reachable, and nothing is left in
// the user's way.
func TestLandingProperties(t *testing.T) {
	t.Parallel()
	n := *rounds
	if raceEnabled || testing.Short() {
		n = min(n, 10)
	}
	var together atomic.Int32
	t.Cleanup(func() {
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

// landingAgent does what its task is called after. It first writes a token that must never be lost.
const landingAgent = `t=$RELAY_TASK
kind=$(cat "$HOME/kinds/$t")
case $kind in
idle*) ok; exit 0;;
esac
mkdir -p tok own uses defs
echo "$t $n" > "tok/$t-$n"
echo "tok/$t-$n" >> "$HOME/tokens"
case $kind in
*flaky*) if [ "$n" -lt 3 ]; then echo junk > junk.txt; git add -A; git commit -qm half; echo more >> seed.txt; bad "not yet"; exit 0; fi;;
*crash*) if [ "$n" -lt 2 ]; then kill -9 $$; fi;;
*broken*) bad "never $n$n$n"; exit 0;;
*halfway*) if [ "$n" -lt 2 ]; then git add -A; git commit -qm one; echo two > two; git add two; git commit -qm two; GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; ok; exit 0; fi;;
*hides*) echo hidden >> seed.txt; git update-index --assume-unchanged seed.txt;;
*liar*) ok; exit 0;;
esac
echo "$t" > "own/$t"
case $kind in
*line*) echo "$t" > line.txt;;
*use*) ls defs | head -n 1 > "uses/$t";;
*rename*) d=$(ls defs | head -n 1); git mv "defs/$d" "defs/$t"; for u in uses/*; do test -e "$u" || continue; if [ "$(cat "$u")" = "$d" ]; then echo "$t" > "$u"; fi; done;;
esac
case $kind in
*commits*) git add own; git commit -qm "$t: one"; git add -A; git commit -qm "$t: two";;
*commit*) git add -A; git commit -qm "$t: work";;
esac
ok "$t did $kind"
`

// landingRound makes one night and looks at what is left of it. It reports whether anything landed together.
func landingRound(t *testing.T, dice *rand.Rand) bool {
	l, tasks := landingLab(t, dice)
	before := l.belongings()
	for range dice.IntN(4) {
		point := []string{"append.before-write", "append.torn-write", "append.after-sync", "replace.after-rename"}[dice.IntN(4)]
		r := l.prepared([]string{fmt.Sprintf("%s=%s#%d=kill", faultVariable, point, 1+dice.IntN(6*len(tasks)))}, "work")
		l.end(l.begin(r))
	}
	r := l.run("work")
	if code := r.code(); code != exitOK && code != exitGated {
		t.Fatalf("exit code %d\n%s", code, r.stderr.String())
	}
	l.quiet()
	if after := l.belongings(); after != before {
		t.Errorf("the user's checkout is not what it was:\n%s\nbefore:\n%s", after, before)
	}
	l.landedWhole()
	l.landedExactly()
	l.nothingLost()
	told := strings.Count(r.stderr.String(), " was not removed: a rebase in it is half done; relay clean looks at it again") // a kill came before that was put away
	if got := l.git("worktree", "list"); strings.Count(got, "\n") != told {
		t.Errorf("worktrees are left, and %d are told:\n%s", told, got)
	}
	if left, _ := filepath.Glob(l.path(".agents-os/relay/worktrees/*")); len(left) != told {
		t.Errorf("folders of worktrees are left, and %d are told: %v", told, left)
	}
	if got := l.git("for-each-ref", "--format=%(refname)", "refs/heads/relay-tasks"); got != "" {
		t.Errorf("branches of tasks are left: %s", got)
	}
	if t.Failed() {
		t.Logf("stderr of the last run:\n%s\nall events:\n%s\nrefs:\n%s", r.stderr.String(), l.run("ledger", "log").stdout.String(), l.git("for-each-ref"))
	}
	return strings.Contains("\n"+l.git("log", "--first-parent", "--format=%s", "main.."+landingBranch), "\nLand ")
}

// landingLab is a repository in which somebody has work of their own lying about, and a random epic.
func landingLab(t *testing.T, dice *rand.Rand) (*lab, []string) {
	var plan strings.Builder
	fmt.Fprintf(&plan, "version: 2\nid: 20260101-lab\ntitle: lab\nchecks: [%q]\ntasks:\n", whole)
	kinds := []string{"plain", "line", "use", "rename", "line", "use"}
	moods := []string{"", "", "", "flaky", "crash", "broken", "liar", "halfway", "hides"}
	var tasks []string
	made := make(map[string]string)
	for i := range 3 + dice.IntN(5) {
		id := fmt.Sprintf("T%d", i+1)
		if dice.IntN(8) == 0 {
			made[id] = "idle"
			fmt.Fprintf(&plan, "  %s: {title: idle, allow_no_change: true}\n", id)
			tasks = append(tasks, id)
			continue
		}
		made[id] = kinds[dice.IntN(len(kinds))] + " " + moods[dice.IntN(len(moods))] + " " + []string{"", "commit", "commits"}[dice.IntN(3)]
		fmt.Fprintf(&plan, "  %s:\n    title: %s\n    max_attempts: 3\n    checks: ['test -e own/%s']\n", id, made[id], id)
		if i > 0 && dice.IntN(3) == 0 {
			fmt.Fprintf(&plan, "    depends_on: [T%d]\n", 1+dice.IntN(i))
		}
		tasks = append(tasks, id)
	}
	l := newLabAt(t, filepath.Join(inMemory(t), "work"), plan.String(), landingAgent)
	l.landing(1 + dice.IntN(4))
	if dice.IntN(2) == 0 {
		l.env = append(l.env, slowVariable+"=1ns") // so that what waits lands together
	}
	l.env = append(l.env, "RELAY_MAX_FAILED_IN_A_ROW=0", "RELAY_MAX_SAME_ERROR=0", "RELAY_LANDING="+[]string{"merge", "rebase"}[dice.IntN(2)])
	for id, kind := range made {
		l.write(l.inHome("kinds/"+id), kind)
	}
	l.write("defs/first", "")
	l.write("line.txt", "line\n")
	l.write("mine.txt", "mine\n")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Definitions")
	l.write("mine.txt", "changed\n")
	l.write("staged.txt", "staged\n")
	l.git("add", "staged.txt")
	l.write("untracked.txt", "untracked\n")
	return l, tasks
}

// belongings is everything of the user's that a night must leave as it is: files, index, HEAD, branch and stash.
func (l *lab) belongings() string {
	l.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(l.root, path)
		if d.IsDir() {
			if rel == ".git" || rel == ".agents-os" {
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
	fmt.Fprintf(&b, "main %s\nstash %s\n", l.git("rev-parse", "main"), l.git("stash", "list"))
	return b.String()
}

const landingBranch = "relay/20260101-lab"

// landedWhole wants the epic's check to pass at every commit of the branch's own line.
func (l *lab) landedWhole() {
	l.t.Helper()
	for _, commit := range strings.Fields(l.git("rev-list", "--first-parent", "main.."+landingBranch)) {
		defs := strings.Fields(l.git("ls-tree", "-r", "--name-only", commit, "defs/"))
		for _, use := range strings.Fields(l.git("ls-tree", "-r", "--name-only", commit, "uses/")) {
			if def := l.git("show", commit+":"+use); !slices.Contains(defs, "defs/"+def) {
				l.t.Errorf("%s is red: %s uses %s, and there is only %v\n%s", commit, use, def, defs, l.git("log", "--graph", "--oneline", landingBranch))
			}
		}
	}
}

// landedExactly wants the branch to hold the work of the completed tasks and of no other.
func (l *lab) landedExactly() {
	l.t.Helper()
	var done []string
	for id, status := range l.ledger().TaskStatus {
		if status == "completed" && l.read(l.inHome("kinds/"+id)) != "idle" {
			done = append(done, "own/"+id)
		}
		if status == "in_progress" {
			l.t.Errorf("%s is still in progress", id)
		}
	}
	slices.Sort(done)
	got := l.git("ls-tree", "-r", "--name-only", landingBranch, "own/")
	if want := strings.Join(done, "\n"); got != want {
		l.t.Errorf("the branch holds:\n%s\nwant:\n%s", got, want)
	}
	for line := range strings.Lines(l.git("log", "--format=%h %(trailers:key=Relay-Epic,valueonly,separator=%x2C) %(trailers:key=Relay-Task,valueonly,separator=%x2C) %(trailers:key=Relay-Attempt,valueonly,separator=%x2C)", "main.."+landingBranch)) {
		if len(strings.Fields(line)) != 4 {
			l.t.Errorf("a commit lacks trailers: %s", line)
		}
	}
	if l.git("rev-parse", landingBranch) != l.git("rev-parse", "refs/relay-tip/20260101-lab") {
		l.t.Error("the branch is not where the tip is")
	}
}

// nothingLost wants every token that an agent wrote to be in some commit that a ref leads to.
func (l *lab) nothingLost() {
	l.t.Helper()
	kept := strings.Fields(l.git("log", "--all", "--format=", "--name-only", "-m", "--", "tok"))
	for _, token := range strings.Fields(l.read(l.inHome("tokens"))) {
		if !slices.Contains(kept, token) {
			l.t.Errorf("%s is lost", token)
		}
	}
}
