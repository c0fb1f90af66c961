package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/configs"
	"relay/orchestrator"
)

// Free space below which a night is at risk, or cannot begin.
const (
	scarceSpace = 2 << 30
	noSpace     = 100 << 20
)

func (c *checkup) repository(ctx context.Context) {
	facts, err := c.place.Git.Facts(ctx, 1)
	if err != nil {
		c.unread(err)
		return
	}
	known := c.place.Config != nil
	isolation := string(orchestrator.IsolationWorktree) // the default, as long as nobody can read what is set
	if known {
		isolation = c.place.Config.Relay.Isolation
	}
	apart := isolation == string(orchestrator.IsolationWorktree) // then the night begins from HEAD's commit, whatever is under way here
	switch {
	case facts.Head == "":
		c.add(stateFail, "repository", "there is no commit yet, so nothing to go back to", "git add -A && git commit --allow-empty -m Begin")
		return
	case facts.Branch == "" && !apart:
		c.add(stateFail, "repository", "HEAD is detached: the work would be on no branch", "git switch -c BRANCH")
		return
	case facts.Unmerged && !apart:
		c.add(stateFail, "repository", "a merge or rebase is half done", "finish it, or git merge --abort or git rebase --abort")
		return
	case facts.Branch == "":
		c.add(stateWarn, "repository", fmt.Sprintf("HEAD is detached at %.12s: relay finish will not know where the work belongs", facts.Head), "git switch BRANCH now, or later relay finish --into BRANCH")
	default:
		c.add(stateOK, "repository", fmt.Sprintf("branch %s at %.12s", facts.Branch, facts.Head), "")
	}
	var changed []string
	for _, ch := range facts.Changes {
		if ch.Code != "??" {
			changed = append(changed, line(ch.Path, 60))
		}
	}
	switch {
	case len(changed) == 0 || !known: // it may be the configuration itself
	case isolation == "none":
		c.add(stateFail, "repository", "uncommitted changes: "+some(changed, 3), "git commit or git stash them")
	case apart:
		c.add(stateWarn, "repository", "uncommitted changes are not part of the night, and stay as they are: "+some(changed, 3), "git commit them if the tasks need them")
	}
}

// unread says that git could not say how the repository is. A filter's program that is missing stops it even there.
func (c *checkup) unread(err error) {
	c.fail("repository", err)
	if said := err.Error(); strings.Contains(said, "hung up unexpectedly") || strings.Contains(said, " filter '") {
		c.points[len(c.points)-1].Fix = "install what git config --get-regexp ^filter names, with which this repository keeps some of its files"
	}
}

// folder tries to write where the ledger goes, and where git keeps commits and relay its locks.
func (c *checkup) folder() {
	dir := c.place.Dir
	for !project.Exists(dir) && dir != c.place.Root {
		dir = filepath.Dir(dir)
	}
	folders := []string{dir}
	if c.place.Git != nil {
		folders = append(folders, c.place.Git.GitDir(), c.place.Git.CommonDir())
	}
	for _, each := range slices.Compact(folders) {
		if err := writable(each); err != nil {
			c.fail("folder", fmt.Errorf("%s %w: %w", c.place.Rel(each), errNotWritable, err))
			return
		}
	}
	c.add(stateOK, "folder", c.place.Rel(c.place.Dir)+" can be written to", "")
}

// writable writes a file in a folder and removes it. Permission bits prove nothing: a disk may be read-only, the user root.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".relay-check-*")
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("relay"))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (c *checkup) space() {
	free, err := project.FreeSpace(c.place.Root)
	if err != nil {
		c.add(stateWarn, "disk", "the free space is unknown: "+err.Error(), "")
		return
	}
	c.room(free)
}

// room says whether so many bytes are enough for a night.
func (c *checkup) room(free uint64) {
	text := fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))
	const hint = "make room: a night writes transcripts, logs and commits"
	switch {
	case free < noSpace:
		c.add(stateFail, "disk", text, hint)
	case free < scarceSpace:
		c.add(stateWarn, "disk", text, hint)
	default:
		c.add(stateOK, "disk", text, "")
	}
}

