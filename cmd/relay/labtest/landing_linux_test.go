package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// landing has the lab's tasks work in worktrees.
func (l *lab) landing(jobs int) {
	l.env = append(l.env, "RELAY_ISOLATION=worktree", fmt.Sprintf("RELAY_JOBS=%d", jobs))
}

// Seventeen tasks that each rename what the one before has called: every two of them merge, and break each other.
func TestLandingCallersAndRenames(t *testing.T) {
	t.Parallel()
	needsFull(t)
	const n = 17
	plan := fmt.Sprintf("version: 2\nid: 20260101-lab\ntitle: lab\nchecks: [%q]\ntasks:\n", whole)
	for i := 1; i <= n; i++ {
		plan += fmt.Sprintf("  T%d: {title: rename %d}\n", i, i)
	}
	l := newLab(t, plan, `
i=${RELAY_TASK#T}; j=$((i % 17 + 1))
mkdir -p uses
git mv "defs/f$i" "defs/g$i" || { bad "f$i is gone"; exit 0; }
for u in uses/*; do test -e "$u" || continue; if [ "$(cat "$u")" = "f$i" ]; then echo "g$i" > "$u"; fi; done
if [ -e "defs/f$j" ]; then echo "f$j"; else echo "g$j"; fi > "uses/$RELAY_TASK"
ok
`)
	l.landing(8)
	for i := 1; i <= n; i++ {
		l.write(fmt.Sprintf("defs/f%d", i), fmt.Sprintln(i))
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Definitions")
	r := l.run("work")
	r.wants(t, terminal.OK)
	l.landedWhole()
	if got := strings.Fields(l.git("ls-tree", "-r", "--name-only", landingBranch, "uses/")); len(got) != n {
		t.Errorf("%d tasks landed, want %d\n%s", len(got), n, r.stderr.String())
	}
	back := 0
	for _, list := range l.ledger().Attempts {
		for _, a := range list {
			if a.Outcome == "conflict" {
				back++
			}
			if a.Charged {
				t.Errorf("an attempt was charged: %s", a.Receipt.ErrorSummary)
			}
		}
	}
	if back == 0 {
		t.Error("no two tasks were in each other's way: the test shows nothing")
	}
}

// Twenty tasks that all add a line to one file that none declares: whoever could not land goes by itself the next time, and
// all get there.
func TestLandingOnOneFile(t *testing.T) {
	t.Parallel()
	needsFull(t)
	const n, jobs = 20, 8
	plan := "version: 2\nid: 20260101-lab\ntitle: lab\ntasks:\n"
	for i := 1; i <= n; i++ {
		plan += fmt.Sprintf("  T%d: {title: T%d}\n", i, i)
	}
	l := newLab(t, plan, fmt.Sprintf(`
echo "$RELAY_TASK" >> CHANGELOG
until [ $(wc -l < "$HOME/starts") -ge %d ]; do sleep 0.01; done
ok`, jobs))
	l.landing(jobs)
	l.write("CHANGELOG", "start\n")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Changelog")
	r := l.run("work")
	r.wants(t, terminal.OK)
	if got := len(strings.Fields(l.git("show", landingBranch+":CHANGELOG"))); got != n+1 {
		t.Errorf("%d lines, want %d", got, n+1)
	}
	back := 0
	for id, list := range l.ledger().Attempts {
		if len(list) > 2 {
			t.Errorf("%s needed %d attempts\n%s", id, len(list), r.stderr.String())
		}
		if len(list) == 2 {
			brief := l.read(fmt.Sprintf(".agents-os/relay/runs/%s/%s/2/brief.md", list[1].Run, id))
			if !strings.Contains(brief, "<<<<<<< relay/20260101-lab\n") || !strings.Contains(brief, "\n"+id+"\n>>>>>>> this task\n") {
				t.Errorf("the second brief of %s does not show where it could not land:\n%s", id, brief)
			}
		}
		back += len(list) - 1
	}
	if back < jobs-1 {
		t.Errorf("only %d could not land: the test shows nothing", back)
	}
}

// Whoever goes on working in the checkout all the while finds everything as they left it, and nothing of it is refused.
func TestLandingWhileTheUserWorks(t *testing.T) {
	t.Parallel()
	needsFull(t)
	plan := "version: 2\nid: 20260101-lab\ntitle: lab\ntasks:\n"
	for i := 1; i <= 8; i++ {
		plan += fmt.Sprintf("  T%d: {title: T%d, checks: [test -e own/T%d]}\n", i, i, i)
	}
	l := newLab(t, plan, `
mkdir -p own; echo x > "own/$RELAY_TASK"; touch "$HOME/up"
until [ $(cat "$HOME/turns" 2>/dev/null || echo 0) -ge $((2 * ${RELAY_TASK#T})) ]; do sleep 0.01; done
ok`)
	l.landing(4)
	base := l.git("rev-parse", "HEAD")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	var want []string
	for turn := 1; turn <= 16; turn++ { // the last tasks end when all of it is done
		name := fmt.Sprintf("mine%d", turn)
		l.write(name, "mine\n")
		l.git("add", name)
		l.git("commit", "-q", "-m", name)
		l.write("seed.txt", name+"\n")
		l.git("stash", "push", "-q", "-m", name)
		l.git("switch", "-q", "-c", "topic"+name)
		switch turn % 4 {
		case 0:
			l.git("gc", "-q", "--force")
		case 1:
			l.git("pack-refs", "--all")
		case 2:
			l.git("switch", "-q", "main")
			l.git("merge", "-q", "topic"+name)
		}
		want = append([]string{name}, want...)
		l.write(l.inHome("turns.new"), fmt.Sprintln(turn))
		if err := os.Rename(l.inHome("turns.new"), l.inHome("turns")); err != nil {
			t.Fatal(err)
		}
	}
	l.write("seed.txt", "not committed\n")
	before, refs := l.belongings(), l.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/topic*", "refs/stash")
	l.end(r)
	r.wants(t, terminal.OK)
	if after := l.belongings(); after != before {
		t.Errorf("the checkout is not what it was:\n%s\nbefore:\n%s", after, before)
	}
	if after := l.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/topic*", "refs/stash"); after != refs {
		t.Errorf("branches are not what they were:\n%s\nbefore:\n%s", after, refs)
	}
	if got, want := l.git("log", "--format=%s", base+"..HEAD"), strings.Join(want, "\n"); got != want {
		t.Errorf("commits are\n%s\nwant\n%s", got, want)
	}
	if got := strings.Count(l.git("stash", "list"), "\n") + 1; got != len(want) {
		t.Errorf("there are %d stashes, want %d", got, len(want))
	}
	if got := strings.Fields(l.git("diff", "--name-only", base, landingBranch)); len(got) != 8 {
		t.Errorf("the branch changes %v, want the work of 8 tasks", got)
	}
}

