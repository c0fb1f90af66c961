package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/decide"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/recordkeeper"
	"relay/orchestrator/secrets"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/updates"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// Options are everything a run needs to know. Zero limits mean none, except where said.
type Options struct {
	Epic      *epic.Epic
	Graph     *epic.Graph
	Plan      []byte        // epic.yml as read, kept with the run
	Tasks     []string      // run only these and what they depend on; empty: all
	Root      string        // the checkout, absolute
	Repo      *reanchor.Git // the same, with its repository
	Dir       string        // the folder of the epic, absolute: relay's own, or one below it
	Home      string        // relay's folder, absolute; "" : Dir
	Files     []string      // of the configuration this run goes by, absolute
	BackupDir string        // where a copy of .git is kept during the run; "" : below Dir, where an agent can reach it

	Run       string // run id; "" : a new one
	Isolation engine.Isolation
	Worktree  engine.Worktree  // of IsolationWorktree
	Landing   integration.Mode // of IsolationWorktree
	Commit    string           // template of commit messages, see package commitmessage
	Sign      bool             // what relay lands from worktrees is signed, as the git of the user is set up
	Hook      string           // file of the pre-commit hook that is to run on what lands from worktrees; "": none
	Begin     string           // commit that the integration branch of IsolationWorktree is made at; "" : the checkout's
	Jobs      int              // at least 1; always 1 with IsolationNone

	SlowChecks time.Duration // of IsolationWorktree: from when on several landings share one run of the checks; 0: slowChecks

	Runners    []string                                                          // names in order of preference
	AgentOf    func(runner string) (kind, forbids string)                        // for briefs: its CLI, and what its sandbox forbids; or nil
	CLIOf      func(runner string) (kind, version string)                        // of its program, as far as known; or nil
	NewRunner  func(name string, sup process.Supervisor) (runners.Runner, error) // makes the runner of a name
	Supervisor process.Supervisor
	Model      string   // for tasks that name none
	Env        []string // complete environment for agents and checks; relay adds its own variables
	CommandEnv []string // more of it for set-up commands and checks
	Push       bool     // agents may push

	Secrets *secrets.Redactor // of what is recorded and told; nil: one for Env

	Limits   engine.Limits
	Until    time.Time          // the run's deadline: agents are stopped then, and nothing is started after; zero: none
	Free     func() decide.Free // what the machine has left; nil: nobody asks
	Budget   budget.Caps
	Spent    attempts.Usage // by earlier runs, as far as it counts against this run's cap
	Review   engine.Review
	Settings attempts.Settings // as recorded in the ledger
	Records  recordkeeper.Settings
	Sessions sessionkeeper.Options // of the agents ledger; the run fills in what is its own

	Relay string // version of relay
	// Remote returns the address of the remote that a branch has, without credentials; for "" it is the user's branch, whose name it
	// returns too. "" : none. nil: nobody knows.
	Remote    func(ctx context.Context, branch string) (name, address string)
	Effective []byte // every setting with its origin, as YAML, kept with the run; nil: none

	// AskNow forgets what earlier runs were told of usage limits: every runner may be asked at once.
	AskNow bool
	// Jitter draws what a wait for a runner takes longer, of at most so much; nil: nothing.
	Jitter func(most time.Duration) time.Duration

	// Drain ends the run early when it is closed: nothing new is started, and what runs comes to its end.
	Drain <-chan struct{}
	// Asks are what a person asks of the run while it goes on; nil: nothing.
	Asks <-chan Ask
	// Remarks are what a person should know of how this run came about; they are recorded and told.
	Remarks []string

	ExitCode func(ending.Summary, error) int // what the process will exit with, for the record
	Fault    func(point string) error        // fault points for tests; nil in use
	Engines  map[string]engine.Factory       // engines of other machines, by name
	Engine   string                          // name of the one that carries the attempts out; "": engine.Local
	Wire     engine.Wire                     // between the run and its engine; nil: none
	Notify   func(updates.Update)            // called from one goroutine at a time; nil: nobody listens
}

// ErrInterrupted is the cause a caller cancels a run's context with when a person stopped it.
var ErrInterrupted = errors.New("interrupted")

// slowChecks is how long checks take from which on several landings share one run of them: it saves all runs but one if they pass, and
// quicker checks are not worth the search for the work that makes them fail.
const slowChecks = time.Second

// settings returns what the decisions of this run go by.
func (o *Options) settings() *decide.Settings {
	return &decide.Settings{
		Run: o.Run, Epic: o.Epic, Graph: o.Graph, Tasks: o.Tasks, Jobs: o.Jobs, Isolation: o.Isolation, Runners: o.Runners,
		Reviewers: o.reviewerNames(), AskNow: o.AskNow, Until: o.Until, Limits: o.Limits, SlowChecks: cmp.Or(o.SlowChecks, slowChecks),
		Budget: o.Budget, Spent: o.Spent, Free: o.Free, Jitter: o.Jitter, Drain: o.Drain, Notify: o.Notify,
	}
}

// reviewerNames returns the reviewers that every agent's work needs: none where changes belong to no task.
func (o *Options) reviewerNames() []string {
	if o.Isolation == engine.IsolationShared {
		return nil
	}
	var names []string
	for _, r := range o.Review.Reviewers {
		names = append(names, r.Name)
	}
	return names
}

// Agent returns what a brief says of a runner.
func (o *Options) Agent(runner string) (a reanchor.Agent) {
	if o.AgentOf != nil {
		a.Type, a.Forbids = o.AgentOf(runner)
	}
	return a
}
