package worker

import (
	"context"
	"errors"

	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/guard"
	"relay/orchestrator/panel"
	"relay/orchestrator/provision"
	"relay/reanchor/git"
	"relay/runners"
)

// checkout is a working tree that an agent works in: a slot, or the user's own.
type checkout struct {
	run   *workspace
	repo  *git.Repo
	facts *git.Cached
	tree  *worktree.Tree // nil with IsolationShared: changes then belong to no task

	ceiling string // folder above which git must not look for a repository; "" : it is the user's own checkout
	config  string // the configuration of agent CLIs before any agent; see steered
}

// look has the guard look at what the code of an attempt did.
func (c *checkout) look(ctx context.Context, seen *guard.Sightings) error {
	return c.run.guard.Look(ctx, guard.Site{Repo: c.repo, Shared: c.tree == nil}, seen)
}

// mendings is how often in a row .git is put back before its loss ends the run: each neighbour's agent takes it away once.
const mendings = 200

// state asks git for the state of the checkout, without what relay has added to records. Side by side a neighbour's agent may
// have taken .git away this moment: that must not end the run.
func (c *checkout) state(ctx context.Context) (f git.Facts, err error) {
	for range mendings {
		f, err = c.facts.Facts(ctx)
		if err == nil || ctx.Err() != nil || c.tree != nil || git.Unasked(err) != nil {
			break
		}
		if _, mending := c.run.guard.Backup.Mend(ctx, c.run.home); mending != nil {
			return f, errors.Join(err, mending)
		}
	}
	f.Changes = worktree.WithoutRecords(ctx, c.repo, f.Changes)
	return f, err
}

// agentEnv is the environment of an agent. A commit must not ask for a signature, nor git for a password; and in a slot of
// relay's an agent that loses its .git must not find the user's. Who may not push is not logged in anywhere either.
func (c *checkout) agentEnv(a engine.Attempt, result string) []string {
	env := append(c.run.guard.Env(a, result), "GIT_TERMINAL_PROMPT=0")
	if c.ceiling != "" {
		env = bench.Env(c.run.o, c.repo.Root(), append(env, "GIT_CEILING_DIRECTORIES="+c.ceiling))
	}
	settings := []string{"commit.gpgSign=false"}
	if !c.run.o.Push {
		settings = append(settings, "credential.helper=") // an empty one takes back those that are configured
	}
	if c.run.excludes != "" {
		settings = append(settings, "core.excludesFile="+c.run.excludes)
	}
	return append(env, runners.GitSettings(env, settings...)...)
}

// steered reports whether the configuration of agent CLIs in a checkout is not what the user had when the run began: then
// an agent gets none of it.
func (c *checkout) steered() bool {
	return c.run.landedSteering.Load() || provision.SteeringDigest(c.repo.Root()) != c.config
}

// panelSession returns a session in which reviewers read in the checkout itself, one after another.
func (c *checkout) panelSession(a engine.Attempt, folder string) *panel.Session {
	return &panel.Session{Panel: c.run.panel(), Attempt: a, Repo: c.repo, Folder: folder, Env: c.agentEnv(a, ""), Unsteer: c.run.useTrusted}
}
