// Package view is the model of a night that relay status, the panel of a run, relay watch, relay serve and relay report show. A view only
// renders it: which tasks need a person and in which order, why, what to type, who works at what, what has landed and what it cost are
// decided here, once.
//
// A [Builder] is made from a plan and what its ledger says, and takes the events since one by one. [Builder.Night] returns the night as it
// is then: the sentence, counts and rows. [Builder.Graph] and [Builder.Timeline] return the two pictures. The builder makes
// the rows when somebody asks after an event, and a returned [Row] never changes, so a viewer may keep it.
//
// The package is pure: it reads no file and no clock, and prints nothing. All times are UTC, all money is in US dollars, all tokens count
// as providers report them. Text of agents and programs is in it as they wrote it, cut to one line and without control characters; whoever
// shows it escapes it for its own medium.
package view

import (
	"time"

	"relay/attempts"
	"relay/orchestrator/limits"
)

// Night is one night of an epic: the runs of one relay work, and the tasks of the whole plan as they are now.
type Night struct {
	At       time.Time `json:"-"` // when the model was made
	Epic     Epic      `json:"epic"`
	Run      Run       `json:"run"`
	Sentence Sentence  `json:"sentence"` // the first line of every view
	Counts   Counts    `json:"counts"`   // tasks by state, each task once
	Needs    []*Row    `json:"needs"`    // what needs a person, in the order to do it; tasks with one cause share a row
	Working  []*Row    `json:"working"`  // the longest at work first
	Waiting  []*Row    `json:"waiting"`  // those that can start first, then in the order of the plan
	Done     []*Row    `json:"done"`     // in the order in which they ended; a task to look at is in Needs as well
	Refused  []Refused `json:"refused,omitempty"`
	Money    Money     `json:"money"`
	Changed  Changed   `json:"changed"`
	Forecast *Forecast `json:"forecast,omitempty"` // nil: too little is known; the Builder leaves it to its caller
	Notes    []Note    `json:"notes,omitempty"`    // what was left out, tried again, flaky, restored, asked for …, as it happened
	Failing  []string  `json:"failing,omitempty"`  // checks that fail on all that has landed, in words
	Graph    *Graph    `json:"graph,omitempty"`    // only where it was asked for
	Timeline *Timeline `json:"timeline,omitempty"` // only where it was asked for
}

// Epic names the plan.
type Epic struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// RunState says how the newest run is.
type RunState string

// States of a run. One that ended without a word was killed.
const (
	Never  RunState = "never"
	On     RunState = "running"
	Ended  RunState = "ended"
	Killed RunState = "killed"
)

