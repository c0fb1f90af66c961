package checkup

import (
	"context"
	"fmt"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/status"
	"relay/orchestrator/engine"
	"relay/orchestrator/epicbranch"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/runlock"
	"relay/orchestrator/text"
)

func (c *checkup) repository(ctx context.Context) {
	facts, err := c.project.Git.Facts(ctx, 1)
	if err != nil {
		c.gitFailed(err)
		return
	}
	listed := c.project.Config != nil
	isolation := string(engine.IsolationWorktree) // the default, as long as nobody can read what is set
	if listed {
		isolation = c.project.Config.Relay.Isolation
	}
	apart := isolation == string(engine.IsolationWorktree) // then the run begins from HEAD's commit, whatever is under way here
	switch {
	case facts.Head == "":
		c.add(Fail, "repository", "there is no commit yet, so nothing to go back to", "git add -A && git commit --allow-empty -m Begin")
		return
	case facts.Branch == "" && !apart:
		c.add(Fail, "repository", "HEAD is detached: the work would be on no branch", "git switch -c BRANCH")
		return
	case facts.Unmerged && !apart:
		c.add(Fail, "repository", "a merge or rebase is half done", "finish it, or git merge --abort or git rebase --abort")
		return
	case facts.Branch == "":
		c.add(Warn, "repository", fmt.Sprintf("HEAD is detached at %.12s: relay finish will not know where the work belongs", facts.Head), "git switch BRANCH now, or later relay finish --into BRANCH")
	default:
		c.add(OK, "repository", fmt.Sprintf("branch %s at %.12s", facts.Branch, facts.Head), "")
	}
	var changed []string
	for _, ch := range recordfiles.Others(ctx, c.project.Git, facts.Changes) {
		if ch.Code != "??" {
			changed = append(changed, text.Line(ch.Path, 60))
		}
	}
	switch {
	case len(changed) == 0 || !listed: // it may be the configuration itself
	case isolation == "none":
		c.add(Fail, "repository", "uncommitted changes: "+text.Some(changed, 3), "git commit or git stash them")
	case apart:
		c.add(Warn, "repository", "uncommitted changes are not part of the run, and stay as they are: "+text.Some(changed, 3), "git commit them if the tasks need them")
	}
}

// gitFailed reports that git could not read the repository's state. A filter's program that is missing stops it even
// there.
func (c *checkup) gitFailed(err error) {
	c.fail("repository", err)
	if answer := err.Error(); strings.Contains(answer, "hung up unexpectedly") || strings.Contains(answer, " filter '") {
		c.points[len(c.points)-1].Fix = "install what git config --get-regexp ^filter names, with which this repository keeps some of its files"
	}
}

func (c *checkup) ledger(ctx context.Context) {
	view, err := c.project.View(c.plan)
	if err != nil {
		c.fail("ledger", err)
		return
	}
	for _, w := range view.Warnings {
		c.add(Warn, "ledger", w, "relay ledger validate")
	}
	switch {
	case view.Broken != nil:
		c.fail("ledger", view.Broken)
		return
	case view.Edit != "":
		c.add(Fail, "ledger", "attempt-ledger.yml was edited by someone else", "relay ledger accept, or relay ledger repair")
		return
	case view.Running:
		c.add(Warn, "ledger", "a run is active: "+exit.HolderText(view.Holder), "relay status --watch")
		return
	}
	c.otherCheckouts(ctx, view.Ledger)
	counts := status.CountTasks(view.Ledger, c.plan.Graph)
	text := fmt.Sprintf("%d of %d completed", counts.Completed, counts.Total)
	if counts.Gated > 0 {
		c.add(Warn, "ledger", fmt.Sprintf("%s, %d gated, %d blocked", text, counts.Gated, counts.Blocked), "relay status names them and says what to do")
		return
	}
	c.add(OK, "ledger", text, "")
}

// otherCheckouts reports a run of this epic in another checkout of the repository, and for what one has made.
func (c *checkup) otherCheckouts(ctx context.Context, l *attempts.Ledger) {
	err := runlock.EpicFree(c.project.Git, c.plan.Epic.ID, c.project.Dir)
	if err == nil && c.project.Config.Relay.Isolation == string(engine.IsolationWorktree) {
		err = epicbranch.RefuseForeign(ctx, c.project.Git, c.plan.Epic.ID, epicbranch.ViewOf(l, c.project.Dir))
	}
	if err != nil {
		c.fail("epic", err)
	}
}
