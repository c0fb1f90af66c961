package attempts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// TaskRecord holds everything the ledger has of one task.
type TaskRecord struct {
	Completed bool      `json:"completed,omitempty"`
	Attempts  []Attempt `json:"attempts,omitempty"`
	Gate      *Gate     `json:"gate,omitempty"`
	// CountFrom is the index in Attempts from which charges count: an ungate or a retry moves it past all before.
	CountFrom int `json:"count_from,omitempty"`
	// Answers are what a person said to the task's agents, oldest first.
	Answers []Answer `json:"answers,omitempty"`
	// ReviewProgress holds the opinions and rounds of the attempt under way. It is in the log only.
	ReviewProgress *ReviewProgress `json:"-"`
}

// Attempt is one process start for a task. ID counts every start; Charged ones count against the limit.
type Attempt struct {
	ID        int       `json:"id" yaml:"id,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero" yaml:"-"` // zero in a foreign ledger that does not say
	EndedAt   time.Time `json:"ended_at,omitzero" yaml:"-"`   // zero while running
	Result    Result    `json:"result" yaml:"result"`
	Outcome   Outcome   `json:"outcome,omitempty" yaml:"outcome"`
	Cause     string    `json:"cause,omitempty" yaml:"cause"` // as in Ended
	Charged   bool      `json:"charged,omitempty" yaml:"-" ledger:"charged"`
	Run       string    `json:"run,omitempty" yaml:"run"`
	Runner    string    `json:"runner,omitempty" yaml:"runner"`
	Model     string    `json:"model,omitempty" yaml:"model"`
	Base      string    `json:"base,omitempty" yaml:"base"`
	Sealed    string    `json:"sealed,omitempty" yaml:"sealed"` // as in Started
	Head      string    `json:"head,omitempty" yaml:"head"`
	Landed    string    `json:"landed,omitempty" yaml:"landed"` // commit of the integration branch that holds the work
	Session   string    `json:"session_id,omitempty" yaml:"session_id"`
	Usage     *Usage    `json:"usage,omitempty" yaml:"usage"`
	Outside   bool      `json:"outside,omitempty" yaml:"outside,omitempty"` // as in Started
	Receipt   Receipt   `json:"receipt" yaml:"-"`
	// Landing is how the attempt ends if the integration branch has Landing.Landed in it. It is set from the landing event
	// until the attempt has ended.
	Landing *Ended  `json:"landing,omitempty" yaml:"-"`
	Undone  *Undone `json:"undone,omitempty" yaml:"undone"` // set when work that landed later broke what this attempt had completed
	Extra   string  `json:"extra,omitempty" yaml:"-"`       // keys of a foreign ledger that mean nothing here, as YAML
}

// Looks returns what relay saw of a completed task and could not judge, until a person has approved it.
func (rec *TaskRecord) Looks() []Look {
	last := len(rec.Attempts) - 1
	if !rec.Completed || last < rec.CountFrom {
		return nil
	}
	return rec.Attempts[last].Receipt.Looks
}

// SinceReset returns the attempts since the last ungate or retry.
func (rec TaskRecord) SinceReset() []Attempt {
	return rec.Attempts[min(max(rec.CountFrom, 0), len(rec.Attempts)):]
}

// Charges returns the number of attempts that count against the task's limit.
func (rec TaskRecord) Charges() int {
	return each.Count(rec.SinceReset(), func(a *Attempt) bool { return a.Charged })
}

// Used returns the usage of all attempts of the task.
func (rec TaskRecord) Used() Usage { return sum(rec.Attempts) }

// UsedSince returns the usage of the attempts since the last ungate or retry, which counts against the task's caps.
func (rec TaskRecord) UsedSince() Usage { return sum(rec.SinceReset()) }

// TimesUndone returns how often work that landed later has broken the task after it was completed.
func (rec TaskRecord) TimesUndone() int {
	return each.Count(rec.Attempts, func(a *Attempt) bool { return a.Undone != nil })
}

