package project

import (
	"context"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"relay/orchestrator/engine"
	"relay/orchestrator/provision"
	"relay/reanchor/git"
	"relay/runners"
)

// BelowName names the folder below relay's own that has the worktrees if relay can write nowhere else.
const BelowName = "worktrees"

// slotsPlace is what decides where the worktrees of a checkout are.
type slotsPlace struct {
	root, dir string // of the checkout, and relay's folder in it
	named     string // by relay.worktree.dir, absolute; "": none
	state     string // relay's folder for the state of programs; "": there is none
}

// folder returns the folder of the worktrees. It lies outside of the checkout: many programs look for packages and for their
// configuration in the folders above, and would find the user's.
func (s slotsPlace) folder() string {
	own := filepath.Base(s.root) + "-" + pathHash(s.dir)
	switch inside := strings.HasPrefix(s.state, s.root+string(filepath.Separator)); {
	case s.named != "": // it may have worktrees of other people's or of another relay
		return filepath.Join(s.named, own)
	case s.state != "" && !inside && unix.Access(Nearest(s.state), unix.W_OK|unix.X_OK) == nil:
		return filepath.Join(s.state, "worktrees", own)
	}
	return filepath.Join(s.dir, BelowName)
}

// Nearest returns the nearest folder above a path that is there already.
func Nearest(path string) string {
	for !git.Exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	return path
}

// Checkouts returns how many worktrees a run has at most: each job one to work in and one to check in, or one for each reviewer,
// and one in which the work of several is proved before it lands.
func Checkouts(jobs, reviewers int) int { return jobs*(1+max(1, reviewers)) + 1 }

// PythonFolders returns the folders of the checkout that the user's python finds packages in; see [provision.PythonFolders].
func PythonFolders(ctx context.Context, p *Project) []string {
	if engine.Isolation(p.Config.Relay.Isolation) != engine.IsolationWorktree {
		return nil
	}
	return provision.PythonFolders(ctx, p.Root, p.Session.Environ)
}

// FindShared says which dependencies of the user's checkout worktrees get a copy of.
func FindShared(ctx context.Context, p *Project) (shared provision.Shared, err error) {
	if engine.Isolation(p.Config.Relay.Isolation) != engine.IsolationWorktree {
		return shared, nil
	}
	if p.shared != nil {
		return *p.shared, nil
	}
	w := p.Worktrees()
	most := provision.Limits{
		Slots: Checkouts(p.Config.Relay.Jobs, len(p.Agents.Reviewers())), Bytes: int64(p.Config.Relay.Worktree.ShareMaxMiB) << 20,
		Free: math.MaxInt64,
	}
	if free, err := runners.FreeSpace(Nearest(w.Dir)); err == nil {
		most.Free = int64(min(free, math.MaxInt64))
	}
	if shared, err = provision.FindShared(ctx, p.Git, w.Share, len(w.Setup) > 0, most); err == nil {
		p.shared = &shared
	}
	return shared, err
}
