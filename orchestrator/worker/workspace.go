package worker

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/guard"
	"relay/orchestrator/panel"
	"relay/orchestrator/steering"
	"relay/reanchor"
	"relay/runners"
)

type (
	ledger = engine.Ledger
	lock   = engine.Lock
)

// workspace holds what all attempts of a run share.
type workspace struct {
	o      *engine.LocalOptions
	home   *reanchor.Git // the user's own checkout
	guard  *guard.Guard
	checks *checks.Runner
	ledger ledger
	events chan<- engine.Event
	now    func() time.Time

	origin   attempts.Integration
	trusted  string // what the user had checked out when the run began; "" with isolation shared
	excludes string // file of patterns that agents' git ignores; "" : what it ignores anyway

	landedSteering atomic.Bool // see recordSteering
	hookBroken     atomic.Bool // the pre-commit hook fails where nothing has changed, as far as is known
}

// Origin returns what attempts land on; it is empty when nothing is landed.
func (g *workspace) Origin() attempts.Integration { return g.origin }

// Tip returns the commit that the work is collected on.
func (g *workspace) Tip(ctx context.Context) (string, error) {
	if g.origin.Branch == "" {
		return g.home.Head(ctx)
	}
	tip, err := g.home.Ref(ctx, "refs/heads/"+g.origin.Branch)
	return cmp.Or(tip, g.origin.Base), err
}

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (g *workspace) Asked(a engine.Attempt) bool { return attemptfiles.Of(g.o.Dir, a).Used() }

// emit never waits: an activity that the listener has no time to receive is dropped.
func (g *workspace) emit(h engine.Event) {
	select {
	case g.events <- h:
	default:
	}
}

// recordWait is how long an event that is to be recorded waits for its listener.
const recordWait = 10 * time.Second

// record sends an event that is to be recorded, and waits for a busy listener.
func (g *workspace) record(ctx context.Context, h engine.Event) {
	select {
	case g.events <- h:
		return
	default:
	}
	late := time.NewTimer(recordWait)
	defer late.Stop()
	select {
	case g.events <- h:
	case <-ctx.Done():
	case <-late.C:
	}
}

// used reports what an attempt has used whose agent has come to its end.
func (g *workspace) used(a engine.Attempt, u attempts.Usage) {
	g.emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: u, Delivered: true})
}

// makeRoom makes sure that files of an attempt can be made, whatever agents have put where they go.
func (g *workspace) makeRoom(files ...string) error {
	return attemptfiles.MakeRoom(g.o.Dir, files...)
}

// env is the agents' environment plus relay's own variables.
func (g *workspace) env(a engine.Attempt, result string) []string {
	env := append(make([]string, 0, len(g.o.Env)+4), g.o.Env...)
	env = append(env, "RELAY_EPIC="+g.o.Epic.ID, "RELAY_TASK="+a.Task.ID, "RELAY_DIR="+g.o.Dir)
	if result != "" {
		env = append(env, "RELAY_RESULT="+result)
	}
	return append(env, runners.GitSettings(env, g.guard.GitSettings()...)...)
}

// commandEnv is the environment of a command. One that is about the whole epic does not see for which task it runs: its result holds
// for others as well.
func (g *workspace) commandEnv(a engine.Attempt, ofEpic bool) []string {
	env := append(g.env(a, ""), g.o.CommandEnv...)
	if ofEpic {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "RELAY_TASK=") })
	}
	return env
}

// panel returns what all sessions of reviewers share.
func (g *workspace) panel() panel.Panel {
	return panel.Panel{Options: g.o, Append: g.ledger.Append, Emit: g.emit, Now: g.now}
}

// relative names a file as a user sees it, from the root of the repository.
func (g *workspace) relative(path string) string {
	if rel, err := filepath.Rel(g.o.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
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
	if slices.ContainsFunc(files, steering.Configures) {
		g.landedSteering.Store(true)
	}
}

// useTrusted gives a reviewer's checkout the steering files that the user had when the run began: see [steering.UseTrusted].
func (g *workspace) useTrusted(ctx context.Context, repo *reanchor.Git, head string) (back func() error, err error) {
	return steering.UseTrusted(ctx, repo, g.trusted, head)
}

// uninterrupted returns a context for relay's own git work: the run may be stopping, and what the agent left must be kept all the same.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return gitcmd.Uninterrupted(ctx)
}

// recordSlot writes the name of an attempt's slot to one of these files, for a run that has to bring the attempt to its end.
func (g *workspace) recordSlot(a engine.Attempt, in, name string) error {
	file := filepath.Join(attemptfiles.Of(g.o.Dir, a).Folder, in)
	if err := g.makeRoom(file); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(name+"\n"), 0o600)
}
