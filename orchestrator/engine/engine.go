// Package engine is the border between the run loop and whoever carries attempts out: what an engine is asked, and what it answers.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/sandbox"
)

// Engine carries out attempts. Only plain data crosses this border, so that an engine may sit on other machines: no process,
// no open file, no function. It sends what an agent does meanwhile as [Event] on a channel given to the engine when it is made.
type Engine interface {
	// Prepare readies the place the attempt works in and names the commit it begins from ("" where there is none).
	Prepare(ctx context.Context, a Attempt) (base string, err error)
	// Run carries the attempt out and says what came of it. Cancelling ctx stops it; it still returns a Result.
	// An error means that the engine's own machine failed, and that no further attempt should be given to it.
	Run(ctx context.Context, a Attempt) (Result, error)
}

// Abilities are what else an engine can do for a run. A field is nil when it lacks that.
type Abilities struct {
	Engine
	Merger    Merger       // nil: attempts end landed
	Lifecycle Lifecycle    // nil: nothing is to be done before the first attempt and after the last
	Follower  Follower     // nil: what attempts land on does not follow another branch
	Rechecker Rechecker    // nil: checks of completed tasks are not run again
	Reviewer  EpicReviewer // nil: the whole epic is not reviewed
	// AskFirst has the engine ask, when all is ready for an attempt's agent, whether that may begin: to make it ready takes a time.
	// May returns why not; "": it may.
	AskFirst func(may func(ctx context.Context, a Attempt) (why string))
	// Lost lists at the end of a run what differs from its beginning beside the work, with the commands that bring it back; nil: nothing.
	Lost func(ctx context.Context) ([]attempts.Note, error)
}

// Wire stands between a run and its engine.
type Wire interface {
	Options(o *Options) *Options
	Engine(of Abilities) Abilities
	Event(e Event) Event
}

// Merger puts the work of proved attempts onto the integration branch, one step at a time.
type Merger interface {
	// Join makes and proves the branch's next step out of a group of work, which shares one run of the checks: of as many of its
	// first as fit together. Nothing has moved yet.
	Join(ctx context.Context, group []Verified) (Step, error)
	// Advance takes the step that Join made last, which may lead nowhere: what lands with it has nothing to add. It reports
	// false when the branch is not where it was any more.
	Advance(ctx context.Context, j Step) (moved bool, err error)
}

// Verified is an attempt whose work is proved and waits to be landed.
type Verified struct {
	Attempt Attempt
	Result  Result
}

// Step is a step of the integration branch.
type Step struct {
	From, To string // commits; the same when nothing of it lands
	// Results are those of the first of the group, one each: a success lands with this step. The others wait for the
	// next one.
	Results []Result
	// Red is how many of the first of the group, more than one, have failed their checks together: then nothing of it lands, and
	// there are no results. 0: none.
	Red int
}

// Follower brings the integration branch up to the branch that the epic began from.
type Follower interface {
	// Follow adds the commits of the branch from that the integration branch lacks, and returns its tip. The notes say what it did, or
	// why it did nothing. It comes once, after [Lifecycle.Begin] and before the first attempt.
	Follow(ctx context.Context, from string) (tip string, notes []attempts.Note, err error)
}

// Lifecycle is what an engine does before the first attempt of a run and after the last.
type Lifecycle interface {
	// Origin is what attempts land on; empty when nothing is landed.
	Origin() attempts.Integration
	// Tip returns the commit that the work is collected on as it is now: of the integration branch, which begins where the user is,
	// or of the user's checkout; "" before the first commit.
	Tip(ctx context.Context) (string, error)
	// Admit refuses with a *attempts.RefusedError what this run cannot begin with: open are the attempts that a killed run left.
	Admit(ctx context.Context, l *attempts.Ledger, open []Attempt) error
	// CheckReady refuses with a *attempts.RefusedError a checkout, or a folder of slots, in which nothing can work.
	CheckReady(ctx context.Context) error
	// Awake readies what must be there before anything an earlier run left is looked at.
	Awake(ctx context.Context) error
	// Begin comes before the first attempt.
	Begin(ctx context.Context) error
	// Reserve keeps the place of an attempt that a killed run left for that attempt.
	Reserve(a Attempt)
	// Asked reports whether an agent or a reviewer was asked in an attempt that a killed run left.
	Asked(a Attempt) bool
	// Resume readies such an attempt to be judged, and returns its end when it is over.
	Resume(ctx context.Context, a Attempt, open attempts.Attempt) (*attempts.Ended, error)
	// Close comes after the last attempt. It returns what could not be removed, in words.
	Close(ctx context.Context) (stay []string, err error)
}

