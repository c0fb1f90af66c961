package worker

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/guard"
	"relay/orchestrator/panel"
	"relay/orchestrator/provision"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// workspace holds what all attempts of a run share.
type workspace struct {
	o      *engine.LocalOptions
	home   *git.Repo // the user's own checkout
	guard  *guard.Guard
	checks *checks.Runner
	ledger engine.Ledger
	events engine.Events
	now    func() time.Time

	origin   attempts.Integration
	trusted  string // what the user had checked out when the run began; "" with isolation shared
	excludes string // file of patterns that agents' git ignores; "" : what it ignores anyway

	landedSteering atomic.Bool // see recordSteering
	hookBroken     atomic.Bool // the pre-commit hook fails where nothing has changed, as far as is known
}

// epicChecks returns the checks of the epic. Side by side they are left out: they would judge what the neighbours have half done.
func (g *workspace) epicChecks() []epic.Check {
	if g.o.Isolation == engine.IsolationShared {
		return nil
	}
	return g.o.Epic.Checks
}

// makeRoom makes sure that files of an attempt can be made, whatever agents have put where they go.
func (g *workspace) makeRoom(files ...string) error {
	return relayfiles.MakeRoom(g.o.Dir, files...)
}

// panel returns what all sessions of reviewers share.
func (g *workspace) panel() panel.Panel {
	return panel.Panel{Options: g.o, Append: g.ledger.Append, Emit: g.events.Emit, Now: g.now}
}

// recordScope notes which changed files belong to other tasks.
func (g *workspace) recordScope(task *epic.Task, r *engine.Result) {
	change := changes.OfTask{Task: task, Files: r.Receipt.FilesChanged}
	if found := changes.OutOfScope(g.o.Epic, g.o.Graph, change); len(found.Files) > 0 {
		r.Note("scope", task.ID+found.Foreign())
	}
}

// recordSteering records that a landing changes the configuration of agent CLIs: later slots have it.
func (g *workspace) recordSteering(files []string) {
	if slices.ContainsFunc(files, provision.ConfiguresAgents) {
		g.landedSteering.Store(true)
	}
}

// useTrusted gives a reviewer's checkout the steering files that the user had when the run began: see [provision.UseTrustedSteering].
func (g *workspace) useTrusted(ctx context.Context, repo *git.Repo, head string) (back func() error, err error) {
	return provision.UseTrustedSteering(ctx, repo, g.trusted, head)
}
