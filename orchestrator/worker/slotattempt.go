package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gitconfig"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/nested"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/panel"
	"relay/orchestrator/text"
	"relay/orchestrator/worker/steering"
	"relay/reanchor"
)

// guard puts back what was done to relay's own files, to .git and to the integration branch.
func (w *slotAttempt) guard(ctx context.Context, f *state) error {
	if err := guardIn(w.c).guard(ctx, f); err != nil {
		return err
	}
	if err := w.reportCheckout(ctx, w.c.did, f); err != nil {
		return err
	}
	return w.guardHead(context.WithoutCancel(ctx), f)
}

func (w *slotAttempt) guardHead(ctx context.Context, f *state) error {
	found, err := w.headGuard.Mend(ctx)
	if err == nil && found.Text != "" {
		guardIn(w.c).recordTampering(f, gitconfig.Tampering(found))
	}
	return err
}

func (w *slotAttempt) agentCheckout() *checkout { return w.c }

// attempt returns the course of the attempt in its slot.
func (w *slotAttempt) attempt() *attempt { return &attempt{attemptSteps: w, a: w.a, p: w.p} }

// prepare sets the slot up, or takes up what is known of one whose agent has ended under an earlier run.
func (w *slotAttempt) prepare(ctx context.Context, a *engine.Attempt) (state, error) {
	if a.Ended {
		return state{Result: engine.Result{Outcome: attempts.Success}}, w.loadList(ctx)
	}
	f, err := w.ready(ctx)
	if err != nil || f.Outcome != attempts.Success {
		return f, err
	}
	if w.mayAsk != nil && !a.Previous.AwaitsReview() {
		if why := w.mayAsk(ctx, *a); why != "" {
			f.Fail(attempts.Stopped, attempts.Interrupted, why)
			return f, nil
		}
	}
	a.BriefInput.Red, a.BriefInput.Passing = f.onBase.Red(w.o.Epic.Checks), f.onBase.Early(&a.Task)
	return f, nil
}

// loadList reads which files the set-up had made before the agent of an earlier run began.
func (w *slotAttempt) loadList(ctx context.Context) error {
	list := filepath.Join(w.p.folder, untrackedName)
	w.c.tree.User.Clear()
	if exists(list) { // an agent that has removed it must not have made all there is the set-up's
		if err := w.c.tree.User.Load(ctx, w.c.tree.Runner(), list); err != nil {
			return err
		}
	}
	w.c.tree.User.HideNothing()
	return nil
}

func (w *slotAttempt) startAgentTime(ctx context.Context) (end func(), err error) {
	if err := w.beginCheckout(ctx); err != nil {
		return nil, err
	}
	w.watch()
	return w.unwatch, nil
}

// finish does nothing: the engine leaves the slot, also when no agent was asked.
func (w *slotAttempt) finish(context.Context, *state) error { return nil }

// collect collects an attempt's work.
func (w *slotAttempt) collect(ctx context.Context, f *state) ([]reanchor.Change, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	f.written = append(f.written, f.onBase.Changed()...)
	if w.gone {
		head, err := w.home.Ref(ctx, w.c.tree.Branch)
		f.Head = head
		return nil, err
	}
	names, err := collectorIn(w.c).collect(ctx, w.a, f)
	f.theirs = false // nobody but agents works here
	if err == nil {
		w.refuseProvisioned(names, f)
	}
	return names, err
}

