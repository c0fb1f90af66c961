package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/schedule"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// orphan is an attempt that a killed run left open.
type orphan struct {
	task    string
	record  attempts.TaskRecord // without the open attempt
	attempt attempts.Attempt
}

func orphansOf(o *Options, l *attempts.Ledger) []orphan {
	var found []orphan
	for i := range o.Graph.Len() {
		id := o.Graph.ID(i)
		rec := l.Tasks[id]
		if rec == nil || rec.Running() == nil {
			continue
		}
		found = append(found, orphan{task: id, attempt: *rec.Running()})
	}
	return found
}

func (n *night) orphans() []orphan {
	var found []orphan
	n.store.View(func(l *attempts.Ledger) { found = orphansOf(n.o, l) })
	for i := range found {
		found[i].record = n.store.Task(found[i].task)
		found[i].record.Attempts = found[i].record.Attempts[:len(found[i].record.Attempts)-1]
	}
	return found
}

// adopt brings the attempts of a killed run to their end, one after the other: one whose agent had finished is judged by its
// evidence, the others are interrupted, uncharged, with their work kept.
func (n *night) adopt(ctx context.Context, c local, orphans []orphan) error {
	for _, o := range orphans {
		if err := n.adoptTask(ctx, c, o); err != nil {
			return err
		}
	}
	return nil
}

// resume has workers bring the attempts of a killed run to their end before they take new tasks, side by side. What these attempts
// met at their runners is not known yet: one new attempt asks a runner before all others do.
func (n *night) resume(c local, orphans []orphan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range orphans {
		at, known := n.o.Graph.Index(o.task)
		if !known {
			continue
		}
		n.plan.Start(at)
		n.pool.Probe(o.attempt.Runner, n.moment())
		c.reserve(Assignment{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Attempt: o.attempt.ID})
		n.left = append(n.left, job{index: at, runner: o.attempt.Runner, adopt: func(ctx context.Context) error { return n.adoptTask(ctx, c, o) }})
	}
}

// adoptTask brings one attempt of a killed run to its end.
func (n *night) adoptTask(ctx context.Context, c local, o orphan) error {
	task, ok := n.o.Epic.Task(o.task)
	if !ok {
		return nil
	}
	a := Assignment{
		Run: o.attempt.Run, Task: *task, Attempt: o.attempt.ID, Base: o.attempt.Base,
		Runner: o.attempt.Runner, Model: o.attempt.Model, Wall: n.o.Limits.Wall, Ended: true,
	}
	a.EarlierFindings, a.Heard = earlierFindings(o.record), o.attempt.Heard
	a.Known = known(n.o, n.store, task, n.o.Limits.wall(task))
	a.Known.Record = o.record
	if last, ok := schedule.Previous(o.record); ok && last.AwaitsReview() && !placeOf(n.o.Dir, a).used() {
		a.Unfinished = last // this attempt began with its review
	}
	n.locked(func() { a.Closed = n.pool.Closed(n.moment()) })
	err := n.adoptOne(ctx, c, a, o)
	if err != nil && ctx.Err() == nil {
		err = n.giveUp(ctx, c, a, o, err)
	}
	if err != nil {
		return fmt.Errorf("recover %s: %w", o.task, err)
	}
	return nil
}

// abandoner is an engine in which an attempt that git cannot bring to its end is in no other task's way.
type abandoner interface {
	// Abandon keeps what is committed of the attempt, and says so in its result; the rest stays where it is.
	Abandon(ctx context.Context, a Assignment, r Result) (Result, error)
}

// giveUp gates a task whose attempt git cannot bring to its end: it would end every run, and the other tasks can go on.
func (n *night) giveUp(ctx context.Context, c local, a Assignment, o orphan, cause error) error {
	place, ok := c.(abandoner)
	var said *reanchor.GitError
	if !ok || !errors.As(cause, &said) || said.Code < 0 { // git was stopped, or could not run
		return cause
	}
	r := Result{Gate: attempts.Infrastructure}
	r.fail(attempts.Environment, attempts.CLIError, "git cannot collect what the agent left: "+cause.Error())
	r, err := place.Abandon(ctx, a, r)
	if err != nil {
		return errors.Join(cause, err)
	}
	return n.concludes(a, o, r)
}

// adoptOne brings one attempt to its end, or to where it waits for its landing.
func (n *night) adoptOne(ctx context.Context, c local, a Assignment, o orphan) error {
	ended, err := c.revive(ctx, a, o.attempt)
	if err != nil {
		return err
	}
	if ended != nil {
		return n.hasLanded(a, o, ended)
	}
	f, err := n.engine.Attempt(ctx, a)
	if err != nil {
		return err
	}
	if n.train != nil && f.Outcome == attempts.Success {
		at, _ := n.o.Graph.Index(o.task)
		n.board(car{Ready: Ready{a, f}, job: job{index: at, runner: a.Runner}, record: o.record, began: n.ran()})
		return nil
	}
	return n.concludes(a, o, f)
}

// hasLanded records the end of an attempt whose work was on the integration branch when its run was killed.
func (n *night) hasLanded(a Assignment, o orphan, ended *attempts.Ended) error {
	err := n.store.AppendLater(attempts.Event{Type: attempts.TypeAttemptEnded, Task: o.task, Attempt: a.Attempt, Ended: ended})
	n.mu.Lock()
	defer n.mu.Unlock()
	if ended.Usage != nil {
		n.budget.End(o.task, *ended.Usage, false)
	}
	if n.plan != nil {
		at, _ := n.o.Graph.Index(o.task)
		n.plan.Complete(at)
		n.announce()
	}
	return err
}

