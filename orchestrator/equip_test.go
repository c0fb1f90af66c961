package orchestrator

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
)

// Worktrees get what is configured, checks see it too, and none of it is committed.
func TestEquip(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.write(".env", "key\n")
	y.write("cache/deep/file", "cached\n")
	y.write("vendored/lib", "lib\n")
	y.write("node/mod", "mod\n")
	y.write("seed.txt", "changed by the user\n")
	y.l.o.Worktree.Copy, y.l.o.Worktree.Link = []string{".env", "vendored/**", "seed.txt", "cache", "no-such-*", ".git", ".agents-os"}, []string{"node"}
	y.l.o.Worktree.Setup, y.l.o.Worktree.SetupWall = []string{"echo made > made.txt", "test -e made.txt"}, time.Minute
	const all = `test "$(cat .env vendored/lib cache/deep/file node/mod made.txt seed.txt | tr '\n' ' ')" = "key lib cached mod made seed "`
	r := y.proved("T1", all+`; test -L node; test ! -e .agents-os/relay/epic.yml; echo x > x; git add -A`, all)
	if got := y.step(r); got != "T1 success" {
		t.Fatal(got)
	}
	y.holds("x")
	if stay, err := y.l.close(t.Context()); err != nil || len(stay) > 0 {
		t.Errorf("worktrees stay: %q, %v", stay, err)
	}
	y.wants(map[string]string{"node/mod": "mod\n", "made.txt": "-", "seed.txt": "changed by the user\n"})
}

// A link that is committed does not lead what is copied out of the worktree.
func TestEquipStaysInside(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	outside := t.TempDir()
	if got := y.step(y.proved("T1", "ln -s "+outside+" config")); got != "T1 success" {
		t.Fatal(got)
	}
	y.write("config/.env", "key\n")
	y.l.o.Worktree.Copy = []string{"config/.env"}
	a := Assignment{Run: y.l.o.Run, Task: epic.Task{ID: "T2", Title: "T2"}, Attempt: 1, Runner: "true"}
	a.Base = y.l.tips.tip()
	if _, err := y.l.Attempt(t.Context(), a); err == nil || !strings.Contains(err.Error(), "config/.env") {
		t.Errorf("got %v, want an error about config/.env", err)
	}
	if left := y.sh("ls -A " + outside); left != "" {
		t.Errorf("outside there is %s now", left)
	}
}

func TestSetUpFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, want string
		wall          time.Duration
	}{
		"status":    {"echo no registry; exit 7", `set-up command "echo no registry; exit 7": exit status 7`, time.Minute},
		"too long":  {"sleep 60", `set-up command "sleep 60": took longer than 50ms`, 50 * time.Millisecond},
		"not there": {"no-such-program", `set-up command "no-such-program": exit status 127`, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.l.o.Worktree.Setup, y.l.o.Worktree.SetupWall = []string{c.command}, c.wall
			f := y.does("T1", "echo the agent ran > x").Finding
			if f.Outcome != attempts.Environment || f.Receipt.ErrorSummary != c.want || f.Head != "" {
				t.Errorf("got %s %q, head %q; want environment %q and no work", f.Outcome, f.Receipt.ErrorSummary, f.Head, c.want)
			}
		})
	}
}

// Two tasks that changed one file, which one of them does not declare: it merges, and is told.
func TestUndeclaredOverlap(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.sh("seq 30 > lines.txt; git add lines.txt; git commit -qm lines; git update-ref refs/heads/relay/20260101-lab HEAD; git update-ref refs/relay-tip/20260101-lab HEAD")
	if err := y.l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	one, two := y.proved("T1", "sed -i s/^2$/two/ lines.txt"), y.proved("T2", "sed -i s/^29$/more/ lines.txt")
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	if got := y.step(two); got != "T2 success" {
		t.Fatal(got)
	}
	if n := y.last.Notes; len(n) == 0 || n[len(n)-1].Text != "T2 changed lines.txt as well, which it does not declare: add it to its files" {
		t.Errorf("notes: %+v", n)
	}
}

func TestResealed(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Tasks: []epic.Task{{ID: "T1", Checks: checksOf([]string{"a"})}, {ID: "T2", Checks: checksOf([]string{"b"})}, {ID: "T3"}}}
	l := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{}}
	for i := range e.Tasks {
		l.Tasks[e.Tasks[i].ID] = &attempts.TaskRecord{Attempts: []attempts.Attempt{{Sealed: seal(e, &e.Tasks[i])}}}
	}
	if got := resealed(e, l); got != "" {
		t.Errorf("nothing was changed, and it says %q", got)
	}
	whole := sealAll(e)
	e.Tasks[1].Checks[0].Run = "true"
	e.Tasks[2].Protected = []string{"x"}
	if got := resealed(e, l); !strings.Contains(got, "of T2, T3 are not") || sealAll(e) == whole {
		t.Errorf("got %q", got)
	}
	l.Tasks["T2"].Completed = true
	e.Checks = checksOf([]string{"c"})
	if got := resealed(e, l); !strings.Contains(got, "of T1, T3 are not") {
		t.Errorf("got %q", got)
	}
}