// checkWork puts the attempt's trailers onto its commits and has the checks pass on exactly them.
func (w *slotAttempt) checkWork(ctx context.Context, f *state) error {
	if f.Head != w.a.Base {
		err := w.stamp(ctx, f)
		if unfit, ok := errors.AsType[*integration.UnfitError](err); ok {
			f.Fail(attempts.Agent, attempts.CodeError, unfit.Error()+"; it is kept, but not landed")
			return nil
		}
		if gitcmd.Refused(ctx, err) && !gitcmd.DiskFault(err) && gitcmd.Whole(ctx, w.home, w.a.Base) {
			f.Fail(attempts.Agent, attempts.CodeError, "git does not take what the agent has committed: "+err.Error())
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := w.runChecks(ctx, f); err != nil {
		return err
	}
	if err := w.runHook(ctx, f); err != nil {
		return err
	}
	return w.failIfRedWithOldTests(ctx, f)
}

// ready is what comes before the agent: the slot is set up, and the checks are asked what they say of the base.
func (w *slotAttempt) ready(ctx context.Context) (state, error) {
	f := state{Result: engine.Result{Outcome: attempts.Success}}
	if err := w.provision(ctx, w.c.checkLocation(w.a, w.p), w.files, false, &f); err != nil || f.Outcome != attempts.Success {
		return f, err
	}
	if err := w.recordProvisioned(ctx); err != nil {
		return f, err
	}
	if err := w.baseline(ctx, &f); err != nil {
		return f, err
	}
	return f, w.holdBackForHook(ctx, &f)
}

// recordProvisioned tells what the set-up has made from what the agent will make, and writes it down: for a run that has to
// bring this attempt to its end, all that is not in that list is work.
func (w *slotAttempt) recordProvisioned(ctx context.Context) error {
	w.c.tree.User.Clear()
	w.c.config = steering.Digest(w.c.repo.Root())
	var err error
	if len(w.o.Worktree.Setup) > 0 {
		if w.inner, err = nested.Unique(ctx, w.c.tree.Repo); err != nil {
			return err
		}
	}
	if made := w.o.Worktree; len(made.Setup)+len(made.Copy)+len(made.Link) > 0 {
		if err := w.c.tree.User.Record(ctx, w.c.tree.Runner()); err != nil {
			return err
		}
	}
	list := filepath.Join(w.p.folder, untrackedName)
	if err := w.makeRoom(list); err != nil {
		return err
	}
	return w.c.tree.User.Save(list)
}

// reopenSlot makes sure that git reads the slot, and no other repository, before relay works in it. When an agent has
// destroyed it, what had been committed is all there is.
func (w *slotAttempt) reopenSlot(ctx context.Context, f *state) error {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	repo, remade, err := w.pool.Open(ctx, w.name, w.a.Base, w.branch(w.a))
	if err == nil {
		w.c = w.attemptIn(w.name, repo, w.a).inherit(w.c)
		if remade {
			f.Note("worktree", "the repository that "+w.a.Task.ID+" worked in was damaged or removed: its files are committed again")
		}
		return w.guardHead(ctx, f)
	}
	if !errors.Is(err, slot.ErrGone) {
		return err
	}
	if f.Outcome == attempts.Success {
		f.Fail(attempts.Agent, attempts.CodeError, "the agent destroyed its worktree")
	}
	f.Note("worktree", "the worktree of "+w.a.Task.ID+" was gone after the attempt; what had been committed is kept")
	w.c, w.gone = w.attemptIn(w.name, w.home, w.a).c, true
	return nil
}

// inherit takes over what is known of a checkout whose repository had to be opened again.
func (w *slotAttempt) inherit(c *checkout) *checkout {
	w.c.tree.User.Inherit(&c.tree.User)
	w.c.config = c.config
	w.c.traces, w.c.changesSeen, w.c.turned = c.traces, c.changesSeen, c.turned
	return w.c
}

// release frees the slot for another task, unless something in it is in no commit: then nobody gets it any more.
func (w *slotAttempt) release(ctx context.Context, f *state) error {
	if !w.gone {
		inner, err := nested.Unique(ctx, w.c.tree.Repo)
		if err != nil {
			return err
		}
		for path, what := range inner {
			if what != w.inner[path] {
				w.c.tree.Leave(path + "/")
			}
		}
	}
	if kept := w.c.tree.Outside(); len(kept) > 0 && !w.gone {
		f.Note("left", text.Listed(kept)+" is in no commit of this repository: it stays in "+w.relative(w.c.repo.Root())+", which no other task gets")
		return nil
	}
	if !w.gone {
		if err := w.keepAltered(ctx, f); err != nil {
			return err
		}
		w.c.tree.User.Remove(w.c.tree.Repo) // what the set-up made is made anew for the next one; what stays is told when the run ends
	}
	_ = os.Remove(filepath.Join(w.p.folder, slotFile)) // an agent may have: see reopen
	w.slots.release(w.name)
	return nil
}

// panelSession returns a session in which each reviewer gets a clean checkout of the head.
func (w *slotAttempt) panelSession(f *state) *panel.Session {
	s := w.c.panelSession(w.a, f.folder(w.p.review))
	s.Room = w.reviewSlots(f.Head)
	return s
}

// reviewSlots gives each reviewer a clean checkout of a commit.
func (s *slotEngine) reviewSlots(head string) func(ctx context.Context) (*reanchor.Git, func(), error) {
	return func(ctx context.Context) (*reanchor.Git, func(), error) {
		name, _ := s.slots.take(reviewSlot)
		repo, err := s.pool.Acquire(ctx, name, head, "")
		return repo, func() { s.slots.release(name) }, err
	}
}
