package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/records"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/telemetry"
	"relay/reanchor"
)

// Options are everything a run needs to know. Zero limits mean none, except where said.
type Options struct {
	engine.LocalOptions
	decide.Policy // SlowChecks 0 is slowChecks

	AgentOf  func(runner string) (kind, forbids string) // for briefs: its CLI, and what its sandbox forbids; or nil
	CLIOf    func(runner string) (kind, version string) // of its program, as far as known; or nil
	Outside  func(runner string) bool                   // its agents work outside of the sandbox of the run; or nil
	Model    string                                     // for tasks that name none
	Settings attempts.Settings                          // as recorded in the ledger
	Head     string                                     // as of attempts.Options
	Records  records.Settings
	Sessions sessionkeeper.Options // of the agents ledger; the run fills in what is its own

	Telemetry telemetry.Settings

	Relay string // version of relay
	Seen  []byte // the plan as viewers read it; nil: they read epic.yml
	// Remote returns the address of the remote that a branch has, without credentials; for "" it is the user's branch, whose name it
	// returns too. It returns "" if there is none. nil: the address is unknown.
	Remote    func(ctx context.Context, branch string) (name, address string)
	Effective []byte // every setting with its origin, as YAML, kept with the run; nil: none
	// Asks are a person's requests while the run goes on; nil: none.
	Asks <-chan Ask
	// Remarks are notes for a person on how this run came about; they are recorded and shown.
	Remarks []string
	Bare    []string // commands that run outside of the sandbox
	HeldBy  string   // what holds agents and checks; "": nothing, or not all of them

	ExitCode func(decide.Summary, error) int // the process's exit code, for the record
	Fault    func(point string) error        // fault points for tests; nil in use
	Engines  map[string]engine.Factory       // engines of other machines, by name
	Wire     engine.Wire                     // between the run and its engine; nil: none
}

// ErrInterrupted is the cause a caller cancels a run's context with when a person stopped it.
var ErrInterrupted = errors.New("interrupted")

// slowChecks is how long checks take from which on several landings share one run of them: it saves all runs but one if they pass, and
// quicker checks are not worth the search for the work that makes them fail.
const slowChecks = time.Second

// settings returns the settings for the decisions of this run.
func (o *Options) settings() *decide.Settings {
	d := &decide.Settings{Options: &o.LocalOptions.Options, Policy: o.Policy, Graph: o.Graph, Reviewers: o.reviewerNames()}
	d.SlowChecks = cmp.Or(o.SlowChecks, slowChecks)
	return d
}

// reviewerNames returns the reviewers that every agent's work needs: none where changes belong to no task.
func (o *Options) reviewerNames() []string {
	if o.Isolation == engine.IsolationShared {
		return nil
	}
	return each.Of(o.Review.Reviewers, func(r engine.Reviewer) string { return r.Name })
}

// Agent returns what a brief says of a runner.
func (o *Options) Agent(runner string) (a reanchor.Agent) {
	if o.AgentOf != nil {
		a.Type, a.Forbids = o.AgentOf(runner)
	}
	return a
}
