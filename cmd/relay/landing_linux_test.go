package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// landing has the lab's tasks work in worktrees.
func (l *lab) landing(jobs int) {
	l.env = append(l.env, "RELAY_ISOLATION=worktree", fmt.Sprintf("RELAY_JOBS=%d", jobs))
}

// Thirty-three tasks that each rename what the one before has called: every two of them merge, and break each other.
func TestLandingCallersAndRenames(t *testing.T) {
	t.Parallel()
	const n = 33
	plan := fmt.Sprintf("version: 2\nid: 20260101-lab\ntitle: lab\nchecks: [%q]\ntasks:\n", whole)
	for i := 1; i <= n; i++ {
		plan += fmt.Sprintf("  T%d: {title: rename %d}\n", i, i)
	}
	l := newLab(t, plan, `
i=${RELAY_TASK#T}; j=$((i % 33 + 1))
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
	r.wants(t, exitOK)
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
	r.wants(t, exitOK)
	if said := r.stdout.String() + r.stderr.String(); strings.Contains(said, "lock") || strings.Contains(said, "fatal") {
		t.Errorf("the user hears of it:\n%s", said)
	}
	if got := strings.Fields(l.git("diff", "--name-only", "main", landingBranch)); len(got) != 32 {
		t.Errorf("the branch changes %d files, want 32: %v", len(got), got)
	}
	if left, _ := filepath.Glob(l.path(".agents-os/relay/worktrees/*")); len(left) > 0 {
		t.Errorf("worktrees are left: %v", left)
	}
}
