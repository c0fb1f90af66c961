package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
)

// userEngine is the [engine.Engine] of the user's own checkout: of isolation none, and of shared, where changes belong to no task.
type userEngine struct {
	run   *workspace
	c     *checkout
	from  string // where the branch ended when the run began
	known *checks.Cache
}

// Prepare names the commit the attempt begins from.
func (e *userEngine) Prepare(ctx context.Context, _ engine.Attempt) (string, error) {
	if e.c.tree == nil {
		f, err := e.c.state(ctx)
		return f.Head, err
	}
	branch, err := e.c.repo.Branch(ctx)
	if err != nil {
		return "", err
	}
	// After the attempt the run's branch is put to where it ended: it must have begun there.
	if began := strings.TrimPrefix(e.c.tree.Branch, "refs/heads/"); branch != began {
		return "", &attempts.RefusedError{Reason: "this checkout is not on branch " + began + " any more, where the run began", Hint: "git switch " + began + ", then relay work"}
	}
	return e.c.repo.Head(ctx)
}

// Run runs an attempt in the checkout, and either leaves its commits on the branch or sets them aside.
func (e *userEngine) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	t := e.attempt(a)
	err := t.carryOut(ctx)
	return t.f.Result, err
}

// Origin returns nothing: attempts end on the user's branch.
func (e *userEngine) Origin() attempts.Integration { return e.run.origin }

// Tip returns the commit of the checkout.
func (e *userEngine) Tip(ctx context.Context) (string, error) { return e.run.home.Head(ctx) }

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (e *userEngine) Asked(a engine.Attempt) bool { return relayfiles.Of(e.run.o.Dir, a).Used() }

// Admit refuses a run that cannot work as things are. It ignores the work that a killed run with the same isolation left: relay recovers
// that first.
func (e *userEngine) Admit(ctx context.Context, l *attempts.Ledger, open []engine.Attempt) error {
	here, err := bench.RefuseOtherIsolation(ctx, e.run.o, l, open)
	if err == nil && !here && e.c.tree != nil {
		err = bench.RefuseUnread(ctx, e.c.repo, e.readingFile())
	}
	if err != nil || here {
		return err
	}
	return e.CheckReady(ctx)
}

// readingFile is there while reviewers read, or checks of completed tasks run, in the checkout: it has the commit that they began from.
func (e *userEngine) readingFile() string { return filepath.Join(e.run.o.Dir, "reading") }

// Awake reads relay's own .gitignore.
func (e *userEngine) Awake(context.Context) error { return e.run.guard.KeepIgnore() }

// Begin records what is the user's own before the first attempt.
func (e *userEngine) Begin(ctx context.Context) error {
	w, tree := e.run.guard, e.c.tree
	_ = os.Remove(e.readingFile()) // a run that was killed then is settled, or Admit has refused this one
	if err := w.KeepIgnore(); err != nil {
		return err
	}
	if tree == nil {
		return w.Backup.Save()
	}
	head, err := tree.Head(ctx)
	e.from = plaintext.FirstOf(e.from, head) // unless an attempt of a killed run has said
	if err := errors.Join(err, tree.User.Record(ctx, tree.Runner())); err != nil {
		return err
	}
	return errors.Join(tree.User.Save(untrackedBefore(e.run.o, e.run.o.Run)), w.Stash.Record(), w.Backup.Save())
}

// untrackedBefore returns the file of a run that lists what was not tracked when it began: that is the user's.
func untrackedBefore(o *engine.LocalOptions, run string) string {
	return filepath.Join(o.Dir, "runs", run, relayfiles.UntrackedName)
}

// Reserve does nothing: there is one checkout.
func (e *userEngine) Reserve(engine.Attempt) {}

// Resume makes ready to judge an attempt that a killed run left open.
func (e *userEngine) Resume(ctx context.Context, a engine.Attempt, _ attempts.Attempt) (*attempts.Ended, error) {
	tree := e.c.tree
	if tree == nil {
		return nil, nil
	}
	e.from = plaintext.FirstOf(e.from, a.Base) // its commits can be there already
	return nil, tree.User.Load(ctx, tree.Runner(), untrackedBefore(e.run.o, a.Run))
}