// inMemory is a folder in memory where there is one: disks differ a hundredfold in how fast they make many files.
func inMemory(t *testing.T) string {
	t.Helper()
	dir := fmt.Sprintf("/dev/shm/relay-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Eight tasks side by side in 20,000 files: nothing is lost, and git's locks stay git's business.
func TestLandingInALargeRepository(t *testing.T) {
	t.Parallel()
	needsFull(t)
	if raceEnabled || testing.Short() {
		t.Skip("what is slow here is git")
	}
	plan := "version: 2\nid: 20260101-lab\ntitle: lab\ntasks:\n"
	for i := range 16 {
		plan += fmt.Sprintf("  T%d: {title: T%d, checks: [test -e own/T%d]}\n", i, i, i)
	}
	l := newLabAt(t, filepath.Join(inMemory(t), "work"), plan, `mkdir -p own; echo x > "own/$RELAY_TASK"; echo "$RELAY_TASK" >> "dir1/f$(( ${RELAY_TASK#T} + 100 ))"; git status >/dev/null; git add -A; git commit -qm "$RELAY_TASK: work"; ok`)
	l.landing(8)
	for dir := range 20 {
		for f := range 1000 {
			l.write(fmt.Sprintf("dir%d/f%d", dir, f), fmt.Sprintln(dir, f))
		}
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Many files")
	r := l.run("work")
	r.wants(t, terminal.OK)
	if said := r.stdout.String() + r.stderr.String(); strings.Contains(said, "lock") || strings.Contains(said, "fatal") {
		t.Errorf("the user hears of it:\n%s", said)
	}
	if got := strings.Fields(l.git("diff", "--name-only", "main", landingBranch)); len(got) != 32 {
		t.Errorf("the branch changes %d files, want 32: %v", len(got), got)
	}
	if left := l.slots(); len(left) > 0 {
		t.Errorf("worktrees are left: %v", left)
	}
}