// OneRun is one run of a night, as the log has it.
type OneRun struct {
	ID        string    `json:"id,omitempty"`        // empty: of a program that gives none
	StartedAt time.Time `json:"started_at,omitzero"` // zero when a foreign ledger does not say
	StoppedAt time.Time `json:"stopped_at,omitzero"`
	Seconds   float64   `json:"seconds"` // by the clock on the wall, until now or its last event if it is not over
	Jobs      int       `json:"jobs,omitempty"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Why       string    `json:"why,omitempty" text:"block"` // in words, of a reason that is a limit of the run
	Until     time.Time `json:"until,omitzero"`
	Sandbox   string    `json:"sandbox,omitempty"` // what held agents and checks; empty: nothing, or not all of them
	Outside   []string  `json:"outside,omitempty"` // commands of set-up and checks that ran outside of it
}

// Run is the newest run of the night.
type Run struct {
	ID       string    `json:"id,omitempty"`
	State    RunState  `json:"state"`
	Runs     int       `json:"runs"`                // of the night: after a crash or relay reload another one continues it
	Began    time.Time `json:"began,omitzero"`      // the first run of the night
	Until    time.Time `json:"until,omitzero"`      // its deadline; zero: none
	EndedAt  time.Time `json:"ended_at,omitzero"`   // zero while it runs; of a killed run when it last wrote something
	ExitCode *int      `json:"exit_code,omitempty"` // nil unless it ended
	Reason   string    `json:"reason,omitempty"`    // why it ended, as the ledger has it: epic_complete, deadline …
	Why      string    `json:"why,omitempty"`       // in words, of a reason that is a limit of the run
	Jobs     int       `json:"jobs,omitempty"`      // tasks at a time; 0: unknown
	Paused   time.Time `json:"paused,omitzero"`     // since when a person has it start nothing new; zero: it starts tasks
	Waits    *Wait     `json:"waits,omitempty"`     // why nothing can start just now
}

// Wait is a time in which nothing could start, or an agent was not asked.
type Wait struct {
	At    time.Time `json:"at,omitzero"`
	Kind  WaitKind  `json:"kind"`
	For   string    `json:"for"`            // an agent, or what the machine lacks
	Until time.Time `json:"until,omitzero"` // zero: it is over
	Why   string    `json:"why,omitempty" text:"block"`
}

// WaitKind says who waited.
type WaitKind string

// A run waits when nothing can start; an agent that cools is not asked, while others may be.
const (
	RunWaits   WaitKind = "run"
	AgentCools WaitKind = "agent"
	AgentFree  WaitKind = "free" // it may be asked again
)

// Sentence has the parts of the first line: "33 of 40 tasks done (2 to look at), 3 more need you, 2 running, 2 waiting. Answer T26 first:
// T38 waits for it." All but the looks add up to the tasks.
type Sentence struct {
	Done    int    `json:"done"` // those to look at included
	Total   int    `json:"total"`
	Running int    `json:"running"`
	Looks   int    `json:"looks"`    // of those that are done
	NeedYou int    `json:"need_you"` // tasks, not rows, besides those to look at
	Waiting int    `json:"waiting"`
	Start   string `json:"start,omitempty"` // the clause on what to do first, without a full stop; "": nothing needs a person
	Task    string `json:"task,omitempty"`  // that the clause is about
}

// State is the state of a task, in the one word that every view shows.
type State string

// States of tasks, in the order of legends and bars.
const (
	Done        State = "done"
	Look        State = "look"        // done and landed, and a person has to look at something of it
	Gated       State = "gated"       // relay tries it again only if a person says so
	Held        State = "held"        // a person holds it, or only a person can do it
	Asks        State = "asks"        // its agent waits for an answer
	Running     State = "running"     // an agent works at it, or its work is checked, reviewed or landed
	Ready       State = "ready"       // it can start as soon as a job is free
	Limited     State = "limited"     // no agent for it may be asked before a time
	Interrupted State = "interrupted" // its attempt was cut off; the next run continues it
	Blocked     State = "blocked"     // it waits for other tasks
)

// States lists all states, in the order of legends and bars.
func States() []State {
	return []State{Done, Look, Gated, Held, Asks, Running, Ready, Limited, Interrupted, Blocked}
}

// Group is where a task stands in a view.
type Group string

// Groups, in the order of every view.
const (
	NeedsYou Group = "needs you"
	Working  Group = "working"
	Waiting  Group = "waiting"
	IsDone   Group = "done"
)

// Group returns where tasks of the state stand. Those to look at stand under needs you, and count as done.
func (s State) Group() Group {
	switch s {
	case Done:
		return IsDone
	case Look, Gated, Held, Asks:
		return NeedsYou
	case Running:
		return Working
	default:
		return Waiting
	}
}

// Counts are the numbers of tasks by state; a state without tasks is missing.
type Counts map[State]int

// Total returns the number of all tasks.
func (c Counts) Total() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

// Group returns the number of tasks in a group, as the rows of the group count them: a task to look at counts as done here.
func (c Counts) Group(g Group) (n int) {
	for s, of := range c {
		if s == Look && g == IsDone || s != Look && s.Group() == g {
			n += of
		}
	}
	return n
}

// Phase is the part of an attempt under way.
type Phase string

// Phases of an attempt, in their order; reviewers may send the work back to the agent.
const (
	PhaseAgent   Phase = "agent"
	PhaseChecks  Phase = "checks"
	PhaseReview  Phase = "review"
	PhaseLanding Phase = "landing" // its work is proved, and waits for its turn
)

// Row is one task as views list it. Fields that do not apply to its state are empty.
type Row struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Section string `json:"section,omitempty"` // group of the plan that has it; "": none
	Place   int    `json:"place"`             // in the plan, from 0
	State   State  `json:"state"`
	*Advice
	Agent   string    `json:"agent,omitempty"` // who works at it, or did last
	Model   string    `json:"model,omitempty"` // "": unknown
	Host    string    `json:"host,omitempty"`  // that the last attempt is on, or was; "": the machine of the run, or unknown
	Since   time.Time `json:"since,omitzero"`  // when the state began; of a running task when its attempt began
	Until   time.Time `json:"until,omitzero"`  // of a limited task: when an agent may be asked again
	Phase   Phase     `json:"phase,omitempty"`
	PhaseAt time.Time `json:"phase_at,omitzero"` // when the phase began
	Attempt int       `json:"attempt,omitempty"` // charged attempts since a person last released it, the running one included
	Max     int       `json:"max,omitempty"`     // charged attempts it may have
	Tries   int       `json:"tries,omitempty"`   // all attempts there ever were
	Seconds float64   `json:"seconds,omitempty"` // that ended attempts took, all together

	Usage    attempts.Usage  `json:"usage,omitzero"`    // of all its ended attempts; a cost of 0 with tokens is unknown
	Files    int             `json:"files,omitempty"`   // changed by the newest work there is
	Added    int             `json:"added,omitempty"`   // lines
	Deleted  int             `json:"deleted,omitempty"` // lines
	Base     string          `json:"base,omitempty"`    // commits base..head are its newest work
	Head     string          `json:"head,omitempty"`
	Landed   string          `json:"landed,omitempty"`   // commit of the integration branch that has the work
	LandedAt time.Time       `json:"landed_at,omitzero"` // zero: nothing of it has landed
	Already  bool            `json:"already,omitempty"`  // done without a change: its checks passed before
	Unproven bool            `json:"unproven,omitempty"` // done, but neither check nor reviewer proved it
	NoProof  string          `json:"-"`                  // why
	person   bool            // only a person can do it
	Looks    []attempts.Look `json:"looks,omitempty"` // what a person has to look at
}

// Advice says why a task is in its state, what to type, and which tasks wait. Most tasks are done and share one that is empty.
type Advice struct {
	// Also are further tasks with the same cause, which this row stands for; only in Night.Needs.
	Also    []string `json:"also,omitempty"`
	Why     string   `json:"why,omitempty"`     // why it waits, needs a person, or how it ended, in relay's words, one line
	Telling []string `json:"telling,omitempty"` // the lines that tell most, as agent or program wrote them; the first says most
	Detail  string   `json:"detail,omitempty"`  // the whole of what the gate says, which may have several lines

	First   *Command  `json:"first,omitempty"`   // what a careful person types first; nil: nothing
	Choices []Command `json:"choices,omitempty"` // what may come then, or in its place
	// Equal says that First and the first Choices are equal answers to a question: a view shows them side by side.
	Equal bool `json:"equal,omitempty"`

	Frees     []string `json:"frees,omitempty"`      // tasks that wait for it, at any distance, the first five in the order of the plan
	FreesAll  int      `json:"frees_all,omitempty"`  // how many there are
	WaitsFor  []string `json:"waits_for,omitempty"`  // tasks it depends on that are not done, at most five
	BlockedBy []string `json:"blocked_by,omitempty"` // tasks that need a person and keep it from running, at most three

	cause string // by which rows are put together; "": it has its own
}

// Command is something to type, and what it is good for.
type Command struct {
	Type string `json:"type"`
	For  string `json:"for"`
}

// Refused is a runner that would not work when it was last asked.
type Refused struct {
	Runner string    `json:"runner"`
	What   string    `json:"what"` // in words
	Why    string    `json:"why,omitempty"`
	Since  time.Time `json:"since"`
	Type   string    `json:"type"` // the command that helps
}

// Note is something that happened besides.
type Note struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"` // tamper, stray, tests, salvage, sleep, limit, gated …
	Task    string    `json:"task,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Text    string    `json:"text" text:"block"`
}

// Money is what the night and the epic have used.
type Money struct {
	Night    attempts.Usage `json:"night"`              // by attempts and reviews of this night that have ended
	Epic     attempts.Usage `json:"epic"`               // of all nights
	By       Spenders       `json:"by"`                 // of this night, the dearest first
	Unpriced int            `json:"unpriced,omitempty"` // attempts of this night whose price is unknown: Night.CostUSD is without them
	Caps     []Cap          `json:"caps"`               // that bound it, as the configuration has them now
}

// Cap is a bound on what may be used. A bound that is missing is none.
type Cap struct {
	Scope limits.Scope    `json:"scope"`
	USD   *Bound[float64] `json:"usd,omitempty"`
	// Tokens count without what was read from a provider's cache.
	Tokens   *Bound[int64] `json:"tokens,omitempty"`
	Unpriced int           `json:"unpriced,omitempty"` // attempts of run or epic whose cost is not known: USD.Spent is without them
}

// Bound is a cap with what counts against it and what remains.
type Bound[N int64 | float64] struct {
	Cap   N `json:"cap"`
	Spent N `json:"spent"`
	Left  N `json:"left"`

	Unknown   bool `json:"-"` // the amount spent is unknown
	Estimated bool `json:"-"` // the amount spent is estimated
}

// Changed is what has landed so far, over all nights of the epic.
type Changed struct {
	Branch   string    `json:"branch,omitempty"`   // that the work is on; "": the one that was checked out
	From     string    `json:"from,omitempty"`     // branch that the epic began from; "": none, HEAD was detached
	Finished string    `json:"finished,omitempty"` // branch that has all of it
	Landings int       `json:"landings"`           // tasks whose work has landed
	Files    int       `json:"files"`              // different ones
	Added    int       `json:"added"`              // lines, summed over the tasks
	Deleted  int       `json:"deleted"`            // lines, summed over the tasks
	Next     []Command `json:"next,omitempty"`     // what to type to land it, and to undo one task of it
}

// Forecast is an estimate of when the run ends, or would if it began now.
type Forecast struct {
	P10     time.Time `json:"p10"`      // one of ten runs like this one is over by then
	P50     time.Time `json:"p50"`      // half of them are
	P90     time.Time `json:"p90"`      // nine of ten are
	BasedOn int       `json:"based_on"` // completed tasks
	Tasks   int       `json:"tasks"`    // that are left and can be done
	LeftOut int       `json:"left_out"` // that cannot: gated, or waiting for a gated one
	Jobs    int       `json:"jobs"`
	Of      []string  `json:"of,omitempty"` // it is about these tasks only, and what they depend on; empty: all

	USD    *[3]float64 `json:"usd,omitempty"`     // what is left to do costs, as one, five and nine of ten runs do; nil: unknown
	InTime *[3]int     `json:"in_time,omitempty"` // tasks completed before the deadline, in the same way; nil: there is none
}

// Graph is the plan as a picture: levels from the first tasks down.
type Graph struct {
	Nodes    []Node    `json:"nodes"`    // in the order of the plan
	Levels   int       `json:"levels"`   // how many there are
	Critical []int     `json:"critical"` // the heaviest path through the plan, as places of nodes, first task first
	Sections []Section `json:"sections"` // in the order of the plan; empty: the plan has none
}

// Node is a task in the graph.
type Node struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Section  string `json:"section,omitempty"`
	State    State  `json:"state"`
	Level    int    `json:"level"` // 0: it depends on nothing; else one more than the highest level it depends on
	Deps     []int  `json:"deps"`  // places of the nodes it depends on, without those that another of them depends on
	Critical bool   `json:"critical,omitempty"`
}

// Section is a group of the plan in the graph.
type Section struct {
	Name   string `json:"name"`
	Tasks  []int  `json:"tasks"` // places of nodes
	Counts Counts `json:"counts"`
	Deps   []int  `json:"deps"` // sections, by their places, that it has tasks waiting for
}

// Timeline is the night over time.
type Timeline struct {
	From  time.Time `json:"from,omitzero"` // of the first span; zero: nothing has happened
	To    time.Time `json:"to,omitzero"`   // of the last, or now while the run is on
	Jobs  int       `json:"jobs"`          // rows that the spans need
	Spans []Span    `json:"spans"`         // by their beginning
}

// SpanKind says what a span of the timeline is.
type SpanKind string

// Kinds of spans; a phase and its span share a name. Checks, reviews and landings lie within their attempt's time, or follow it.
const (
	SpanAttempt SpanKind = "attempt"              // from its start until its work was proved or it ended
	SpanChecks  SpanKind = SpanKind(PhaseChecks)  // acceptance commands on the work
	SpanReview  SpanKind = SpanKind(PhaseReview)  // reviewers are asked
	SpanLanding SpanKind = SpanKind(PhaseLanding) // proved work waits for its landing, and lands
	SpanWait    SpanKind = "wait"                 // nothing could start
	SpanCool    SpanKind = "cooldown"             // an agent was not asked
	SpanPause   SpanKind = "pause"                // a person had the run start nothing
)

// Span is a time in which something went on.
type Span struct {
	Kind    SpanKind         `json:"kind"`
	Job     int              `json:"job,omitempty"`  // row of the timeline, from 1; 0: it took no job
	Task    string           `json:"task,omitempty"` // "": a wait, a cool-down or a pause
	Attempt int              `json:"attempt,omitempty"`
	Agent   string           `json:"agent,omitempty"`
	From    time.Time        `json:"from"`
	To      time.Time        `json:"to,omitzero"`       // zero: it goes on
	Result  attempts.Result  `json:"result,omitempty"`  // of an attempt or a landing; "": it goes on, or nothing came of it yet
	Outcome attempts.Outcome `json:"outcome,omitempty"` // of an attempt that ended
	Why     string           `json:"why,omitempty"`     // of a wait or a cool-down, or of an attempt that failed, one line
}
