package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/reanchor"
)

// lane is one attempt in its worktree.
type lane struct {
	*lanes
	a      Assignment
	p      place
	name   string // of the worktree
	c      *checkout
	before baseline
}

// lane makes a worktree a place to work in.
func (l *lanes) lane(name string, repo *reanchor.Git, a Assignment) *lane {
	c := &checkout{ground: l.ground, repo: repo, tree: &worktree{repo: repo, branch: "refs/heads/" + l.branch(a)}}
	c.facts = reanchor.NewCached(repo, recentCommits, 0, l.now)
	c.ceiling = filepath.Dir(repo.Root())
	return &lane{lanes: l, a: a, p: placeOf(l.o.Dir, a), name: name, c: c}
}

// carry runs the agent and holds what it made against the evidence.
func (w *lane) carry(ctx context.Context) (Finding, error) {
	a, p, c := w.a, w.p, w.c
	if a.Ended {
		if err := c.recall(ctx, filepath.Join(p.folder, untrackedName)); err != nil {
			return Finding{}, err
		}
	} else if f, err := w.ready(ctx); err != nil || f.Outcome != attempts.Success {
		return f, err
	}
	report, err := c.agent(ctx, a, p)
	if err != nil {
		return Finding{}, err
	}
	f := judge(report)
	c.tree.standApart(ctx)
	if err := w.guard(ctx, &f); err != nil {
		return f, err
	}
	names, err := w.gather(ctx, &f)
	if err != nil {
		return f, err
	}
	if err := c.weigh(ctx, a, names, &f); err != nil || f.Outcome != attempts.Success {
		return f, err
	}
	return f, w.examine(ctx, &f)
}

// guard puts back what was done to relay's own files, to .git and to the integration branch.
func (w *lane) guard(ctx context.Context, f *Finding) error {
	if err := w.c.guard(ctx, f); err != nil {
		return err
	}
	why, err := w.tips.mend(context.WithoutCancel(ctx))
	if err == nil && why != "" {
		f.note("tamper", why)
		w.c.blame(f, why)
	}
	return err
}

// ready is what comes before the agent: the worktree is set up, and the checks are asked what they say of the base.
func (w *lane) ready(ctx context.Context) (Finding, error) {
	f := Finding{Outcome: attempts.Success}
	if err := w.equip(ctx, w.a, w.p, w.c.repo.Root(), &f); err != nil || f.Outcome != attempts.Success {
		return f, err
	}
	if err := w.takeStock(ctx); err != nil {
		return f, err
	}
	err := w.baseline(ctx, &f)
	return f, err
}

// takeStock tells what the set-up has made from what the agent will make, and writes it down: for a run that has to
// bring this attempt to its end, all that is not in that list is work.
func (w *lane) takeStock(ctx context.Context) error {
	w.c.tree.mine, w.c.tree.hidden = make(map[string]bool), make(map[string]bool)
	if made := w.o.Worktree; len(made.Setup)+len(made.Copy)+len(made.Link) > 0 {
		if err := w.c.tree.remember(ctx); err != nil {
			return err
		}
	}
	return w.c.noteUntracked(filepath.Join(w.p.folder, untrackedName))
}

// gather collects an attempt's work. An agent that destroyed its own worktree has nobody's work but its own on its
// conscience: what it had committed is kept.
func (w *lane) gather(ctx context.Context, f *Finding) ([]reanchor.Change, error) {
	a, c := w.a, w.c
	ctx, cancel := settling(ctx)
	defer cancel()
	names, err := c.collect(ctx, a, f)
	var said *reanchor.GitError
	if err == nil || !errors.As(err, &said) && !errors.Is(err, os.ErrNotExist) || unasked(err) != nil || c.tree.readable(ctx, a.Base) {
		f.theirs = false // nobody but agents works here
		return names, err
	}
	if head, err := w.home.Head(ctx); err != nil || head == "" { // the repository itself is not well
		return nil, errors.Join(said, err)
	}
	if f.Outcome == attempts.Success {
		f.fail(attempts.Agent, attempts.CodeError, "the agent destroyed its worktree: git cannot read it any more")
	}
	f.note("worktree", "the worktree of "+a.Task.ID+" could not be read after the attempt; what was committed is kept")
	f.Head, err = w.home.Ref(ctx, c.tree.branch)
	return nil, err
}

// examine stamps the commits, has the checks pass on exactly them, and asks the reviewer.
func (w *lane) examine(ctx context.Context, f *Finding) error {
	a, c := w.a, w.c
	if f.Head != a.Base {
		stamped, err := w.trunk.stamp(ctx, a.Base, f.Head, w.trailers(a))
		if err != nil {
			return err
		}
		if err := c.tree.keep(ctx, c.tree.branch, stamped); err != nil {
			return err
		}
		f.Head = stamped
	}
	if err := w.prove(ctx, f); err != nil {
		return err
	}
	if f.Outcome == attempts.Success {
		if err := c.review(ctx, a, w.p, f); err != nil {
			return err
		}
	}
	return w.guard(ctx, f)
}