// Running returns the attempt that has not ended, or nil.
func (rec *TaskRecord) Running() *Attempt {
	if n := len(rec.Attempts); n > 0 && rec.Attempts[n-1].Result == ResultInProgress {
		return &rec.Attempts[n-1]
	}
	return nil
}

// status returns the task's state; waiting says that a dependency is not completed.
func (rec *TaskRecord) status(waiting bool) Status {
	switch {
	case rec.Completed:
		return Completed
	case rec.Gate != nil:
		return Gated
	case rec.Running() != nil:
		return InProgress
	case waiting:
		return BlockedOn
	}
	return Pending
}

func (rec *TaskRecord) blank() bool {
	return !rec.Completed && rec.Gate == nil && len(rec.Attempts) == 0 && rec.CountFrom == 0 && len(rec.Answers) == 0
}

// clone returns a copy, of no record an empty one.
func (rec *TaskRecord) clone() TaskRecord {
	if rec == nil {
		return TaskRecord{}
	}
	out := *rec
	out.Attempts = append([]Attempt(nil), rec.Attempts...)
	for i := range out.Attempts {
		out.Attempts[i].Usage = copied(out.Attempts[i].Usage, func(*Usage) {})
	}
	out.Gate = copied(out.Gate, func(*Gate) {})
	return out
}

func (rec *TaskRecord) start(e *Event) {
	a := Attempt{ID: e.Attempt, StartedAt: e.At, Result: ResultInProgress, Run: e.Run}
	if s := e.Started; s != nil {
		a.Runner, a.Model, a.Base, a.Sealed, a.Outside = s.Runner, s.Model, s.Base, s.Sealed, s.Outside
	}
	rec.Attempts, rec.ReviewProgress = append(rec.Attempts, a), nil
}

func (rec *TaskRecord) end(e *Event) {
	if e.Ended == nil {
		return
	}
	a, in := rec.startedBy(e), e.Ended
	a.Landing, rec.ReviewProgress, a.Landed = nil, nil, in.Landed
	a.EndedAt, a.Result, a.Outcome, a.Charged = cmp.Or(in.Seen, e.At), in.Result, in.Outcome, in.Charged
	a.Cause, a.Head, a.Session, a.Usage, a.Receipt = in.Cause, in.Head, in.Session, in.Usage, in.Receipt
	a.Model = cmp.Or(in.Model, a.Model)
	if in.Gate != nil && !rec.Completed && rec.Gate == nil { // completed stays completed, and what waits for a person stays so
		rec.Gate = gateOf(in.Gate, e.At)
	}
	if in.Result == ResultSuccess {
		rec.Completed, rec.Gate = true, nil
	}
}

// startedBy finds the attempt of an event; if its start was lost with an older log, it starts here.
func (rec *TaskRecord) startedBy(e *Event) *Attempt {
	if a := rec.attempt(e.Attempt); a != nil {
		return a
	}
	rec.start(e)
	return &rec.Attempts[len(rec.Attempts)-1]
}

// attempt finds the last attempt of that number.
func (rec *TaskRecord) attempt(id int) *Attempt {
	for i := len(rec.Attempts) - 1; i >= 0; i-- {
		if rec.Attempts[i].ID == id {
			return &rec.Attempts[i]
		}
	}
	return nil
}

// ungate resets what counts towards a gate. Work that waits for its review is kept, to be reviewed, and an answered session of a task
// that a person held, to be continued.
func (rec *TaskRecord) ungate() {
	last := len(rec.Attempts) - 1
	waits := rec.Gate != nil && last >= 0 && (rec.Gate.Reason == Infrastructure && rec.Attempts[last].AwaitsReview() ||
		rec.Gate.Reason == UserBlocked && rec.Attempts[last].Outcome == Asked)
	rec.Gate, rec.CountFrom = nil, len(rec.Attempts)
	if waits {
		rec.CountFrom = last
	}
}

