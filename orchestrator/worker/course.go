package worker

import (
	"context"
	"slices"

	"relay/epic"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/guard"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/runners"
)

// attempt is one attempt under way: where it works, what was seen of it, and what the ledger will record.
type attempt struct {
	run   *workspace
	a     engine.Attempt
	files relayfiles.Files
	c     *checkout // of the agent; set when the place is ready

	place  place
	agent  agent
	work   collect.Work
	checks acceptance
	panel  reviewing

	ev   verdict.Evidence
	f    collect.Account
	seen guard.Sightings

	end   func()    // of the time in which the agent's code runs; nil: it has not begun
	gone  bool      // the agent has destroyed its checkout
	other bool      // the next work that the agent left is to be collected, in place of the one that was
	tries int       // how often the work of this turn was collected
	saved *snapshot // what was known before that
	large bool      // files of the agent stand in the way if the disk is full
}

// snapshot is what is known of an attempt before its work is collected.
type snapshot struct {
	ev verdict.Evidence
	f  collect.Account
}

// place is where an attempt works: a slot, or the user's checkout.
type place interface {
	// open readies the place for the agent and sets t.c; what it finds in the way goes into t.ev.Ready.
	open(ctx context.Context, t *attempt) error
	// leave returns why an agent may not be asked now; "": it may.
	leave(ctx context.Context, a engine.Attempt) (why string)
	// look puts back what was done outside the attempt's checkout, beside what the guard of the run does.
	look(ctx context.Context, t *attempt) error
	// reopen makes sure that git can read the checkout before its work is collected. It reports true when the agent has destroyed it.
	reopen(ctx context.Context, t *attempt) (gone bool, err error)
	// commit commits what the agent has left and lists what it has changed.
	commit(ctx context.Context, t *attempt) ([]git.Change, error)
	// theirs reports whether a person has committed since the run of the attempt was killed.
	theirs(ctx context.Context, t *attempt) (bool, error)
	// mark marks the commits of the work as the attempt's.
	mark(ctx context.Context, t *attempt) error
	// keep keeps the work that does not land, and leaves the place as the next attempt or the user is to find it.
	keep(ctx context.Context, t *attempt, lands bool) error
}

// newAttempt returns an attempt that has not begun.
func newAttempt(g *workspace, a engine.Attempt) *attempt {
	t := &attempt{run: g, a: a, files: relayfiles.Of(g.o.Dir, a)}
	t.agent.t, t.checks.t, t.panel.t = t, t, t
	t.work = collect.Work{
		Attempt: &t.a, Options: g.o, Files: t.files, Evidence: &t.ev, State: &t.f,
		Theirs: func(ctx context.Context) (bool, error) { return t.place.theirs(ctx, t) },
	}
	if a.Ended { // what came before its agent is over
		t.ev.Base, t.ev.Leave = &verdict.Before{}, &verdict.Leave{}
	}
	verify := a.Task.Kind == epic.KindVerify
	free := verify || a.Task.AllowNoChange || a.Task.Kind == epic.KindReview
	t.ev.Task = verdict.Task{HasChecks: len(a.Task.Checks)+len(g.epicChecks()) > 0, MayBeNothing: free, Verify: verify}
	return t
}

// worksIn has the attempt work in a checkout.
func (t *attempt) worksIn(c *checkout) {
	t.c, t.work.Tree, t.work.Repo, t.work.InUsers = c, c.tree, c.repo, c.ceiling == ""
}

// carryOut takes the attempt through its course: the place is made ready, the agent is briefed and runs, its work is collected, checked
// and reviewed, and in the end lands or is kept. Package verdict says what has to be seen next, and rules. The error is a fault of relay's
// own machine, or of git in the checkout.
func (t *attempt) carryOut(ctx context.Context) error {
	ruling, err := t.rule(ctx)
	if t.end != nil {
		t.end()
	}
	if err != nil {
		return err
	}
	t.f.Record(&t.ev, ruling)
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	return t.place.keep(ctx, t, ruling.Lands())
}

// rule gathers evidence until it is enough for a ruling after which nothing more is asked of the agent.
func (t *attempt) rule(ctx context.Context) (verdict.Ruling, error) {
	for {
		ruling, need := verdict.Decide(&t.ev)
		err := t.gather(ctx, need)
		again := need != verdict.Nothing
		if err != nil && t.collectsAgain(ctx, err) {
			continue
		}
		if err == nil && !again {
			again, err = t.again(ctx, ruling)
		}
		if err != nil || !again {
			return ruling, err
		}
	}
}

