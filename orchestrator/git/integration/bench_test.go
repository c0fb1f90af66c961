package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

// rig is a repository, slots and an integration branch in it, and a checkout in which bare git merges.
type rig struct {
	b      *testing.B
	root   string
	base   string
	pool   *slot.Pool
	branch *Branch
	files  int
	n      int

	landing sync.Mutex // one at a time, as in a run
}

func (r *rig) git(dir string, args ...string) string {
	r.b.Helper()
	out, err := r.run(dir, args...)
	if err != nil {
		r.b.Fatal(err)
	}
	return out
}

func (r *rig) run(dir string, args ...string) (string, error) {
	out, err := git.Run(r.b.Context(), git.Call{Dir: dir, Args: args, Writes: true})
	return string(out[:max(0, len(out)-1)]), err
}

func newRig(b *testing.B, files int) *rig {
	b.Helper()
	r := &rig{b: b, root: filepath.Join(b.TempDir(), "work"), files: files}
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
	repo, err := git.Open(b.Context(), r.root)
	if err != nil {
		b.Fatal(err)
	}
	r.pool = slot.NewPool(repo, filepath.Join(r.root, ".agents-os", "relay", "worktrees"))
	r.branch = NewBranch(repo, "lab", Merge)
	if _, err := create(b.Context(), r.branch, r.base); err != nil {
		b.Fatal(err)
	}
	r.git(r.root, "worktree", "add", "-q", "-b", "integration", filepath.Join(b.TempDir(), "integration"))
	return r
}

// work commits a change of one file and a new one in a worktree, as an agent would.
func (r *rig) task(dir string) {
	r.b.Helper()
	r.n++
	if err := r.add(dir, r.n); err != nil {
		r.b.Fatal(err)
	}
}

// commit is the nth work.
func (r *rig) add(dir string, n int) error {
	name := fmt.Sprintf("d%03d/new%05d.go", n%200, n)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("package d\n"), 0o644); err != nil {
		return err
	}
	if _, err := r.run(dir, "add", name); err != nil {
		return err
	}
	_, err := r.run(dir, "commit", "-q", "-m", fmt.Sprint("Work ", n))
	return err
}

// ours makes or reuses a worktree, and lands what is made in it; theirs does so with git alone.
func (r *rig) ours(name string) (site, land time.Duration) {
	branch := fmt.Sprintf("relay-tasks/lab/T%d", r.n)
	start := time.Now()
	repo, err := r.pool.Acquire(r.b.Context(), name, r.base, branch)
	if err != nil {
		r.b.Fatal(err)
	}
	site = time.Since(start)
	r.task(repo.Root())
	start = time.Now()
	if err := r.land(repo, branch); err != nil {
		r.b.Fatal(err)
	}
	return site, time.Since(start)
}

// land brings what a slot has made into the repository, and then onto the integration branch.
func (r *rig) land(repo *git.Repo, branch string) error {
	ctx := r.b.Context()
	head, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	if err := r.pool.Fetch(ctx, repo, head, r.base, "refs/heads/"+branch); err != nil {
		return err
	}
	r.landing.Lock()
	defer r.landing.Unlock()
	tip, err := r.branch.Tip(ctx)
	if err != nil {
		return err
	}
	merged, err := r.branch.Integrate(ctx, tip, head, MergeInput{Base: r.base, Message: "Land\n"})
	if err != nil {
		return err
	}
	return advance(ctx, r.branch, tip, merged.Commit)
}