// undo makes a completed task pending again. The attempt that completed it keeps what has become of its work.
func (rec *TaskRecord) undo(e *Event) {
	a := rec.attempt(e.Attempt)
	if a == nil || e.Undone == nil || !rec.Completed {
		return
	}
	undone := *e.Undone
	a.Undone, rec.Completed, rec.CountFrom = &undone, false, len(rec.Attempts)
}

// applyStatus applies a status from task_status. It wins over the rest of the record where they contradict, as it is what a
// person edits first.
func (rec *TaskRecord) applyStatus(s Status) {
	switch s {
	case Completed:
		rec.Completed, rec.Gate = true, nil
	case Gated:
		if rec.Gate == nil {
			rec.Gate = &Gate{Reason: UserBlocked, Detail: "gated by hand in the ledger"}
		}
	case Pending, InProgress, BlockedOn:
		rec.Gate = nil
	}
}

// land remembers how an attempt is about to end. Only an attempt that is still on lands, and only a success.
func (a *Attempt) land(e *Ended) {
	a.Landing = nil
	if e == nil || a.Result != ResultInProgress || e.Result != ResultSuccess {
		return
	}
	landing := *e
	landing.Gate = nil // what is done is not gated
	landing.Outcome = cmp.Or(landing.Outcome, Success)
	a.Landing = &landing
}

func (a *Attempt) setAside() {
	a.Result, a.Outcome, a.Charged, a.Landing = ResultInterrupted, Stopped, false, nil
	a.Receipt.ErrorCategory = cmp.Or(a.Receipt.ErrorCategory, Interrupted)
	a.Receipt.ErrorSummary = cmp.Or(a.Receipt.ErrorSummary, "relay did not start it, and found it in progress in the ledger")
}

func gateOf(g *Gate, at time.Time) *Gate {
	if g == nil {
		return &Gate{Reason: UserBlocked, At: at}
	}
	out := *g
	out.At = out.At.Truncate(time.Millisecond) // as every time of an event
	if out.At.IsZero() {
		out.At = at
	}
	return &out
}

// Answer is what a person said to the agents of a task.
type Answer struct {
	At       time.Time `json:"at" yaml:"at"`
	After    int       `json:"after,omitempty" yaml:"after,omitempty"`                    // attempts that had ended then
	Question string    `json:"question,omitempty" yaml:"question,omitempty" text:"block"` // that was open then; "": none
	Text     string    `json:"text" yaml:"text" text:"block"`
}

const (
	mostAnswers = 20
	// MaxAnswer is how many bytes of an answer are kept.
	MaxAnswer = 16 << 10
)

// answer records what a person said, if the event has it. Earlier attempts count as before, and the next one continues from their work.
func (rec *TaskRecord) answer(e *Event) {
	if e.Answer == nil {
		return
	}
	a := *e.Answer
	a.At, a.After = e.At, len(rec.Attempts)
	if rec.Running() != nil {
		a.After--
	}
	rec.Answers = append(slices.Clip(rec.Answers[max(0, len(rec.Answers)-mostAnswers+1):]), a)
	if rec.Gate != nil && rec.Gate.Reason == AwaitsAnswer {
		rec.Gate = nil
	}
}

// OpenQuestions returns the questions of the last attempt that asked any, unless a person said something to the task since, or a later
// attempt completed it and asked nothing.
func (rec TaskRecord) OpenQuestions() []string {
	from := 0
	if n := len(rec.Answers); n > 0 {
		from = rec.Answers[n-1].After
	}
	for i := len(rec.Attempts) - 1; i >= from; i-- {
		if a := &rec.Attempts[i]; len(a.Receipt.Questions) > 0 || a.Result == ResultSuccess {
			return a.Receipt.Questions
		}
	}
	return nil
}

// AnswerTo returns what a person says to the agents of a task, with the questions that are open; nil for no text.
func (rec TaskRecord) AnswerTo(text string) *Answer {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &Answer{Question: strings.Join(rec.OpenQuestions(), "\n"), Text: plaintext.Capped(text, MaxAnswer)}
}