// gather sees one part of the evidence.
func (t *attempt) gather(ctx context.Context, part verdict.Part) error {
	switch part {
	case verdict.Readied:
		return t.place.open(ctx, t)
	case verdict.Base:
		return t.checks.checkBase(ctx)
	case verdict.Started:
		t.ev.Leave = &verdict.Leave{}
		if !t.a.Previous.AwaitsReview() {
			t.ev.Leave.Refused = t.place.leave(ctx, t.a)
		}
		return nil
	case verdict.Turn:
		return t.agent.firstTurn(ctx)
	case verdict.Guarded:
		return t.look(ctx)
	case verdict.Worked:
		return t.collectWork(ctx)
	case verdict.Marked:
		t.ev.Mark = &verdict.Mark{}
		return t.place.mark(ctx, t)
	case verdict.Checked:
		return t.checks.check(ctx)
	case verdict.Hooked:
		return t.checks.askHookOnWork(ctx)
	case verdict.OldView:
		return t.checks.askFurther(ctx)
	case verdict.Judged:
		return t.panel.review(ctx)
	case verdict.Nothing:
	}
	return nil
}

// inUsers reports whether the attempt works in the user's own checkout.
func (t *attempt) inUsers() bool { return t.c.ceiling == "" }

// again has the agent work in its session again, if the ruling wants that and the run goes on.
func (t *attempt) again(ctx context.Context, r verdict.Ruling) (more bool, err error) {
	if ctx.Err() != nil {
		return false, nil //nolint:nilerr // a run that was stopped asks for nothing
	}
	switch r.Next {
	case verdict.AskResult:
		return true, t.agent.askResult(ctx)
	case verdict.AskWhy:
		return true, t.agent.askWhy(ctx)
	case verdict.Rework:
		return true, t.agent.rework(ctx)
	case verdict.TakeOther:
		t.collectAgain()
		t.other, t.f.Notes = true, slices.Clone(t.saved.f.Notes)
		return true, nil
	default:
		return false, nil
	}
}

// look puts back what code of the attempt did to what is not its own.
func (t *attempt) look(ctx context.Context) error {
	if err := t.c.look(ctx, &t.seen); err != nil {
		return err
	}
	if err := t.place.look(ctx, t); err != nil {
		return err
	}
	for _, n := range t.seen.Notes {
		t.f.Note(n.Kind, n.Text)
	}
	t.ev.Guard = &verdict.Guard{Why: t.seen.Why}
	return nil
}

// collectWork opens the place again and collects what there is of work.
func (t *attempt) collectWork(ctx context.Context) error {
	if t.tries == 0 {
		gone, err := t.place.reopen(ctx, t)
		if err != nil {
			return err
		}
		t.gone = gone
		t.saved = &snapshot{t.ev, t.f}
	}
	t.tries++
	t.ev.Work = &verdict.Work{Destroyed: t.gone}
	names, err := t.place.commit(ctx, t)
	if err != nil {
		return err
	}
	if t.ev.Work.Unattributed {
		return nil
	}
	return t.work.LookAtDiff(ctx, names)
}

// maxCollections bounds how often in a row the work is collected.
const maxCollections = 5

// collectsAgain reports whether to collect the work again after git refused something: once, and more often if a disk had time to empty.
func (t *attempt) collectsAgain(ctx context.Context, cause error) bool {
	if t.saved == nil || t.gone || !git.Refused(ctx, cause) || t.tries >= maxCollections {
		return false
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	said := ""
	if t.large && git.DiskFault(cause) {
		said, t.large = worktree.DropLarge(ctx, t.c.tree, t.files.Begun(), t.run.o.Limits.DiskFloor), false
	}
	if said != "" {
		t.f.Note("left", said)
		t.saved.ev.End.Is, t.saved.ev.End.Said = runners.Failed, "the agent "+runners.FilledDisk+": "+said
	} else if !git.AwaitRoom(ctx, cause) && t.tries > 1 {
		return false
	}
	t.collectAgain()
	return true
}

// collectAgain has the work be collected again, from what was known before that.
func (t *attempt) collectAgain() {
	notes, onBase := t.f.Notes, t.f.OnBase
	t.ev, t.f = t.saved.ev, t.saved.f
	t.f.Notes, t.f.OnBase = slices.Clone(notes), onBase
}
