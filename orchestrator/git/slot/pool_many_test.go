package slot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"relay/epic/slowtest"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

// Many slots are made and removed at once, by two processes.
func TestManySlotsAtOnce(t *testing.T) {
	const dir = "RELAY_TEST_SLOTS"
	if root := os.Getenv(dir); root != "" {
		manySlots(t, &lab{Repo: &repotest.Repo{T: t, Root: root}}, "b")
		return
	}
	t.Parallel()
	l, _ := newPool(t)
	l.Sh(`git checkout -q --detach`)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManySlotsAtOnce$", "-test.v")
	cmd.Env = append(os.Environ(), dir+"="+l.Root)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	manySlots(t, l, "a")
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "--- PASS") {
		t.Errorf("the other process: %v\n%s", err, out.String())
	}
	if left := l.Sh(`ls .git/worktrees .agents-os/relay/worktrees 2>/dev/null || true; git worktree list | wc -l`); !strings.HasSuffix(left, "1") || strings.Contains(left, "a-") {
		t.Errorf("left: %s", left)
	}
}

func manySlots(t *testing.T, l *lab, prefix string) {
	t.Helper()
	p := NewPool(l.Open(), filepath.Join(l.Root, ".agents-os", "relay", "worktrees"))
	commits := []string{l.Git("rev-parse", "one"), l.Git("rev-parse", "two")}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := prefix + "-" + string(rune('a'+i))
			for round := range 4 {
				repo, err := p.Acquire(t.Context(), name, commits[round%2], "relay-tasks/lab/"+name)
				if err != nil {
					t.Error(err)
					return
				}
				if head, err := repo.Head(t.Context()); err != nil || head != commits[round%2] {
					t.Errorf("%s is at %s: %v", name, head, err)
				}
				if err := os.WriteFile(filepath.Join(repo.Root(), "work"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if round == 1 {
					err = p.Remove(t.Context(), name)
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := p.Remove(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// The tests above may run as root, whom no mode keeps out of a folder.
func TestSlotWithoutPrivilege(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("nobody here has a privilege")
	}
	const nobody = 65534
	home := t.TempDir()
	program := filepath.Join(home, "test")
	if out, err := exec.CommandContext(t.Context(), "cp", os.Args[0], program).CombinedOutput(); err != nil { // a copy of our own would be open in what is forked beside us
		t.Fatalf("%v\n%s", err, out)
	}
	for _, dir := range []string{home, filepath.Dir(home)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir := home; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&1 == 0 {
			t.Skipf("%s keeps others out (%v)", dir, err)
		}
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^(TestSlotIsExactlyItsCommit|TestOpenKeepsTheFiles)$/^modes", "-test.v")
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != 5 {
		t.Errorf("%v\n%s", err, out)
	}
}

// A git gc and git repack -ad of the user's beside it take nothing away from slots while they are made, worked in and fetched from.
func TestSlotsBesideRepacks(t *testing.T) {
	t.Parallel()
	slowtest.OneIn(t, 4)
	l, p := newPool(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.Command("git", "-C", l.Root, "repack", "-adq").Run()
				_ = exec.Command("git", "-C", l.Root, "gc", "-q", "--prune=now").Run()
			}
		}
	}()
	base, branch := l.Git("rev-parse", "one"), "relay-tasks/lab/T1"
	for n := range 10 {
		path := l.site(p, "1", "one", branch)
		l.Sh("cd '" + path + "'; echo work >> run; git commit -qam work")
		repo := repotest.Want[*git.Repo](t)(first(p.Open(t.Context(), "1", base, branch)))
		head := repotest.Want[string](t)(repo.Head(t.Context()))
		if err := p.Fetch(t.Context(), repo, head, base, fmt.Sprintf("refs/relay/lab/T1/%d", n)); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	l.Git("fsck", "--connectivity-only", "--no-dangling")
}

// Each fetch leaves a pack, and every command of git opens all of them: after so many they have one index.
func TestFetchesAreIndexed(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	base, branch := l.Git("rev-parse", "one"), "relay-tasks/lab/T1"
	for n := range 3 {
		p.fetches.Store(fetchesIndexed - 2 + int64(n))
		l.Sh("cd '" + l.site(p, "1", "one", branch) + "'; echo work >> run; git commit -qam work")
		repo := repotest.Want[*git.Repo](t)(first(p.Open(t.Context(), "1", base, branch)))
		head := repotest.Want[string](t)(repo.Head(t.Context()))
		if err := p.Fetch(t.Context(), repo, head, base, fmt.Sprintf("refs/relay/lab/T1/%d", n)); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(filepath.Join(l.Root, ".git/objects/pack/multi-pack-index"))
		if (err == nil) != (n > 0) {
			t.Errorf("after fetch %d: %v", n, err)
		}
	}
	l.Git("repack", "-adq")
	l.Git("fsck", "--connectivity-only", "--no-dangling")
}
