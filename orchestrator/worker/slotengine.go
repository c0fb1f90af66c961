package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/runners"
)

// slotEngine is the engine that gives each task a repository of its own (a slot), and lands what they make on the epic's
// integration branch. The user's checkout is not touched. A slot is used for one task after another: to make one costs
// seconds in a large repository.
type slotEngine struct {
	*workspace
	pool  *slot.Pool
	trunk *integration.Branch
	tips  *integration.TipGuard
	said  *checkCache

	userTree *userCheckout // nil: nobody watches it

	mayAsk func(ctx context.Context, a engine.Attempt) (why string) // nil: always

	busy atomic.Int32 // attempts, and checkouts in which checks run
	lost atomic.Int32 // steps in a row that were gone before the branch was there

	claim     *integration.LedgerView // on the integration branch; nil: nobody has asked
	from      string                  // where the integration branch ended when the run began
	slowAfter time.Duration           // from when on several landings share one run of the checks

	step    mergeStep // the last that was made; only one is made at a time
	arrived []arrival // in this run

	mu   sync.Mutex
	used map[string]bool // worktrees of this run, by name: whether somebody works there

	theirs []string // what became a person's meanwhile and stays, in words

	finding sync.Mutex
	found   *provisioned // nil: not looked for yet
}

func newSlotEngine(g *workspace) *slotEngine {
	pool := &slot.Pool{Repo: g.home, Dir: g.o.Worktree.Dir}
	t := integration.NewBranch(g.home, g.o.Epic.ID, g.o.Landing)
	tips := &integration.TipGuard{Branch: t, Describe: g.notableChanges}
	return &slotEngine{
		workspace: g, pool: pool, trunk: t, tips: tips,
		said: &checkCache{known: make(map[verdictKey]*cachedRun)}, used: make(map[string]bool), slowAfter: cmp.Or(g.o.SlowChecks, SlowChecks),
	}
}

// SlowChecks is from when on several landings share one run of the checks.
const SlowChecks = 5 * time.Second

// Kinds of worktrees, by the beginning of their names.
const (
	laneName     = ""
	benchName    = "check-"
	reviewName   = "review-"
	recoveryName = "recovery-"
)

// enter takes the first worktree of a kind that nobody uses, and says whether it is this run's first time there.
func (l *slotEngine) enter(kind string) (name string, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s%d", kind, i)
		if taken, known := l.used[name]; !taken {
			l.used[name] = true
			return name, !known
		}
	}
}

func (l *slotEngine) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used[name] = false
}

// vacant enters a worktree in which nothing would be lost. What an earlier run has left there may be all there is of
// an attempt's work: then nobody gets it.
func (l *slotEngine) vacant(ctx context.Context, kind string) (string, error) {
	for {
		name, first := l.enter(kind)
		if !first {
			return name, nil
		}
		if why, err := l.pool.Loss(ctx, name); err != nil || why == "" {
			return name, err
		}
	}
}

// alone reports whether one attempt only is under way, and nobody else's checks: then what was found just now is its
// doing. Everybody looks once more before they are done.
func (l *slotEngine) alone() bool { return l.busy.Load() <= 1 }

// Prepare names the tip of the integration branch, from which the attempt begins. Work that only waits for its review
// stays where it was done: the reviewers who have read it are not asked again because others have landed.
func (l *slotEngine) Prepare(ctx context.Context, a engine.Attempt) (string, error) {
	tip := l.tips.Tip()
	if before := a.Unfinished.Base; before != "" && a.Unfinished.AwaitsReview() {
		held, err := l.trunk.Contains(ctx, tip, before)
		if held {
			return before, nil
		}
		return tip, gitcmd.Unasked(err)
	}
	return tip, nil
}

// Attempt carries an attempt out in a worktree and proves it in another one. A success is left on the task's branch.
func (l *slotEngine) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	l.busy.Add(1)
	defer l.busy.Add(-1)
	f, err := l.attempt(ctx, a)
	if err != nil {
		f, err = l.contain(ctx, a, f, err)
	}
	return f.Result, err
}

func (l *slotEngine) attempt(ctx context.Context, a engine.Attempt) (state, error) {
	before, err := l.freeBranch(ctx, a)
	if err != nil || before.Outcome != attempts.Success {
		return before, err
	}
	w, err := l.open(ctx, a)
	if err != nil {
		return state{}, err
	}
	f, err := w.carry(ctx)
	if err != nil {
		return f, err
	}
	f.Notes = append(before.Notes, f.Notes...)
	ctx, cancel := settling(ctx)
	defer cancel()
	if err := w.wrapUp(ctx, &f); err != nil {
		return f, err
	}
	if err := w.vacate(ctx, &f); err != nil { // last: from now on it is another task's
		return f, err
	}
	if f.Outcome == attempts.Success {
		return f, nil // its branch stays until it has landed
	}
	return f, l.dropBranch(ctx, l.branch(a), text.FirstOf(f.Head, a.Base))
}

