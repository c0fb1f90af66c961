package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/precheck"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
	"relay/reanchor"
)

// userEngine is the [engine.Engine] of the user's own checkout: of isolation none, and of shared, where changes belong to no task.
type userEngine struct {
	run  *workspace
	c    *checkout
	from string // where the branch ended when the run began

	known *checks.Cache
	epic  checks.Baseline // what the epic's checks said of the commit that the next attempt begins from
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
		return "", &text.RefusedError{Reason: "this checkout is not on branch " + began + " any more, where the run began", Hint: "git switch " + began + ", then relay work"}
	}
	return e.c.repo.Head(ctx)
}

// Run runs an attempt in the checkout, and either leaves its commits on the branch or sets them aside.
func (e *userEngine) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	t := e.attempt(a)
	err := t.carryOut(ctx)
	return t.f.Result, err
}

// Brief writes the brief, if nothing that an attempt begins with could change what it says.
func (e *userEngine) Brief(ctx context.Context, a engine.Attempt) error {
	if e.c.tree != nil {
		return nil
	}
	p := attemptfiles.Of(e.run.o.Dir, a)
	if err := e.c.brief(ctx, a, p); err != nil {
		return err
	}
	for _, output := range []string{p.Transcript, p.Stderr} { // new files take a disk a while, opening them does not
		f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // the supervisor looks at what it is
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Origin returns nothing: attempts end on the user's branch.
func (e *userEngine) Origin() attempts.Integration { return e.run.Origin() }

// Tip returns the commit of the checkout.
func (e *userEngine) Tip(ctx context.Context) (string, error) { return e.run.Tip(ctx) }

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (e *userEngine) Asked(a engine.Attempt) bool { return e.run.Asked(a) }

// Admit refuses a run that cannot work as things are. What a killed run with the same isolation left does not count: that is recovered
// first.
func (e *userEngine) Admit(ctx context.Context, l *attempts.Ledger, open []engine.Attempt) error {
	here, err := precheck.RefuseOtherIsolation(ctx, e.run.o, l, open)
	if err != nil || here {
		return err
	}
	if e.c.tree != nil {
		if err := precheck.RefuseUnread(ctx, e.c.repo, e.readingFile()); err != nil {
			return err
		}
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
		var copying errgroup.Group
		copying.Go(w.Backup.Save)
		_, err := e.c.state(ctx) // asked now, while the disk is busy, for the first attempts
		return errors.Join(err, copying.Wait())
	}
	head, err := tree.Head(ctx)
	e.from = text.FirstOf(e.from, head) // unless an attempt of a killed run has said
	if err := errors.Join(err, tree.User.Record(ctx, tree.Runner()), tree.Records.Record(ctx)); err != nil {
		return err
	}
	if err := errors.Join(tree.User.Save(e.untrackedFile(e.run.o.Run)), tree.Records.Save(e.entriesFile(e.run.o.Run))); err != nil {
		return err
	}
	return errors.Join(w.Stash.Record(), w.Backup.Save())
}

// entriesFile has the lines of the ledger of LedgerSync that were in no commit before a run, and are the user's.
func (e *userEngine) entriesFile(run string) string {
	return filepath.Join(e.run.o.Dir, "runs", run, "entries-before")
}

// untrackedFile lists what was not tracked before a run, and is the user's.
func (e *userEngine) untrackedFile(run string) string {
	return filepath.Join(e.run.o.Dir, "runs", run, attemptfiles.UntrackedName)
}

// Reserve does nothing: there is one checkout.
func (e *userEngine) Reserve(engine.Attempt) {}

// Resume makes ready to judge an attempt that a killed run left open.
func (e *userEngine) Resume(ctx context.Context, a engine.Attempt, _ attempts.Attempt) (*attempts.Ended, error) {
	tree := e.c.tree
	if tree == nil {
		return nil, nil
	}
	e.from = text.FirstOf(e.from, a.Base) // its commits can be there already
	return nil, errors.Join(tree.User.Load(ctx, tree.Runner(), e.untrackedFile(a.Run)), tree.Records.Load(ctx, e.entriesFile(a.Run)))
}

// Close forgets the copies of what is the user's.
func (e *userEngine) Close(context.Context) ([]string, error) {
	return nil, errors.Join(e.run.guard.Tools.Close(), e.run.guard.Backup.Close())
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
	t.place, t.checks.bench, t.c = p, p, e.c
	if a.Ended { // what came before its agent is over
		t.ev.Base, t.ev.Leave = &verdict.Before{}, &verdict.Leave{}
		t.f.OnBase = checks.Baseline{}
	}
	return t
}

// open does nothing: the checkout is there.
func (p *userPlace) open(_ context.Context, t *attempt) error {
	t.ev.Ready = &verdict.Ready{}
	return nil
}

func (p *userPlace) begin(_ context.Context, t *attempt) error {
	p.e.run.guard.Enter()
	t.end = p.e.run.guard.Leave
	return nil
}

func (p *userPlace) leave(context.Context, engine.Attempt) string   { return "" }
func (p *userPlace) look(context.Context, *attempt) error           { return nil }
func (p *userPlace) reopen(context.Context, *attempt) (bool, error) { return false, nil }
func (p *userPlace) regain(context.Context, *attempt) (bool, error) { return false, nil }

// commit collects the work, if need be after .git was put back. Side by side changes belong to no task: nothing is collected.
func (p *userPlace) commit(ctx context.Context, t *attempt) (names []reanchor.Change, err error) {
	tree := t.c.tree
	if tree == nil {
		t.ev.Work.Unattributed = true
		return nil, nil
	}
	ctx, cancel := gitcmd.Uninterrupted(ctx)
	defer cancel()
	err = tree.Records.Do(ctx, func() (err error) {
		names, err = t.work.commit(ctx)
		var refusal *reanchor.GitError
		if !errors.As(err, &refusal) || ctx.Err() != nil || gitcmd.Unasked(err) != nil || tree.Readable(ctx, t.a.Base) {
			return err
		}
		why, mending := p.e.run.guard.Backup.Restore(ctx, func() bool { return false })
		if mending != nil {
			return errors.Join(err, mending)
		}
		t.seen.Note("tamper", why)
		t.seen.IfAlone(t.c.site(), why)
		t.f.Note("tamper", why)
		t.ev.Guard = &verdict.Guard{Why: t.seen.Why}
		names, err = t.work.commit(ctx)
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
			p.e.epic = t.f.OfEpic
			err = tree.Restore(ctx, t.f.Head)
		} else if err = t.work.keepWork(ctx); err == nil {
			to := t.a.Base
			if t.ev.Work.Theirs {
				to = t.f.AgentHead
			}
			err = tree.Restore(ctx, to)
		}
		if paths := tree.Noted(); len(paths) > 0 {
			t.f.Note("left", text.Listed(paths)+" is in no commit: left as it is, neither committed nor removed")
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

// Ask runs checks in the checkout as it is, which must have the commit, and puts back what they change. Before the work each list is run
// once for a tree; the epic's once for the run, after which what it said of the last success counts.
func (p *userPlace) Ask(ctx context.Context, q checks.Question, tr *bench.Trouble, visit checks.Visit) (err error) {
	tree, key := p.e.c.tree, ""
	if tree != nil {
		if key, err = p.e.c.repo.Tree(ctx, q.Commit); err != nil {
			return err
		}
	}
	for _, list := range q.Lists() {
		if list.OfEpic() {
			key = ""
		}
		if more, err := p.askList(ctx, list, key, tr, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

func (p *userPlace) askList(
	ctx context.Context, q checks.Question, tree string, tr *bench.Trouble, visit checks.Visit,
) (more bool, err error) {
	run := func() (results []checks.Result, whole bool, err error) {
		results, more, err = p.runList(ctx, q, tr, visit)
		return results, more, err
	}
	if !q.Before || q.Anew {
		_, _, err = run()
		return more, err
	}
	results, cached, err := p.e.known.Get(ctx, p.e.run.checks.Key(q, tree, ""), q.Believed, run)
	switch {
	case err != nil:
		return false, err
	case results == nil && !tr.Any() && ctx.Err() != nil: // another task waited for it
		tr.Stopped = "before the agent began"
		return false, nil //nolint:nilerr // the attempt ends as stopped
	case cached:
		return q.Replay(p.e.lastOf(q, results), visit)
	}
	return more, nil
}

// lastOf returns what the epic's checks said of the last success, in place of what they said when the run began.
func (e *userEngine) lastOf(list checks.Question, results []checks.Result) []checks.Result {
	results = slices.Clone(results)
	for i, check := range list.Checks {
		if last, ok := e.epic[check.Key()]; ok && check.OfEpic {
			results[i] = last
		}
	}
	return results
}

// runList runs a list of checks, and takes back what they change: all of it before the work, and after it what no check may change.
func (p *userPlace) runList(
	ctx context.Context, q checks.Question, tr *bench.Trouble, visit checks.Visit,
) (list []checks.Result, more bool, err error) {
	tree := p.e.c.tree
	if tree != nil && (p.t.ev.End == nil || len(q.Lay) > 0) {
		back, cancel := gitcmd.Uninterrupted(ctx)
		defer cancel()
		defer func() { err = errors.Join(err, p.restore(back, q)) }()
		if err := (&worktree.Tree{Repo: tree.Repo}).Lay(ctx, q.LayFrom, q.Lay); err != nil {
			return nil, false, err
		}
	}
	for _, check := range q.Checks {
		r, err := p.e.run.checks.Run(ctx, checks.Location{Attempt: q.Attempt, Logs: q.Logs, Dir: p.e.c.repo.Root()}, check)
		switch {
		case ctx.Err() != nil && q.Before:
			tr.Stopped = "before the agent began"
			return list, false, nil
		case ctx.Err() != nil:
			tr.StoppedAt(check.Name)
			return list, false, nil
		case err != nil:
			return list, false, err
		case r.Unknown:
			tr.Unseen = check.Name
			return list, false, nil
		}
		if err := p.putBack(ctx, q, check); err != nil {
			return list, false, err
		}
		list = append(list, r)
		if more, err := visit(check, r); err != nil || !more {
			return list, false, err
		}
	}
	return list, true, nil
}

// putBack puts protected files back that were changed while a check ran on the work: the next one would depend on them.
func (p *userPlace) putBack(ctx context.Context, q checks.Question, check checks.Check) error {
	tree := p.e.c.tree
	if tree == nil || q.Before || len(p.t.work.protected()) == 0 {
		return nil
	}
	ctx, cancel := gitcmd.Uninterrupted(ctx)
	defer cancel()
	changed, err := tree.PutBack(ctx, q.Commit, p.t.work.protects())
	if len(changed) > 0 {
		p.t.f.Note("tamper", text.Listed(changed)+", which is protected, was changed while "+check.Name+" ran; relay put it back")
	}
	p.t.f.Written = append(p.t.f.Written, changed...)
	return p.mended(ctx, err)
}

// restore puts the checkout back to a commit: what checks left there would be taken for the agent's work.
func (p *userPlace) restore(ctx context.Context, q checks.Question) error {
	if len(q.Lay) > 0 {
		return (&worktree.Tree{Repo: p.e.c.tree.Repo}).Lay(ctx, q.Commit, q.Lay)
	}
	err := p.e.c.tree.Restore(ctx, q.Commit)
	if err == nil || p.mended(ctx, err) != nil {
		return err
	}
	return p.e.c.tree.Restore(ctx, q.Commit)
}

// mended puts right what a check may have done to .git, when git refuses; it returns nil if that was serious and is seen.
func (p *userPlace) mended(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if looking := p.t.look(ctx); looking != nil || p.t.seen.Why == "" {
		return errors.Join(err, looking)
	}
	return nil
}

// CheckReady refuses a checkout with uncommitted changes: they would be mixed up with an agent's.
func (e *userEngine) CheckReady(ctx context.Context) error {
	if e.c.tree == nil {
		return nil
	}
	return precheck.RefuseUncommitted(ctx, e.c.repo)
}
