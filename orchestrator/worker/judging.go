package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"
	"relay/orchestrator/worker/merge"
	"relay/runners"
)

// judgingName is a file that is there while a panel reads, or checks of completed tasks run, in the user's checkout: what
// they began from.
const judgingName = "judging"

func (c *checkout) judgingFile() string { return filepath.Join(c.o.Dir, judgingName) }

// Span says where the run's branch began and is. There is nothing to run again where changes belong to no task, and none where
// a person is at work by now, or git says nothing.
func (c *checkout) Span(ctx context.Context) (from, tip string) {
	if c.tree == nil || c.CheckReady(ctx) != nil {
		return "", ""
	}
	if on, err := c.tree.OnBranch(ctx); err != nil || !on {
		return "", ""
	}
	tip, err := c.repo.Head(ctx)
	if err != nil {
		return "", ""
	}
	return c.from, tip
}

// recordHead takes note of where the branch begins in this run, unless an attempt of a killed run has said.
func (c *checkout) recordHead(ctx context.Context) error {
	head, err := c.tree.Head(ctx)
	c.from = text.FirstOf(c.from, head)
	return err
}

// Commit leaves out what a run with another isolation has landed on a branch of its own.
func (c *checkout) Commit(a attempts.Attempt) string {
	if a.Landed != "" || a.Result != attempts.ResultSuccess {
		return ""
	}
	return a.Head
}

// ask runs a task's checks in the checkout as it is, at its head, and puts it back. The epic's have passed on every task's work.
func (c *checkout) ask(ctx context.Context, q checks.Question, f *state, visit checks.Visit) (err error) {
	defer func() {
		uninterruptedCtx, cancel := uninterrupted(ctx)
		defer cancel()
		err = errors.Join(err, c.tree.Restore(uninterruptedCtx, q.Commit))
	}()
	for _, check := range q.Checks {
		if check.OfEpic {
			continue
		}
		s, err := c.checks.Run(ctx, checks.Location{Attempt: q.Attempt, Logs: q.Logs, Dir: c.repo.Root()}, check)
		if err != nil || ctx.Err() != nil || s.Unknown {
			return err
		}
		if more, err := visit(check, s); err != nil || !more {
			return err
		}
		if err := (&checkoutAttempt{checkout: c, a: q.Attempt}).putBackProtected(ctx, check, f); err != nil {
			return err
		}
	}
	return nil
}

// beginJudging takes note of where a panel begins, for a run that finds what it left.
func (c *checkout) beginJudging(a engine.Attempt, head string) error {
	c.watch()
	if err := os.RemoveAll(c.judgingFile()); err != nil {
		return err
	}
	return os.WriteFile(c.judgingFile(), []byte(strings.Join([]string{a.Run, strconv.Itoa(a.Number), head, c.tree.Branch, ""}, "\n")), 0o600)
}

// cleanUp puts the checkout back to where a panel found it.
func (c *checkout) cleanUp(ctx context.Context, f *state) error {
	defer c.unwatch()
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	if err := guardIn(c).guard(ctx, f); err != nil {
		return err
	}
	if err := c.tree.Restore(ctx, f.Head); err != nil {
		return err
	}
	return os.Remove(c.judgingFile())
}

const killedJudging = "relay was killed while reviewers read or checks ran in this checkout: "

func (c *checkout) Unclean() bool { return c.tree != nil && exists(c.judgingFile()) }

// cleanAfter puts the checkout back to where the panel of a killed run found it. All that is there is kept under a ref:
// a person can have worked here since. Their commits, and another branch, stay as they are.
func (c *checkout) CleanAfter(ctx context.Context) ([]attempts.Note, error) {
	if !c.Unclean() {
		return nil, nil
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	text, err := runners.ReadResultFile(c.judgingFile())
	if err != nil {
		return nil, err
	}
	was := strings.Split(string(text), "\n")
	if len(was) != 5 || was[3] != c.tree.Branch {
		return []attempts.Note{{Kind: "review", Text: killedJudging + "it is on another branch now, and stays as it is; git log shows whether they have committed"}}, os.Remove(c.judgingFile())
	}
	number, _ := strconv.Atoi(was[1])
	a := engine.Attempt{
		Run: was[0], Number: number, Base: was[2], Task: epic.Task{ID: engine.WholeEpic, Title: "what reviewers left"}, Ended: true,
	}
	err = errors.Join(c.tree.Unlock(ctx), c.loadOwn(ctx, a.Run))
	if err != nil || gitcmd.Halfway(c.tree.Repo) != "" {
		return nil, err
	}
	head, err := c.tree.Head(ctx)
	if err != nil {
		return nil, err
	}
	if theirs, err := c.committedSince(ctx, a, head); err != nil {
		return nil, err
	} else if theirs {
		return []attempts.Note{{Kind: "review", Text: killedJudging + "somebody has committed since, and it stays as it is; git log shows whether they have committed too"}}, os.Remove(c.judgingFile())
	}
	return c.putAway(ctx, a)
}

// putAway keeps what a panel has changed under a ref, and puts the checkout back.
func (c *checkout) putAway(ctx context.Context, a engine.Attempt) (notes []attempts.Note, err error) {
	head, err := c.tree.CommitLeftovers(ctx, merge.LeftMessage(c.o, a), nil)
	if err != nil {
		return nil, err
	}
	if head != a.Base {
		ref := salvageRef(c.o.Epic.ID, a) + "-" + a.Run // a review that came to nothing leaves its number to the next
		if err := c.tree.Keep(ctx, ref, head); err != nil {
			return nil, err
		}
		notes = []attempts.Note{{Kind: "review", Text: killedJudging + "what was changed since is no part of the work; git log -p " + a.Base + ".." + ref + " shows it"}}
	}
	if err := c.tree.Restore(ctx, a.Base); err != nil {
		return notes, err
	}
	return notes, os.Remove(c.judgingFile())
}

// committedSince reports whether somebody has committed after the last sign of a panel.
func (c *checkout) committedSince(ctx context.Context, a engine.Attempt, head string) (bool, error) {
	if head == a.Base {
		return false, nil
	}
	if kept, err := c.tree.Contains(ctx, a.Base, head); err != nil || !kept {
		return true, err
	}
	attemptfiles.AwaitEnds(ctx, filesOf(c.o.Dir, a).review)
	var last time.Time
	err := filepath.WalkDir(filesOf(c.o.Dir, a).review, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	times, err := worktree.CommitTimes(ctx, c.tree.Repo, a.Base, head)
	return slices.ContainsFunc(times, func(t int64) bool { return time.Unix(t, 0).After(last) }), err
}
