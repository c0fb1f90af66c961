package project

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
	"relay/orchestrator/provision"
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
// configuration in the folders above, and would find the user's. A run that was killed while its worktrees lay below goes on with these.
func (s slotsPlace) folder() string {
	own, below := filepath.Base(s.root)+"-"+pathHash(s.dir), filepath.Join(s.dir, BelowName)
	switch {
	case s.named != "": // it may have worktrees of other people's or of another relay
		return filepath.Join(s.named, own)
	case s.openBelow(below):
		return below
	}
	state := s.state
	if strings.HasPrefix(state, s.root+string(filepath.Separator)) || state != "" && !writable(Nearest(state)) {
		state = ""
	}
	near := ""
	if state == "" || !sameDisk(Nearest(state), s.root) {
		near = beside(s.root)
	}
	switch {
	case near != "":
		return filepath.Join(near, "worktrees", own)
	case state != "":
		return filepath.Join(state, "worktrees", own)
	}
	return below
}

// openBelow reports whether an attempt of a killed run has a worktree in the folder below relay's own.
func (s slotsPlace) openBelow(below string) bool {
	slots, err := os.ReadDir(below)
	if err != nil || len(slots) == 0 {
		return false
	}
	noted, _ := filepath.Glob(filepath.Join(s.dir, attempts.RunsDir, "*", "*", "*", attemptfiles.SlotFile)) // the pattern is a good one
	return slices.ContainsFunc(noted, func(file string) bool {
		name, err := os.ReadFile(file)
		return err == nil && Exists(filepath.Join(below, strings.TrimSpace(string(name))))
	})
}

// workspaceMarks are in a folder in which programs that look upwards stop, or find what to build.
var workspaceMarks = []string{
	".git", ".hg", ".jj", "package.json", "pnpm-workspace.yaml", "node_modules", "go.work", "go.mod", "Cargo.toml", "pyproject.toml",
	"pom.xml",
}

// beside returns a folder for relay on the disk of a checkout and outside of it, or "". It is in the nearest folder above in which this
// user alone can make one, and which neither is nor is in a repository or a workspace of a package manager.
func beside(root string) string {
	found := ""
	for at := root; at != filepath.Dir(at); {
		at = filepath.Dir(at)
		if !sameDisk(at, root) {
			break
		}
		info, err := os.Stat(at)
		switch {
		case slices.ContainsFunc(workspaceMarks, func(name string) bool { return Exists(filepath.Join(at, name)) }):
			found = ""
		case found == "" && err == nil && info.Mode()&fs.ModeSticky == 0 && writable(at):
			found = filepath.Join(at, fmt.Sprintf(".relay-%d", os.Getuid()))
		}
	}
	return found
}

// Nearest returns the nearest folder above a path that is there already.
func Nearest(path string) string {
	for !Exists(path) && filepath.Dir(path) != path {
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
		Slots: Checkouts(p.Config.Relay.Jobs, len(p.Reviewers())), Bytes: int64(p.Config.Relay.Worktree.ShareMaxMiB) << 20, Free: math.MaxInt64,
	}
	if free, err := FreeSpace(Nearest(w.Dir)); err == nil {
		most.Free = int64(min(free, math.MaxInt64))
	}
	if shared, err = provision.FindShared(ctx, p.Git, w.Share, len(w.Setup) > 0, most); err == nil {
		p.shared = &shared
	}
	return shared, err
}