func (r *rig) theirs(integration string) (add, merge time.Duration) {
	dir := filepath.Join(filepath.Dir(integration), fmt.Sprint("bare", r.n))
	branch := fmt.Sprint("bare-", r.n)
	start := time.Now()
	r.git(r.root, "worktree", "add", "-q", "-b", branch, dir, r.base)
	add = time.Since(start)
	r.task(dir)
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

// jobs is how many tasks BenchmarkWorktreeAndLandingOfJobs has at once.
const jobs = 8

// together calls do for each job at once and returns how long all of them took.
func (r *rig) together(do func(job int) error) time.Duration {
	r.b.Helper()
	var g errgroup.Group
	start := time.Now()
	for job := range jobs {
		g.Go(func() error { return do(job) })
	}
	if err := g.Wait(); err != nil {
		r.b.Fatal(err)
	}
	return time.Since(start)
}

// oursTogether makes or reuses a worktree for each job at once, and lands what is made in them: side by side as far as a run does
// so, and one after the other onto the integration branch.
func (r *rig) oursTogether(name string) (site, land time.Duration) {
	first := r.n + 1
	r.n += jobs
	repos := make([]*git.Repo, jobs)
	branch := func(job int) string { return fmt.Sprintf("relay-tasks/lab/T%d", first+job) }
	site = r.together(func(job int) (err error) {
		repos[job], err = r.pool.Acquire(r.b.Context(), fmt.Sprintf("%s-%d", name, job), r.base, branch(job))
		return err
	})
	r.together(func(job int) error { return r.worked(repos[job].Root(), first+job) })
	return site, r.together(func(job int) error { return r.land(repos[job], branch(job)) })
}

// theirsTogether does so with git alone: worktrees at once, and merges in turn.
func (r *rig) theirsTogether(integration string) (add, merge time.Duration) {
	first := r.n + 1
	r.n += jobs
	name := func(job int) string { return fmt.Sprint("bare-", first+job) }
	dir := func(job int) string { return filepath.Join(filepath.Dir(integration), name(job)) }
	add = r.together(func(job int) error {
		_, err := r.run(r.root, "worktree", "add", "-q", "-b", name(job), dir(job), r.base)
		return err
	})
	r.together(func(job int) error { return r.worked(dir(job), first+job) })
	start := time.Now()
	for job := range jobs {
		r.git(integration, "merge", "-q", "--no-ff", "-m", "Land", name(job))
	}
	merge = time.Since(start)
	for job := range jobs {
		r.git(r.root, "worktree", "remove", "--force", dir(job))
	}
	return add, merge
}

// worked makes the nth commit, in a checkout that has all files and no others.
func (r *rig) worked(dir string, n int) error {
	files, err := r.run(dir, "ls-files")
	if err != nil {
		return err
	}
	status, err := r.run(dir, "status", "--porcelain")
	if count := strings.Count(files, "\n") + 1; err == nil && (count != r.files || status != "") {
		err = fmt.Errorf("%s has %d files instead of %d, and changes: %q", dir, count, r.files, status)
	}
	if err != nil {
		return err
	}
	return r.add(dir, n)
}

// landed fails the benchmark unless a commit has the files of so many works, and a merge of each.
func (r *rig) landed(commit string, works int) {
	r.b.Helper()
	if got := strings.Count(r.git(r.root, "ls-tree", "-r", "--name-only", commit), "\n") + 1; got != r.files+works {
		r.b.Fatalf("%s has %d files, want %d of the first commit and %d of tasks", commit, got, r.files, works)
	}
	if got := r.git(r.root, "rev-list", "--merges", "--count", commit); got != fmt.Sprint(works) {
		r.b.Fatalf("%s has %s merges, want %d", commit, got, works)
	}
}

// BenchmarkWorktreeAndLandingOfJobs is BenchmarkWorktreeAndLanding for eight tasks at once in a repository of 20,000 files.
func BenchmarkWorktreeAndLandingOfJobs(b *testing.B) {
	r := newRig(b, 20_000)
	integration := filepath.Join(b.TempDir(), "integration")
	r.git(r.root, "worktree", "add", "-q", "-b", "bare", integration, r.base)
	r.oursTogether("reused")
	var add, merge, made, landNew, reused, landReused time.Duration
	rounds := 0
	for b.Loop() {
		rounds++
		a, m := r.theirsTogether(integration)
		add, merge = add+a, merge+m
		s, l := r.oursTogether("new")
		made, landNew = made+s, landNew+l
		for job := range jobs {
			if err := r.pool.Remove(b.Context(), fmt.Sprintf("new-%d", job)); err != nil {
				b.Fatal(err)
			}
		}
		s, l = r.oursTogether("reused")
		reused, landReused = reused+s, landReused+l
	}
	r.landed("bare", rounds*jobs)
	tip, err := r.branch.Tip(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	r.landed(tip, (2*rounds+1)*jobs)
	b.ReportMetric(float64(made+landNew)/float64(add+merge), "x-new")
	b.ReportMetric(float64(reused+landReused)/float64(add+merge), "x-reused")
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) / 1000 }
	for unit, d := range map[string]time.Duration{
		"git-add-ms": add, "git-merge-ms": merge, "new-ms": made, "land-new-ms": landNew, "reused-ms": reused, "land-reused-ms": landReused,
	} {
		b.ReportMetric(each(d), unit)
	}
}

// BenchmarkStamp measures the trailers of fifty commits against git rebase, which writes as many commits anew.
func BenchmarkStamp(b *testing.B) {
	r := newRig(b, 20)
	dir := filepath.Join(b.TempDir(), "task")
	r.git(r.root, "worktree", "add", "-q", "--detach", dir, r.base)
	for range 50 {
		r.task(dir)
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