// Rechecker runs checks of completed tasks again on all that has landed.
type Rechecker interface {
	// Span returns where the branch was when the run began, and its tip: the same when there is nothing to run again.
	Span(ctx context.Context) (from, tip string)
	// Commit returns the commit of the branch that has an attempt's work; "": none.
	Commit(a attempts.Attempt) string
	// BeginRecheck and EndRecheck come before and after the checks are run; the notes are what had to be put right.
	BeginRecheck(ctx context.Context, a Attempt, tip string) error
	EndRecheck(ctx context.Context, tip string) ([]attempts.Note, error)
	// Recheck runs the checks of a task on tip and returns the first that fails; nil: none.
	Recheck(ctx context.Context, a Attempt, tip string) (*FailedCheck, error)
	// RecheckEpic runs the checks of the epic on tip, which a has landed, and returns all that fail.
	RecheckEpic(ctx context.Context, a Attempt, tip string) ([]FailedCheck, error)
	// Proves reports whether checks of a task and the epic fail on tip without the content of the code among files.
	Proves(ctx context.Context, a Attempt, files []string, tip string) (bool, error)
}

// FailedCheck is a check that does not pass.
type FailedCheck struct {
	Run attempts.CheckRun
	Why string // in words
	Old bool   // it was as red where the run began
}

// EpicReviewer has the panel judge all that has landed.
type EpicReviewer interface {
	// Head returns the commit that has all of it.
	Head(ctx context.Context) (string, error)
	// ReviewEpic asks the panel about what is between the base of a and head.
	ReviewEpic(ctx context.Context, a Attempt, head string, putOff []string) (ReviewedEpic, error)
}

// ReviewedEpic is what the panel came to.
type ReviewedEpic struct {
	Review attempts.EpicReview
	Result Result         // about the members of the panel
	Usage  attempts.Usage // also with an error
}

// WholeEpic stands for all of the epic where else a task's id is: no task can be named so.
const WholeEpic = "_epic"

// Attempt is one attempt to carry out.
type Attempt struct {
	Run        string
	Task       epic.Task
	Number     int    // ordinal in the ledger, from 1
	WasHeld    bool   // the task was held in this run, and nothing else is left
	Base       string // what Prepare said
	Runner     string
	Model      string
	BriefInput reanchor.Input // everything the brief needs but the state of the checkout
	Wall       time.Duration
	// NewSession is the id that the session of this attempt's agent is to have; "": its CLI chooses it.
	NewSession string
	// Session is the session of the last attempt, which the agent continues with a person's answer; "": a new one.
	Session string
	Spent   runners.Usage // by the earlier runs of Session
	// EarlierFindings is what a reviewer wanted at the last attempt, as markdown.
	EarlierFindings string
	// Previous is the earlier attempt that this one goes on from, if that can be done; its zero value is none.
	Previous attempts.Attempt
	// Closed are the reviewers that are not to be asked yet.
	Closed []attempts.Cooldown
	// ReviewProgress holds the opinions and rounds of this attempt when its run was killed; nil: none.
	ReviewProgress *attempts.ReviewProgress
	// Prompt replaces the brief; "": the brief.
	Prompt string
	// Ended means that the agent has already come to its end under a run that was killed before it could record that.
	Ended bool
	Seen  time.Time // Ended: when it last printed or changed something, as far as its files say
}

// Mark returns the attempt's name, carried by every process it starts.
func (a Attempt) Mark() string { return MarkOf(a.Run, a.Task.ID, a.Number) }

// Result is what an attempt came to, as the engine returns it.
type Result struct {
	Outcome attempts.Outcome
	Receipt attempts.Receipt
	Head    string
	Landed  string // commit of the integration branch that has the work
	Model   string
	Session string
	Usage   attempts.Usage
	ResetAt time.Time // Quota, Provider: when to ask the runner again, if the provider said so
	Tools   []attempts.ToolUse
	Changes []attempts.FileChange // from the attempt's base to Head, the first of them
	Unable  []Unable              // reviewers; the outcome is theirs where nothing but their opinion is missing
	Short   string                // what the receipt's error summary says in fewer words, for who watches; "": the same
	Gate    attempts.Reason       // set when the outcome alone does not say that the task must be gated
	Notes   []attempts.Note
	// Charged means that the task is charged though the outcome alone does not say so.
	Charged bool
	// MoreChanges counts the changed files that are not in Changes.
	MoreChanges int
	// Held means that no agent was asked: a check of the task cannot run here.
	Held bool
	// Evidence is what was observed, and Cause the row of the table that ruled by it; "": the engine has no such table. Evidence is nil
	// where the run has overruled the engine.
	Evidence *verdict.Evidence
	Cause    verdict.Cause
}