// concludes records what an attempt of a killed run has come to.
func (n *night) concludes(a Assignment, o orphan, f Result) error {
	if n.plan != nil {
		at, _ := n.o.Graph.Index(o.task)
		return n.close(job{index: at, runner: a.Runner}, a, o.record, f, n.ran()-n.since(o.attempt.StartedAt))
	}
	e, _, err := n.record(a, o.record, f)
	if err != nil {
		return err
	}
	n.locked(func() {
		n.budget.End(o.task, f.Usage, false)
		n.report(a, f, e, n.since(o.attempt.StartedAt))
	})
	return nil
}

// reserve does nothing: there is one place.
func (c *checkout) reserve(Assignment) {}

// revive makes ready to judge an attempt that a killed run left open.
func (c *checkout) revive(ctx context.Context, a Assignment, _ attempts.Attempt) (*attempts.Ended, error) {
	if c.tree == nil {
		return nil, nil
	}
	c.from = firstOf(c.from, a.Base) // its commits can be there already
	return nil, c.tree.ReadMine(ctx, c.untrackedFile(a.Run))
}

// settled refuses a checkout with changes nobody has committed: they would be mixed up with an agent's.
func (c *checkout) settled(ctx context.Context) error {
	if c.tree == nil {
		return nil
	}
	if half := c.tree.Halfway(); half != "" {
		return &text.RefusedError{Reason: "a " + half + " is half done in this checkout", Hint: "finish it, or end it as git status says, then relay work"}
	}
	changes, err := c.repo.Changes(ctx)
	if err != nil {
		return err
	}
	var dirty []string
	for _, ch := range changes {
		if ch.Code != "??" {
			dirty = append(dirty, attempts.Clean(ch.Path, 80))
		}
	}
	if len(dirty) == 0 {
		return nil
	}
	shown := strings.Join(dirty[:min(3, len(dirty))], ", ")
	if len(dirty) > 3 {
		shown += fmt.Sprintf(" and %d more", len(dirty)-3)
	}
	return &text.RefusedError{Reason: "there are uncommitted changes in this checkout: " + shown, Hint: "git commit or git stash them, then relay work"}
}

func (c *checkout) awake(context.Context) error { return c.keepIgnore() }

// begin takes note of what is the user's own before the first attempt.
func (c *checkout) begin(ctx context.Context) error {
	if err := c.keepIgnore(); err != nil {
		return err
	}
	if c.tree == nil {
		var copying errgroup.Group
		copying.Go(c.vault.Save)
		_, err := c.state(ctx) // asked now, while the disk is busy, for the first attempts
		return errors.Join(err, copying.Wait())
	}
	if err := errors.Join(c.noteHead(ctx), c.tree.Remember(ctx)); err != nil {
		return err
	}
	if err := c.tree.WriteMine(c.untrackedFile(c.o.Run)); err != nil {
		return err
	}
	return errors.Join(c.stash.begin(), c.vault.Save())
}

func (c *checkout) close(context.Context) ([]string, error) {
	return nil, errors.Join(c.user.Close(), c.vault.Close())
}

// found takes note of where an attempt left the branch. An attempt of a killed run may have been set aside already, or
// half: then it is put back to how the agent left it, and judged again.
func (c *checkout) found(ctx context.Context, a Assignment, f *Finding) error {
	head, err := c.tree.Head(ctx)
	if kept := placeOf(c.o.Dir, a).kept(); err == nil && a.Ended && head == a.Base && kept != "" {
		head, err = c.tree.BringBack(ctx, head, kept)
	}
	if err != nil {
		return err
	}
	f.agentHead = head
	if !a.Ended || head == a.Base {
		return nil
	}
	if f.agentHead, err = c.tree.Peel(ctx, head, commitMessage(c.o.Epic.ID, a)); err != nil {
		return err
	}
	f.theirs, err = c.theirs(ctx, a, f.agentHead)
	return err
}

// theirs reports whether a person has committed since the run was killed: their commits stay where they are.
func (c *checkout) theirs(ctx context.Context, a Assignment, head string) (bool, error) {
	if kept, err := c.tree.Contains(ctx, a.Base, head); err != nil || !kept {
		return true, err
	}
	last := lastSeen(placeOf(c.o.Dir, a))
	times, err := c.tree.CommitTimes(ctx, a.Base, head)
	return slices.ContainsFunc(times, func(t int64) bool { return time.Unix(t, 0).After(last) }), err
}

// lastSeen is the last moment at which the attempt's processes can have been alive.
func lastSeen(p place) time.Time {
	var last time.Time
	q := p.question()
	paths := []string{p.end, p.transcript, p.stderr, p.brief, q.end, q.transcript, q.stderr, q.brief}
	for n := 1; p.round(n).used(); n++ {
		paths = append(paths, p.round(n).end, p.round(n).transcript, p.round(n).stderr, p.round(n).brief)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// cutMark takes a mark apart.
func cutMark(mark string) (run, task, attempt string) {
	run, rest, _ := strings.Cut(mark, "/")
	task, attempt, _ = strings.Cut(rest, "/")
	return run, task, attempt
}