func (c *checkup) ledger(ctx context.Context) {
	view, err := c.place.View(c.plan)
	if err != nil {
		c.fail("ledger", err)
		return
	}
	for _, w := range view.Warnings {
		c.add(stateWarn, "ledger", w, "relay ledger validate")
	}
	switch {
	case view.Broken != nil:
		c.fail("ledger", view.Broken)
		return
	case view.Edit != "":
		c.add(stateFail, "ledger", "attempt-ledger.yml was edited by someone else", "relay ledger accept, or relay ledger repair")
		return
	case view.Running:
		c.add(stateWarn, "ledger", "a run is on: "+exit.HolderText(view.Holder), "relay status --watch")
		return
	}
	c.elsewhere(ctx, view.Ledger)
	counts := tally(view.Ledger, c.plan.Graph)
	text := fmt.Sprintf("%d of %d completed", counts.Completed, counts.Total)
	if counts.Gated > 0 {
		c.add(stateWarn, "ledger", fmt.Sprintf("%s, %d gated, %d blocked", text, counts.Gated, counts.Blocked), "relay status names them and says what to do")
		return
	}
	c.add(stateOK, "ledger", text, "")
}

// elsewhere looks for a run of this epic in another checkout of the repository, and for what one has made.
func (c *checkup) elsewhere(ctx context.Context, l *attempts.Ledger) {
	err := orchestrator.EpicFree(c.place.Git, c.plan.Epic.ID, c.place.Dir)
	if err == nil && c.place.Config.Relay.Isolation == string(orchestrator.IsolationWorktree) {
		err = orchestrator.Disputed(ctx, c.place.Git, c.plan.Epic.ID, orchestrator.ClaimOf(l, c.place.Dir))
	}
	if err != nil {
		c.fail("epic", err)
	}
}

// runners looks for the program of every runner that would be asked. Of those to choose from one is enough.
func (c *checkup) runners(ctx context.Context) {
	names := c.place.Config.Relay.Runners
	if len(names) == 0 {
		c.points = append(c.points, point{Name: "runner", State: stateFail, Message: "no runner is configured",
			Fix: "set relay.runners in " + configs.SharedFile, code: exit.NoRunner})
	}
	usable := slices.ContainsFunc(names, func(name string) bool {
		_, _, err := c.find(ctx, name)
		return err == nil
	})
	for _, name := range names {
		if !c.runner(ctx, "runner "+name, name) && usable {
			c.points[len(c.points)-1].State = stateWarn
		}
	}
	if c.plan == nil {
		return
	}
	wanted := map[string]bool{}
	for i := range c.plan.Epic.Tasks {
		name := c.plan.Epic.Tasks[i].Runner
		if name != "" && !wanted[name] && !slices.Contains(names, name) {
			c.runner(ctx, "runner "+name, name)
		}
		wanted[name] = true
	}
}

func (c *checkup) reviewers(ctx context.Context) {
	names := c.place.Reviewers()
	if len(names) == 0 && c.place.Config.Relay.Review.Enabled && c.place.Config.Relay.Review.Provider == project.AutoReviewer {
		c.add(stateWarn, "review", "no agent of another vendor than the runners is there to review: checks alone decide", "install one of "+strings.Join(project.ReviewVendors(), ", ")+", or name a reviewer")
		return
	}
	if len(names) == 0 {
		why := "no reviewer is configured: checks alone decide"
		if c.place.Config.QualityGate.Epic {
			why += ", and nobody judges the whole epic (quality_gate.epic)"
		}
		c.add(stateWarn, "review", why, "set relay.review.provider in "+configs.SharedFile)
		return
	}
	for _, name := range names {
		if !c.runner(ctx, reviewLabel+name, name) {
			continue
		}
		if _, err := c.place.Reviewer(name); err != nil {
			c.fail(reviewLabel+name, err)
		}
	}
}

// shell is what acceptance commands run in.
func (c *checkup) shell() {
	if runtime.GOOS == "windows" {
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		c.add(stateFail, "shell", "there is no sh to run acceptance commands", "put sh on the PATH")
	}
}