// Event is one thing an agent or relay did during an attempt.
type Event struct {
	Task   string
	Runner string // KindActivity: who does it
	Kind   EventKind
	Detail runners.Event
	Usage  attempts.Usage // KindUsage: of the attempt so far
	// Attempt and Briefed are of a KindBriefed: the attempt's number, and what its brief holds.
	Attempt int
	Briefed *attempts.Briefed
	// Delivered means of a KindUsage that the agent has come to its end: what was used counts, and stops it no more.
	Delivered bool
}

// EventKind says what an event is about.
type EventKind string

// Kinds of events of an attempt.
const (
	KindActivity  EventKind = "activity"   // the agent did something
	KindUsage     EventKind = "usage"      // it has used something
	KindBriefed   EventKind = "briefed"    // its brief is written
	KindSettingUp EventKind = "setting_up" // set-up commands run; the event's text is the command
	KindChecking  EventKind = "checking"   // acceptance commands run; the event's text is the command's name
	KindReviewing EventKind = "reviewing"  // a reviewer is asked
	KindNote      EventKind = "note"       // what a person should know of the run
	KindMending   EventKind = "mending"    // the agent is given what reviewers found; the event's text is the round
)

// Rule makes the result what a ruling says.
func (f *Result) Rule(e *verdict.Evidence, r verdict.Ruling) {
	f.Fail(r.Outcome, r.Category, r.Person)
	f.Short, f.Gate, f.Held, f.Evidence, f.Cause = r.Short, r.Gate, r.Held, e, r.Cause
}

// Fail turns a result into a failure that evidence, not the agent, decided.
func (f *Result) Fail(o attempts.Outcome, c attempts.Category, why string) {
	f.Outcome, f.Receipt.ErrorCategory, f.Receipt.ErrorSummary, f.Short = o, c, why, ""
}

// Overrule replaces what the engine reports, for a cause that only the run knows. The engine's evidence did not decide.
func (f *Result) Overrule(o verdict.Overruling) {
	f.Fail(o.Outcome, o.Category, o.Why)
	f.Charged, f.Cause, f.Evidence = o.Charged, o.Cause, nil
	f.Gate = cmp.Or(o.Gate, f.Gate)
}

// Reported returns the part of the result that is judged.
func (f *Result) Reported() verdict.Reported {
	return verdict.Reported{Outcome: f.Outcome, Receipt: f.Receipt, Charged: f.Charged, Gate: f.Gate, Held: f.Held}
}

// Succeeded reports whether nothing speaks against the work.
func (f *Result) Succeeded() bool { return verdict.ClassOf(f.Outcome).Result == attempts.ResultSuccess }

// Note adds a note for a person, once. Without text it adds none.
func (f *Result) Note(kind, text string) {
	n := attempts.Note{Kind: kind, Text: text}
	if text != "" && !slices.Contains(f.Notes, n) { // each turn of an agent is looked at
		f.Notes = append(f.Notes, n)
	}
}

// NoteRefused records what the sandbox refused checks beside what it refused the agent and reviewers, in one note for all.
func (f *Result) NoteRefused() {
	for _, c := range f.Receipt.Checks {
		f.Receipt.Refused = append(f.Receipt.Refused, c.Refused...)
	}
	f.Receipt.Refused = slices.Compact(slices.Sorted(slices.Values(f.Receipt.Refused)))
	f.Notes = slices.DeleteFunc(slices.Clone(f.Notes), func(n attempts.Note) bool { return n.Kind == "refused" })
	f.Note("refused", RefusedWords(f.Receipt))
}

// RefusedWords says what the sandbox refused the agent, reviewers and checks, with the settings that allow it to them.
func RefusedWords(r attempts.Receipt) string {
	agents := slices.DeleteFunc(slices.Clone(r.Refused), func(path string) bool {
		return slices.ContainsFunc(r.Checks, func(c attempts.CheckRun) bool { return slices.Contains(c.Refused, path) })
	})
	return sandbox.Words(r.Refused, r.ErrorSummary, agents)
}

// Unable is a reviewer that could not be asked, or came to no answer: what that says of its runner.
type Unable struct {
	Name    string
	Why     string
	ResetAt time.Time // when to ask again, if its provider said so
	Outcome attempts.Outcome
}

// MarkOf names an attempt in the environment of its processes.
func MarkOf(run, task string, attempt int) string { return fmt.Sprintf("%s/%s/%d", run, task, attempt) }

// CutMark takes such a name apart.
func CutMark(mark string) (run, task, attempt string) {
	run, rest, _ := strings.Cut(mark, "/")
	task, attempt, _ = strings.Cut(rest, "/")
	return run, task, attempt
}

// NotBefore returns when and why a reviewer is not to be asked yet, as far as that was known when the attempt began.
func (a Attempt) NotBefore(reviewer string, now time.Time) (c attempts.Cooldown, yes bool) {
	for _, c := range a.Closed {
		if c.Runner == reviewer && now.Before(c.Until) {
			return c, true
		}
	}
	return c, false
}
