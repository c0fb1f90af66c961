package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/orchestrator/git/slot"
	"relay/reanchor"
)

// rig is a repository, slots and an integration branch in it, and a checkout in which bare git merges.
type rig struct {
	b      *testing.B
	root   string
	base   string
	pool   *slot.Pool
	branch *Branch
	n      int
}

func (r *rig) git(dir string, args ...string) string {
	r.b.Helper()
	out, err := reanchor.Run(r.b.Context(), reanchor.Call{Dir: dir, Args: args, Writes: true})
	if err != nil {
		r.b.Fatal(err)
	}
	return string(out[:max(0, len(out)-1)])
}

func newRig(b *testing.B, files int) *rig {
	b.Helper()
	r := &rig{b: b, root: filepath.Join(b.TempDir(), "work")}
	for i := range files {
		dir := filepath.Join(r.root, fmt.Sprintf("d%03d", i%200))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%05d.go", i)), fmt.Appendf(nil, "package d\n\n// %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r.git("", "init", "-q", "-b", "main", "--template=", r.root)
	for _, setting := range [][]string{{"user.name", "Ada"}, {"user.email", "a@b"}, {"gc.auto", "0"}} {
		r.git(r.root, "config", setting[0], setting[1])
	}
	r.git(r.root, "add", "-A")
	r.git(r.root, "commit", "-q", "-m", "Begin")
	r.base = r.git(r.root, "rev-parse", "HEAD")
	repo, err := reanchor.OpenGit(b.Context(), r.root)
	if err != nil {
		b.Fatal(err)
	}
	r.pool = &slot.Pool{Repo: repo, Dir: filepath.Join(r.root, ".agents-os", "relay", "worktrees")}
	r.branch = NewBranch(repo, "lab", Merge)
	if _, err := r.branch.create(b.Context(), r.base); err != nil {
		b.Fatal(err)
	}
	r.git(r.root, "worktree", "add", "-q", "-b", "integration", filepath.Join(b.TempDir(), "integration"))
	return r
}

// work commits a change of one file and a new one in a worktree, as an agent would.
func (r *rig) work(dir string) {
	r.b.Helper()
	r.n++
	name := fmt.Sprintf("d%03d/new%05d.go", r.n%200, r.n)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		r.b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("package d\n"), 0o644); err != nil {
		r.b.Fatal(err)
	}
	r.git(dir, "add", name)
	r.git(dir, "commit", "-q", "-m", fmt.Sprint("Work ", r.n))
}

// ours makes or reuses a worktree, and lands what is made in it; theirs does so with git alone.
func (r *rig) ours(name string) (site, land time.Duration) {
	ctx := r.b.Context()
	branch := fmt.Sprintf("relay-tasks/lab/T%d", r.n)
	start := time.Now()
	repo, err := r.pool.Acquire(ctx, name, r.base, branch)
	if err != nil {
		r.b.Fatal(err)
	}
	site = time.Since(start)
	r.work(repo.Root())
	start = time.Now()
	head, err := repo.Head(ctx)
	if err != nil {
		r.b.Fatal(err)
	}
	if err := r.pool.Fetch(ctx, repo, head, r.base, "refs/heads/"+branch); err != nil {
		r.b.Fatal(err)
	}
	tip, err := r.branch.Tip(ctx)
	if err != nil {
		r.b.Fatal(err)
	}
	merged, err := r.branch.Integrate(ctx, tip, head, MergeInput{Base: r.base, Message: "Land\n"})
	if err != nil {
		r.b.Fatal(err)
	}
	if err := r.branch.advance(ctx, tip, merged); err != nil {
		r.b.Fatal(err)
	}
	return site, time.Since(start)
}

func (r *rig) theirs(integration string) (add, merge time.Duration) {
	dir := filepath.Join(filepath.Dir(integration), fmt.Sprint("bare", r.n))
	branch := fmt.Sprint("bare-", r.n)
	start := time.Now()
	r.git(r.root, "worktree", "add", "-q", "-b", branch, dir, r.base)
	add = time.Since(start)
	r.work(dir)
	start = time.Now()
	r.git(integration, "merge", "-q", "--no-ff", "-m", "Land", branch)
	merge = time.Since(start)
	r.git(r.root, "worktree", "remove", "--force", dir)
	return add, merge
}

// BenchmarkWorktreeAndLanding measures a task's worktree and landing against git worktree add and git merge, turn by
// turn. "x-new" is the ratio for a worktree that is made, "x-reused" for one that is used again.
func BenchmarkWorktreeAndLanding(b *testing.B) {
	for name, files := range map[string]int{"small": 20, "20000": 20_000} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, files)
			integration := filepath.Join(b.TempDir(), "integration")
			r.git(r.root, "worktree", "add", "-q", "-b", "bare", integration, r.base)
			r.ours("reused")
			var add, merge, made, reused, land, clean time.Duration
			for b.Loop() {
				a, m := r.theirs(integration)
				add, merge = add+a, merge+m
				s, l := r.ours("new")
				made, land = made+s, land+l
				start := time.Now()
				if err := r.pool.Remove(b.Context(), "new"); err != nil {
					b.Fatal(err)
				}
				clean += time.Since(start)
				s, l = r.ours("reused")
				reused, land = reused+s, land+l
			}
			land /= 2
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) / 1000 }
			b.ReportMetric(float64(made+land)/float64(add+merge), "x-new")
			b.ReportMetric(float64(reused+land)/float64(add+merge), "x-reused")
			for unit, d := range map[string]time.Duration{"git-add-ms": add, "git-merge-ms": merge, "new-ms": made, "reused-ms": reused, "land-ms": land, "remove-ms": clean} {
				b.ReportMetric(each(d), unit)
			}
		})
	}
}

// BenchmarkStamp measures the trailers of fifty commits against git rebase, which writes as many commits anew.
func BenchmarkStamp(b *testing.B) {
	r := newRig(b, 20)
	dir := filepath.Join(b.TempDir(), "task")
	r.git(r.root, "worktree", "add", "-q", "--detach", dir, r.base)
	for range 50 {
		r.work(dir)
	}
	head := r.git(dir, "rev-parse", "HEAD")
	var ours, theirs time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if _, err := r.branch.AddTrailers(b.Context(), AttemptCommits{Base: r.base, Head: head, Trailers: []string{fmt.Sprint("Relay-Attempt: ", i)}}); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(start)
		start = time.Now()
		r.git(dir, "rebase", "-q", "--force-rebase", r.base)
		theirs += time.Since(start)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-rebase")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "stamp-ms")
}
