package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"

	"golang.org/x/sync/errgroup"
	"relay/orchestrator/worker/merge"
)

// Reserve does nothing: there is one checkout.
func (c *checkout) Reserve(engine.Attempt) {}

// Resume makes ready to judge an attempt that a killed run left open.
func (c *checkout) Resume(ctx context.Context, a engine.Attempt, _ attempts.Attempt) (*attempts.Ended, error) {
	if c.tree == nil {
		return nil, nil
	}
	c.from = text.FirstOf(c.from, a.Base) // its commits can be there already
	return nil, c.loadOwn(ctx, a.Run)
}

// CheckReady refuses a checkout with changes nobody has committed: they would be mixed up with an agent's.
func (c *checkout) CheckReady(ctx context.Context) error {
	if c.tree == nil {
		return nil
	}
	if half := gitcmd.Halfway(c.tree.Repo); half != "" {
		return &text.RefusedError{Reason: "a " + half + " is half done in this checkout", Hint: "finish it, or end it as git status says, then relay work"}
	}
	changes, err := c.repo.Changes(ctx)
	if err != nil {
		return err
	}
	var dirty []string
	for _, ch := range recordfiles.Others(ctx, c.tree.Repo, changes) {
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

func (c *checkout) Awake(context.Context) error { return c.keepIgnore() }

// Begin takes note of what is the user's own before the first attempt.
func (c *checkout) Begin(ctx context.Context) error {
	if err := c.keepIgnore(); err != nil {
		return err
	}
	if c.tree == nil {
		var copying errgroup.Group
		copying.Go(c.backup.Save)
		_, err := c.state(ctx) // asked now, while the disk is busy, for the first attempts
		return errors.Join(err, copying.Wait())
	}
	if err := errors.Join(c.recordHead(ctx), c.tree.User.Record(ctx, c.tree.Runner()), c.tree.Records.Record(ctx)); err != nil {
		return err
	}
	if err := errors.Join(c.tree.User.Save(c.untrackedFile(c.o.Run)), c.tree.Records.Save(c.entriesFile(c.o.Run))); err != nil {
		return err
	}
	return errors.Join(c.stash.Record(), c.backup.Save())
}

func (c *checkout) Close(context.Context) ([]string, error) {
	return nil, errors.Join(c.user.Close(), c.backup.Close())
}

// findHead takes note of where an attempt left the branch. An attempt of a killed run may have been set aside already, or
// half: then it is put back to how the agent left it, and judged again.
func (c collector) findHead(ctx context.Context, a engine.Attempt, f *state) error {
	head, err := c.tree.Head(ctx)
	if kept := filesOf(c.o.Dir, a).kept(); err == nil && a.Ended && head == a.Base && kept != "" {
		head, err = c.tree.BringBack(ctx, head, kept)
	}
	if err != nil {
		return err
	}
	f.agentHead = head
	if !a.Ended || head == a.Base {
		return nil
	}
	if f.agentHead, err = worktree.Peel(ctx, c.tree.Repo, head, merge.LeftMessage(c.o, a)); err != nil {
		return err
	}
	f.theirs, err = c.committedSinceKill(ctx, a, f.agentHead)
	return err
}

// committedSinceKill reports whether a person has committed since the run was killed: their commits stay where they are.
func (c collector) committedSinceKill(ctx context.Context, a engine.Attempt, head string) (bool, error) {
	if kept, err := c.tree.Contains(ctx, a.Base, head); err != nil || !kept {
		return true, err
	}
	last := lastSeen(filesOf(c.o.Dir, a))
	times, err := worktree.CommitTimes(ctx, c.tree.Repo, a.Base, head)
	return slices.ContainsFunc(times, func(t int64) bool { return time.Unix(t, 0).After(last) }), err
}

// lastSeen is the last moment at which the attempt's processes can have been alive.
func lastSeen(p attemptFiles) time.Time {
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
