package orchestrator

import (
	"context"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
	"relay/review"
	"relay/runners"
)

// Engine carries out attempts. What crosses this border is plain data, so that an engine may sit on other machines:
// no process, no open file, no function. What an agent does meanwhile is heard on a channel given to the engine
// when it is made.
type Engine interface {
	// Prepare readies the place the attempt works in and names the commit it begins from ("" where there is none).
	Prepare(ctx context.Context, a Assignment) (base string, err error)
	// Attempt carries the attempt out and says what came of it. Cancelling ctx stops it; it still returns a Result.
	// An error means that the engine's own machine failed, and that no further attempt should be given to it.
	Attempt(ctx context.Context, a Assignment) (Result, error)
}

// briefer is an engine that can write the brief of an attempt before the attempt has begun: its start is made durable
// meanwhile. Attempt then finds it there.
type briefer interface {
	Brief(ctx context.Context, a Assignment) error
}

// local is an engine of this machine, with what a run does before its first attempt and after its last.
type local interface {
	Engine
	remembers(ledger, *occupancy)
	began() attempts.Integration                                                              // for run_started; empty when nothing is landed
	settled(ctx context.Context) error                                                        // a *text.RefusedError when nothing can work here
	begin(ctx context.Context) error                                                          // before the first attempt
	awake(ctx context.Context) error                                                          // before anything an earlier run left is looked at
	reserve(a Assignment)                                                                     // the place of an attempt of a killed run, so that nobody else gets it
	revive(ctx context.Context, a Assignment, open attempts.Attempt) (*attempts.Ended, error) // an attempt of a killed run: its end, when it is over
	whole(ctx context.Context, a Assignment) (d *desk, head string, err error)                // for a panel to judge all that has landed, and the commit that has it
	beginJudging(a Assignment, head string) error                                             // before that panel
	cleanUp(ctx context.Context, f *Finding) error                                            // after it
	unclean() bool                                                                            // whether a run was killed before that
	cleanAfter(ctx context.Context) ([]attempts.Note, error)                                  // what cleanUp would have done then
	close(ctx context.Context) (stay []string, err error)                                     // after the last; what could not be removed, in words
}

// ledger keeps what must outlive relay, and puts its own files back when an agent has changed them, and says which.
type ledger interface {
	Append(events ...attempts.Event) error
	Restore() ([]string, error)
}

// Assignment is one attempt to carry out.
type Assignment struct {
	Run     string
	Task    epic.Task
	Attempt int    // ordinal in the ledger, from 1
	Base    string // what Prepare said
	Runner  string
	Model   string
	Known   reanchor.Input // everything the brief needs but the state of the checkout
	Wall    time.Duration
	// EarlierFindings is what a reviewer wanted at the last attempt, as markdown.
	EarlierFindings string
	// Unfinished is the earlier attempt that this one goes on from, if that can be done; its zero value is none.
	Unfinished attempts.Attempt
	// Closed are the reviewers that are not to be asked yet.
	Closed []attempts.Cooling
	// Heard is what reviewers had said of this attempt when its run was killed; nil: nothing.
	Heard *attempts.Heard
	// Ended means that the agent has already come to its end under a run that was killed before it could record that.
	Ended bool

	before baseline // in the user's own checkout; nil: the checks were not asked
}

// Mark is the attempt's name, carried by every process it starts.
func (a Assignment) Mark() string { return mark(a.Run, a.Task.ID, a.Attempt) }

// Result is what an attempt came to, as the engine returns it.
type Result struct {
	Outcome attempts.Outcome
	Receipt attempts.Receipt
	Head    string
	Landed  string // commit of the integration branch that has the work
	Model   string
	Session string
	Usage   attempts.Usage
	ResetAt time.Time       // Quota, Provider: when to ask the runner again, if the provider said so
	Unable  []Unable        // reviewers; the outcome is theirs where nothing but their opinion is missing
	Gate    attempts.Reason // set when the outcome alone does not say that the task must be gated
	Notes   []attempts.Note
	// Charged means that the task is charged though the outcome alone does not say so.
	Charged bool
	// Held means that no agent was asked: a check of the task cannot run here.
	Held bool
	// Doubtful means that tests prove less than before the work.
	Doubtful bool
}

// Finding is the state of an attempt while it is worked on and judged: its result so far, and what only the engine needs.
type Finding struct {
	Result

	used      runners.Usage    // by the runs of Session, without what reviewers used
	agentHead string           // before relay committed what was left
	theirs    bool             // after a run that was killed, somebody else has committed since
	weakened  []review.Finding // tests that prove less than before
	decisive  []review.Finding // changed files that decide what checks say
	rounds    int              // in which the agent mended what reviewers found
	judged    string           // head that the last review was about
	wanted    []review.Raised  // by the last review
	before    []review.Raised  // by the one before it
	earlier   string           // the same as markdown
	answered  string           // what the agent said it has done about them

	unsaid  *unsaid // nil: the agent gave a result
	left    leftovers
	old     oldTests
	written []string // protected files that checks have changed, on the base or on the work

	epicSaid baseline // by the checks of the epic, of the work

	claimedFiles []string // as the agent listed them; compared with git's list and then forgotten
}

// pardon charges nobody where it cannot be told whose doing it was.
func (f *Finding) pardon() {
	if f.theirs && f.Outcome.Charged() {
		f.Gate = ""
		f.fail(attempts.Stopped, attempts.Interrupted, "somebody committed after the run was killed, and now: "+f.Receipt.ErrorSummary)
	}
}

// Heard is one thing an agent or relay did during an attempt.
type Heard struct {
	Task   string
	Runner string     // UpdateActivity, UpdateFault: who does it
	Kind   UpdateKind // UpdateActivity, UpdateUsage, UpdateFault, UpdateSettingUp, UpdateChecking, UpdateReviewing, UpdateMending
	Event  runners.Event
	Usage  attempts.Usage // UpdateUsage: of the attempt so far
	// Delivered means of an UpdateUsage that the agent has come to its end: what was used counts, and stops it no more.
	Delivered bool
}
