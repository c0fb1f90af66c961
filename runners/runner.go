// Package runners says what a runner is: requests, reports, results and prices, and the messages and actions of a conversation in one
// form for all CLIs.
//
// runner.go drives agent CLIs: one adapter per CLI turns a request into a process and its output into a report.
//
// An agent's word is a claim. A [Report] says what the process did and what the agent claimed; whether the task is done is decided
// elsewhere, from evidence.
//
// conversation.go has the words in which the readers of agent CLIs tell what was said and done in a stream: a session began, a message, a
// tool call, its result, what was used of the model.
//
// The package of each CLI knows its stream, and callers make rows of a database of the words. Here is plain data only, and the file in
// which relay keeps when it saw a stream grow.
//
// cleantext.go makes what agents print safe to store and to show, and shortens it between words.
package runners

import (
	"context"
	"strings"
	"time"

	"relay/runners/process"
	"relay/runners/sandbox"
)

// Runner drives one kind of agent. Run starts one agent, waits until it and everything it started is gone, and
// reports. Its error is for faults of relay's own machine (the transcript cannot be created, the supervisor is gone);
// everything an agent or its provider can do wrong is an Outcome in the report.
//
// When ctx is cancelled the agent is stopped (see process.Command) and the report's Outcome is Stopped with the
// cancellation's cause as its Detail.
type Runner interface {
	Name() string
	Run(ctx context.Context, req Request) (Report, error)
}

// Request is one attempt, review or other question for an agent. All paths are absolute.
type Request struct {
	Mark       string // run/task/n, carried by every process of the attempt as RELAY_ATTEMPT
	Dir        string // working directory of the agent
	Prompt     string // file holding the prompt; never passed in the argument list
	Result     string // where the agent may write its result (RELAY_RESULT); must not exist before
	Transcript string // stdout goes here, as it came
	Stderr     string
	End        string   // the supervisor writes how the process ended here
	Schema     []byte   // JSON Schema of the structured answer; nil: none is asked for
	Question   bool     // the answer is the final text, and no result is looked for: Claimed when there is any
	Unsteered  bool     // the CLI gets none of the configuration that stands in Dir: agents have changed it
	Model      string   // "" : the CLI's own default
	Session    string   // session to resume; "" : a new one
	NewSession string   // the id that a new one is to have, for CLIs that take one; "" : any
	Spent      Usage    // what the earlier runs of Session reported, for CLIs that count a session as a whole
	Env        []string // complete: the agent sees this, RELAY_ATTEMPT, _TASK, _RESULT, _PROMPT and its adapter's own settings
	Limits     Limits
	Role       sandbox.Role // what the agent is asked for; "": to work in Dir
	Ended      bool         // the agent already ended, under a relay that was killed (process.Ended): read its files as they are
	Observe    func(Event)  // called from one goroutine as output arrives, of a flood with the first and the last; may be nil
}

// Limits bound one attempt. Zero means no limit, except that TranscriptCap 0 means 32 MiB.
type Limits struct {
	Wall          time.Duration // whole attempt
	Silence       time.Duration // without one new byte on stdout or stderr
	FirstAnswer   time.Duration // until the model says anything; for CLIs whose stream tells
	Linger        time.Duration // still alive after its final result
	StopGrace     time.Duration // between the polite stop and the kill
	TranscriptCap int64         // bytes kept of stdout and of stderr each: head and tail
	DiskFloor     int64         // bytes: a process that leaves less than an eighth of them on its disk is stopped; 0: none is
}

// Outcome says how an agent's run ended, before relay looked at any evidence.
type Outcome string