// open gives the attempt its worktree, at its base and on its branch. An attempt of a killed run gets its own again,
// as it was left.
func (l *slotEngine) open(ctx context.Context, a engine.Attempt) (*slotAttempt, error) {
	if a.Ended {
		return l.reopen(ctx, a)
	}
	name, err := l.vacant(ctx, laneName)
	if err != nil {
		return nil, err
	}
	if err := l.noteLane(a, laneFile, name); err != nil {
		return nil, err
	}
	repo, err := l.pool.Acquire(ctx, name, a.Base, l.branch(a))
	if err != nil {
		return nil, err
	}
	return l.attemptIn(name, repo, a), nil
}

func (l *slotEngine) about(a engine.Attempt) []string {
	return []string{"Relay-Epic: " + l.o.Epic.ID, taskTrailer + a.Task.ID, fmt.Sprintf("%s%d", worktree.AttemptTrailer, a.Number)}
}

// trailers are those of a task's own commits. One that is replayed lands as it is, and says of which run it is.
func (l *slotEngine) trailers(a engine.Attempt) []string {
	if l.o.Landing == integration.Rebase {
		return append(l.about(a), runTrailer+a.Run)
	}
	return l.about(a)
}

// noteLane writes down which worktree an attempt has, for a run that has to bring this one to its end.
func (l *slotEngine) noteLane(a engine.Attempt, in, name string) error {
	file := filepath.Join(filesOf(l.o.Dir, a).folder, in)
	if err := l.makeRoom(file); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(name+"\n"), 0o600)
}

// The file that names an attempt's worktree, and the one that names another that is being made for it.
const (
	laneFile   = "worktree"
	makingFile = "worktree-in-making"
)

// reopen gives an attempt of a killed run its worktree back, if it had not left it to others; else another one at the head
// of its branch.
func (l *slotEngine) reopen(ctx context.Context, a engine.Attempt) (*slotAttempt, error) {
	p := filesOf(l.o.Dir, a)
	name, known := l.noted(a)
	switch {
	case known && !p.ready():
		// No agent has been there: relay was killed while it made the worktree ready, and it may be half a checkout.
		if err := l.pool.Remove(ctx, name); err != nil {
			return nil, err
		}
	case known:
		if repo, err := l.openLeft(ctx, name, a); err == nil {
			// Whatever branch its agent was on, but another task's: then that has it by now.
			if on, err := repo.Branch(ctx); err == nil && (on == l.branch(a) || !strings.HasPrefix(on, gitcmd.TaskBranches)) {
				return l.attemptIn(name, repo, a), nil
			}
		}
	}
	head, err := l.home.Ref(ctx, "refs/heads/"+l.branch(a))
	if err != nil {
		return nil, err
	}
	if head != "" && !gitcmd.Has(ctx, l.home, head) { // see [slotAttempt.judge]
		head = ""
	}
	return l.recover(ctx, a, text.FirstOf(head, a.Base))
}

// leftPause is how long a git of a relay that was killed is waited for, before a slot is opened again.
const leftPause = 200 * time.Millisecond

// openLeft opens the slot of an attempt of a killed run. A git that this run had started may still be at work there and hold its
// locks: then the slot is tried again, as often as lostTries says.
func (l *slotEngine) openLeft(ctx context.Context, name string, a engine.Attempt) (repo *reanchor.Git, err error) {
	for try := 1; ; try++ {
		repo, _, err = l.pool.Open(ctx, name, a.Base, l.branch(a))
		if err == nil || errors.Is(err, fs.ErrNotExist) || try == lostTries {
			return repo, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(leftPause):
		}
	}
}

// recover makes another worktree for an attempt whose own is lost. One that was cut short while it was made is removed: there
// is nothing in it but a part of the commit.
func (l *slotEngine) recover(ctx context.Context, a engine.Attempt, head string) (*slotAttempt, error) {
	making := filepath.Join(filesOf(l.o.Dir, a).folder, makingFile)
	if noted, err := runners.ReadResultFile(making); err == nil {
		if name := strings.TrimSpace(string(noted)); strings.HasPrefix(name, recoveryName) {
			if err := l.pool.Remove(ctx, name); err != nil {
				return nil, err
			}
		}
	}
	name, err := l.vacant(ctx, recoveryName)
	if err != nil {
		return nil, err
	}
	if err := l.noteLane(a, makingFile, name); err != nil {
		return nil, err
	}
	repo, err := l.pool.Acquire(ctx, name, head, l.branch(a))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(making), l.noteLane(a, laneFile, name)); err != nil {
		return nil, err
	}
	return l.attemptIn(name, repo, a), nil
}