// Close forgets the copies of what is the user's.
func (e *userEngine) Close(context.Context) ([]string, error) {
	return nil, e.run.guard.Backup.Close()
}

// userPlace is the [place] and the [asker] of one attempt in the user's checkout.
type userPlace struct {
	e *userEngine
	t *attempt
}

// attempt returns an attempt in the checkout.
func (e *userEngine) attempt(a engine.Attempt) *attempt {
	t := newAttempt(e.run, a)
	p := &userPlace{e, t}
	t.place, t.checks.bench = p, p
	t.worksIn(e.c)
	if a.Ended { // the base is not there any more
		t.f.OnBase = checks.Baseline{}
	}
	return t
}

// open does nothing: the checkout is there.
func (p *userPlace) open(_ context.Context, t *attempt) error {
	t.ev.Ready = &verdict.Ready{}
	return nil
}

func (p *userPlace) leave(context.Context, engine.Attempt) string   { return "" }
func (p *userPlace) look(context.Context, *attempt) error           { return nil }
func (p *userPlace) reopen(context.Context, *attempt) (bool, error) { return false, nil }

// commit collects the work, if need be after .git was put back. Side by side changes belong to no task: nothing is collected.
func (p *userPlace) commit(ctx context.Context, t *attempt) (names []git.Change, err error) {
	tree := t.c.tree
	if tree == nil {
		t.ev.Work.Unattributed = true
		return nil, nil
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	err = tree.Records.Do(ctx, func() (err error) {
		names, err = t.work.Commit(ctx)
		var refusal *git.Error
		if !errors.As(err, &refusal) || ctx.Err() != nil || git.Unasked(err) != nil || tree.Readable(ctx, t.a.Base) {
			return err
		}
		why, mending := p.e.run.guard.Backup.Restore(ctx, func() bool { return false })
		if mending != nil {
			return errors.Join(err, mending)
		}
		t.seen.ByAgent(why)
		t.f.Note("tamper", why)
		t.ev.Guard = &verdict.Guard{Why: t.seen.Why}
		names, err = t.work.Commit(ctx)
		return err
	})
	return names, err
}

// theirs reports whether a person has committed since the run was killed: their commits stay where they are.
func (p *userPlace) theirs(ctx context.Context, t *attempt) (bool, error) {
	head := t.f.AgentHead
	if kept, err := t.c.tree.Contains(ctx, t.a.Base, head); err != nil || !kept {
		return true, err
	}
	last := t.files.LastSeen()
	times, err := worktree.CommitTimes(ctx, t.c.tree.Repo, t.a.Base, head)
	return slices.ContainsFunc(times, func(at int64) bool { return time.Unix(at, 0).After(last) }), err
}

// mark saves a copy of .git with the work in it: what runs next is the agent's as well.
func (p *userPlace) mark(_ context.Context, t *attempt) error {
	if t.c.tree == nil || len(t.a.Task.Checks)+len(p.e.run.o.Epic.Checks)+len(p.e.run.o.Review.Reviewers) == 0 {
		return nil
	}
	return p.e.run.guard.Backup.Save()
}

// keep leaves a success on the branch and sets anything else aside.
func (p *userPlace) keep(ctx context.Context, t *attempt, lands bool) error {
	tree := t.c.tree
	if tree == nil || t.ev.End == nil {
		return nil
	}
	return tree.Records.Do(ctx, func() error {
		var err error
		if lands {
			p.e.run.recordScope(&t.a.Task, &t.f.Result)
			err = tree.Restore(ctx, t.f.Head)
		} else if err = t.work.Keep(ctx); err == nil {
			to := t.a.Base
			if t.ev.Work.Theirs {
				to = t.f.AgentHead
			}
			err = tree.Restore(ctx, to)
		}
		if paths := tree.Noted(); len(paths) > 0 {
			t.f.Note("left", plaintext.Listed(paths)+" is in no commit: left as it is, neither committed nor removed")
		}
		return errors.Join(err, p.e.run.guard.Backup.Save())
	})
}

// Quiet reports true: side by side nothing is collected that a check could spoil.
func (p *userPlace) Quiet() bool { return true }

// Again believes what was said before: the base is not checked out any more.
func (p *userPlace) Again(
	_ context.Context, _ checks.Question, _ checks.Check, before checks.Result, _ *bench.Trouble,
) (checks.Result, error) {
	return before, nil
}

// Ask runs checks in the checkout as it is, which must have the commit. Side by side no commit says what is there: what checks say before
// the work counts for the run, and after it they run each time.
func (p *userPlace) Ask(ctx context.Context, q checks.Question, tr *bench.Trouble, visit checks.Visit) error {
	if p.e.c.tree == nil {
		q.Commit, q.Anew = "", q.Anew || !q.Before
	}
	asker := bench.Asker{Checks: p.e.run.checks, Results: p.e.known, Room: func(q checks.Question) bench.Room { return userRoom{p, q} }}
	return asker.Ask(ctx, q, tr, visit)
}

// userRoom is the [bench.Room] of the user's checkout.
type userRoom struct {
	p *userPlace
	q checks.Question
}

// Enter lays the files that the question wants otherwise.
func (r userRoom) Enter(ctx context.Context, _ *bench.Trouble) (checks.Location, error) {
	return checks.Location{Attempt: r.q.Attempt, Logs: r.q.Logs, Dir: r.p.e.c.repo.Root()}, r.lay(ctx, r.q.LayFrom)
}

func (r userRoom) lay(ctx context.Context, from string) error {
	if len(r.q.Lay) == 0 {
		return nil
	}
	return (&worktree.Tree{Repo: r.p.e.c.tree.Repo}).Lay(ctx, from, r.q.Lay)
}

// PutBack puts protected files back, and notes it.
func (r userRoom) PutBack(ctx context.Context, check checks.Check, _ *bench.Trouble) ([]string, error) {
	tree, t := r.p.e.c.tree, r.p.t
	if tree == nil || r.q.Before || len(t.work.Protected()) == 0 {
		return nil, nil
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	var changed []string
	err := r.p.mending(ctx, func() (err error) {
		changed, err = tree.PutBack(ctx, r.q.Commit, t.work.Protects())
		return err
	})
	if len(changed) > 0 {
		t.f.Note("tamper", plaintext.Listed(changed)+", which is protected, was changed while "+check.Name+" ran; relay put it back")
	}
	t.f.Written = append(t.f.Written, changed...)
	return nil, err
}

// Rewritten returns nothing: the user sees what checks write here.
func (userRoom) Rewritten(context.Context) ([]checks.Rewritten, error) { return nil, nil }

// Leave puts the checkout back to the commit where that is not the work itself: what checks left there would be taken for the agent's.
func (r userRoom) Leave(ctx context.Context) error {
	tree := r.p.e.c.tree
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	if tree == nil || r.p.t.ev.End != nil {
		return r.lay(ctx, r.q.Commit)
	}
	return r.p.mending(ctx, func() error { return tree.Restore(ctx, r.q.Commit) })
}

// mending calls do, and calls it again when git refused and a check had changed .git, which the guard puts back.
func (p *userPlace) mending(ctx context.Context, do func() error) error {
	err, before := do(), len(p.t.seen.Notes)
	if err == nil {
		return nil
	}
	if looking := p.t.look(ctx); looking != nil || len(p.t.seen.Notes) == before {
		return errors.Join(err, looking)
	}
	return do()
}

// CheckReady refuses a checkout with uncommitted changes: they would be mixed up with an agent's.
func (e *userEngine) CheckReady(ctx context.Context) error {
	if e.c.tree == nil {
		return nil
	}
	return bench.RefuseUncommitted(ctx, e.c.repo)
}