// Outcomes of a run: first those that are the agent's own, then its provider's, then relay's machine's.
const (
	Claimed          Outcome = "claimed"           // the agent says it succeeded
	Failed           Outcome = "failed"            // the agent says it failed, or exited with an error of its own
	Asked            Outcome = "asked"             // it needs a person's answer to continue
	NoResult         Outcome = "no_result"         // it ended well and said nothing
	BadResult        Outcome = "bad_result"        // its result cannot be read
	WallLimit        Outcome = "wall_limit"        // Limits.Wall passed
	SilenceLimit     Outcome = "silence_limit"     // Limits.Silence passed
	Refused          Outcome = "refused"           // the model will not do this task
	ContextExhausted Outcome = "context_exhausted" // what it has read no longer fits its model
	TurnsSpent       Outcome = "turns_exhausted"   // its CLI's own limit of turns was reached
	Killed           Outcome = "killed"            // ended by a signal that relay did not send

	Quota       Outcome = "quota"         // usage limit; ResetAt when known
	RateLimited Outcome = "rate_limited"  // throttled for now; ResetAt when known
	Overloaded  Outcome = "overloaded"    // the provider has no room: 503, 529
	Network     Outcome = "network"       // no answer from the provider, or none in time
	Truncated   Outcome = "truncated"     // the answer, or the CLI's own output, broke off
	Provider    Outcome = "provider"      // any other fault of the provider
	Auth        Outcome = "auth"          // not logged in, forbidden, no credit
	NoModel     Outcome = "model_unknown" // the model does not exist, or not for this account

	Stopped          Outcome = "stopped"           // ctx was cancelled
	NoSession        Outcome = "no_session"        // the session to be resumed is gone: a fresh one will do
	Lost             Outcome = "lost"              // the supervisor died; how the agent ended is unknown
	CannotStart      Outcome = "cannot_start"      // the program is missing, not executable, or refuses its arguments
	PermissionDenied Outcome = "permission_denied" // it failed, or did nothing, for want of a tool that its mode denies
)

// Report is what one run came to. Strings from the agent are valid UTF-8 without control characters, and capped.
type Report struct {
	Outcome   Outcome
	Detail    string    // one line of at most 500 characters: why, in words a person can act on
	ResetAt   time.Time // Quota, RateLimited, Overloaded: when to come back; zero when the provider did not say
	Result    *Result   // what the agent claimed; nil unless it said something readable
	FinalText string    // last message of the agent, at most 64 KiB
	Session   string
	Model     string
	Usage     Usage
	Tools     []ToolUse // of those that its CLI tells of, the most used first
	Exit      process.Exit

	// EndedWell means of an outcome that is none of the agent's that its CLI knows of no fault: what is missing tells of one.
	EndedWell bool
}

// MaxAnswer is how many bytes a FinalText has at most.
const MaxAnswer = MaxFinal

// CutOff reports whether the last message was longer than what is kept of it.
func (r *Report) CutOff() bool {
	return strings.HasSuffix(r.FinalText, CutMark) && len(r.FinalText) > MaxAnswer/2
}

// ToolUse says how often an agent has used one of its tools. The name is clean, and short.
type ToolUse struct {
	Name   string
	Calls  int
	Failed int // of them
}

// Usage is what this run alone cost, also when it resumed a session. InputTokens count what was read from and written
// to the provider's cache; CachedTokens are those of them that were read from it, CacheWrites those that were written.
// CostUSD is 0 when the CLI does not price itself (Priced is false then). Estimated says that the CLI did not report all of the
// tokens, ListPriced that the cost is by relay's list of public prices.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens,omitempty"`
	CacheWrites  int64   `json:"cache_writes,omitempty"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	Priced       bool    `json:"priced"`
	Estimated    bool    `json:"estimated,omitempty"`
	ListPriced   bool    `json:"list_priced,omitempty"`
}

// Plus returns the sum of both.
func (u Usage) Plus(more Usage) Usage {
	u.InputTokens += more.InputTokens
	u.CachedTokens += more.CachedTokens
	u.CacheWrites += more.CacheWrites
	u.OutputTokens += more.OutputTokens
	u.CostUSD += more.CostUSD
	u.Priced, u.Estimated, u.ListPriced = u.Priced || more.Priced, u.Estimated || more.Estimated, u.ListPriced || more.ListPriced
	return u
}

// AtLeast returns u with each number of tokens raised to that of than where that is greater.
func (u Usage) AtLeast(than Usage) Usage {
	u.InputTokens, u.OutputTokens = max(u.InputTokens, than.InputTokens), max(u.OutputTokens, than.OutputTokens)
	u.CachedTokens, u.CacheWrites = max(u.CachedTokens, than.CachedTokens), max(u.CacheWrites, than.CacheWrites)
	return u
}

// Event is one thing an agent did, for people who watch. Text is clean and at most 200 characters.
type Event struct {
	Kind  EventKind
	Text  string
	Usage Usage  // EventUsage
	Model string // EventUsage: the model, as far as it is known
}

// EventKind names what an Event tells.
type EventKind string

// The event vocabulary, common to all CLIs.
const (
	EventSession EventKind = "session" // the agent is up; Text is the session id
	EventText    EventKind = "text"    // the agent said something
	EventTool    EventKind = "tool"    // it calls a tool; Text is the tool's name and its main argument
	EventRetry   EventKind = "retry"   // its provider made it wait
	EventResult  EventKind = "result"  // its final message
	EventUsage   EventKind = "usage"   // Usage is what it has cost so far; what it came to in the end is in the report
)
