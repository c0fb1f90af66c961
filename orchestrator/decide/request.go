package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/limits"
	"relay/orchestrator/schedule"
	"relay/orchestrator/verdict"
)

// ErrStopped is the cause with which an attempt is cancelled that a person stops.
var ErrStopped = errors.New("a person stopped it")

// Requests decides on what a person asks of the run.
type Requests struct {
	state  *State
	limits *Limits
	queue  *Queue
}

// Consider returns the events of what a person asks of the run, with the message for them; none when nothing has to change. It fails
// with a *attempts.RefusedError when the task is in no state for it. said holds all that the person said, asked its beginning.
// Apply carries it out, after the events are written. The caller holds Mu.
func (q *Requests) Consider(
	now limits.Instant, task string, asked attempts.Request, said string,
) (events []attempts.Event, message string, err error) {
	s := q.state
	if s.Closing || s.Plan == nil {
		return nil, "", &attempts.RefusedError{Reason: "the run is just coming to its end", Hint: "type it again when the run has ended: relay status --watch"}
	}
	r := request{q: q, now: now, asked: asked, said: said, index: -1}
	r.event = attempts.Event{Type: attempts.TypeRequested, Task: task, Request: &asked}
	if task == "" {
		return r.ofRun()
	}
	index, ok := s.O.Graph.Index(task)
	if !ok {
		return nil, "", &attempts.RefusedError{
			Reason: "the run has no task " + task, Hint: "it keeps the plan that it began with: relay reload applies an edited epic.yml",
		}
	}
	r.index, r.task, r.record = index, s.Plan.Task(index), s.store.Task(task)
	s.store.View(func(l *attempts.Ledger) { r.status = l.StatusOf(s.O.Graph, task) })
	switch asked.What {
	case attempts.RequestGate:
		return r.gate()
	case attempts.RequestUngate, attempts.RequestApprove:
		return r.ungate()
	case attempts.RequestAnswer:
		return r.answer()
	case attempts.RequestRetry:
		return r.retry()
	case attempts.RequestStop:
		return r.stop()
	default:
		return nil, "", r.unknown()
	}
}

// unknown refuses what a later relay asks.
func (r *request) unknown() error {
	return &attempts.RefusedError{Reason: "the run does not know " + string(r.asked.What)}
}

// request is one that is being considered.
type request struct {
	q      *Requests
	now    limits.Instant
	asked  attempts.Request
	said   string // as asked.Reason, whole
	event  attempts.Event
	index  int
	task   *epic.Task
	record attempts.TaskRecord
	status attempts.Status
}

// ofRun considers what is asked of the run as a whole.
func (r *request) ofRun() ([]attempts.Event, string, error) {
	running := r.q.state.Plan.CountRunning()
	events := []attempts.Event{r.event}
	switch paused := r.q.state.Paused; {
	case r.asked.What == attempts.RequestPause && paused:
		return nil, "the run is paused already: relay pause --off", nil
	case r.asked.What == attempts.RequestPause && running > 0:
		return events, fmt.Sprintf("paused: nothing new starts, and %s under way %s to an end; relay pause --off goes on",
			plaintext.Count(running, "task"), plaintext.Verb(running, "comes", "come")), nil
	case r.asked.What == attempts.RequestPause:
		return events, "paused: nothing new starts; relay pause --off goes on", nil
	case r.asked.What == attempts.RequestContinue && !paused:
		return nil, "the run is not paused", nil
	case r.asked.What == attempts.RequestContinue:
		return events, "the run goes on", nil
	case r.asked.What == attempts.RequestStop:
		return events, "the run ends", nil
	}
	return nil, "", r.unknown()
}

// gate considers to keep the task from being tried.
func (r *request) gate() ([]attempts.Event, string, error) {
	id := r.task.ID
	message := id + " is gated"
	switch {
	case r.status == attempts.Completed:
		return nil, "", &attempts.RefusedError{Reason: id + " is completed", Hint: "after this run, relay retry " + id + " makes it pending again; then it can be gated"}
	case r.status == attempts.Gated && InPlaceOf(&r.record) == "":
		return nil, id + " is gated already: " + r.record.Gate.Reason.Words(), nil
	case r.status == attempts.Gated:
		message += InPlaceOf(&r.record)
	case r.waitsForLanding():
		message += ": its work is proved, and lands all the same"
	case r.q.state.Plan.IsRunning(r.index):
		message += ": its running attempt goes on, and is the last; relay stop " + id + " ends that too"
	}
	r.event.Type = attempts.TypeGated
	r.event.Gate = &attempts.Gate{Reason: attempts.UserBlocked, Detail: r.asked.Reason, At: r.now.Day.UTC()}
	return []attempts.Event{r.event}, message, nil
}

// InPlaceOf says that a person's gate takes the place of one of relay's, which relay might lift; "": it does not. That of work that
// waits for its review stays: when a person's is lifted, the work is done again.
func InPlaceOf(rec *attempts.TaskRecord) string {
	k := len(rec.Attempts)
	if rec.Gate == nil || k > 0 && rec.Attempts[k-1].AwaitsReview() {
		return ""
	}
	if rec.Gate.Reason == attempts.UserBlocked || rec.Gate.Reason == attempts.AwaitsAnswer { // relay lifts neither
		return ""
	}
	return " by you, no longer by relay: " + rec.Gate.Reason.Words()
}

// ungate considers to let the task be tried again, or takes a completed one as it is.
func (r *request) ungate() ([]attempts.Event, string, error) {
	id := r.task.ID
	r.event.Type = attempts.TypeUngated
	switch {
	case len(r.record.Looks()) > 0, r.asked.What == attempts.RequestApprove && r.done():
		r.event.Type, r.event.Note = attempts.TypeApproved, &attempts.Note{Kind: "approved", Text: r.asked.Reason}
		return []attempts.Event{r.event}, Approved(r.task, &r.record), nil
	case r.asked.What == attempts.RequestApprove:
		return nil, "", &attempts.RefusedError{Reason: id + " has nothing to approve", Hint: "relay status lists what needs you"}
	case r.status == attempts.Gated:
		r.event.Answer = r.record.AnswerTo(r.said)
		return []attempts.Event{r.event}, id + " will be tried again" + r.when(), nil
	case r.q.state.Withheld[r.index]:
		return nil, "", &attempts.RefusedError{Reason: id + " is not gated, but was stopped", Hint: "relay retry " + id + " tries it again"}
	}
	return nil, "", &attempts.RefusedError{Reason: id + " is not gated, but " + string(r.status), Hint: "relay status lists the gated tasks"}
}

// Approved says what a person's approval makes of a task.
func Approved(t *epic.Task, rec *attempts.TaskRecord) string {
	if rec.Completed {
		return t.ID + " is approved as it is"
	}
	return t.ID + " is completed, as you have done it"
}

// done reports whether a person can have done the task.
func (r *request) done() bool {
	return r.task.Kind == epic.KindPerson && r.status != attempts.Completed && !r.q.state.Plan.IsRunning(r.index)
}

// answer considers what a person says to the task's agents.
func (r *request) answer() ([]attempts.Event, string, error) {
	id := r.task.ID
	message := id + "'s next agent gets your answer"
	switch {
	case r.status == attempts.Completed:
		message = id + " is completed, and your answer is recorded: after this run, relay retry " + id + " repeats it with the answer"
	case r.status == attempts.Gated && r.record.Gate.Reason == attempts.AwaitsAnswer:
		message = id + " continues with your answer as soon as a job is free" + r.when()
	case r.status == attempts.Gated:
		message += "; it is still gated: relay ungate " + id
	}
	r.event.Type, r.event.Answer = attempts.TypeAnswered, r.record.AnswerTo(r.said)
	return []attempts.Event{r.event}, message, nil
}

// retry considers to try the task at once: gated, stopped, or waiting for a runner.
func (r *request) retry() ([]attempts.Event, string, error) {
	id, gated := r.task.ID, r.status == attempts.Gated
	r.event.Answer = r.record.AnswerTo(r.said)
	events := []attempts.Event{r.event}
	if gated {
		events[0].Type = attempts.TypeReset
	}
	var waits []string
	r.q.state.store.View(func(l *attempts.Ledger) { waits = l.WaitsFor(r.q.state.O.Graph, id) })
	switch {
	case r.status == attempts.Completed:
		return nil, "", &attempts.RefusedError{Reason: id + " is completed", Hint: "when the run has ended, relay retry " + id + " makes it pending again"}
	case !r.q.state.Plan.IsWanted(r.index):
		return nil, "", &attempts.RefusedError{Reason: "this run is not about " + id, Hint: "when it has ended: relay work " + id}
	case r.q.state.Plan.IsRunning(r.index) && (gated || r.q.state.Withheld[r.index]):
		return events, id + " will be tried again when its running attempt has ended", nil
	case r.q.state.Plan.IsRunning(r.index):
		return nil, "", &attempts.RefusedError{Reason: id + " is being tried now", Hint: "relay stop " + id + " ends that attempt; relay retry " + id + " then tries it again"}
	case r.status == attempts.BlockedOn:
		return nil, "", &attempts.RefusedError{Reason: id + " waits for " + plaintext.Some(waits, 5), Hint: "relay status says what keeps these"}
	case len(waits) > 0:
		return events, id + " is not gated any more, and waits for " + plaintext.Some(waits, 5), nil
	}
	lifted := r.q.state.Pool.Cooldowns(r.now)
	for _, c := range lifted {
		if !slices.Contains(r.q.runners(r.index), c.Runner) {
			continue
		}
		event := attempts.Event{Type: attempts.TypeCooldown, Request: &r.asked}
		event.Cooldown = &attempts.Cooldown{Runner: c.Runner, Why: "relay retry " + id}
		events = append(events, event)
	}
	return events, id + " is tried as soon as a job is free" + r.when(), nil
}

// when returns what a message says of a task that may be tried again, if that is not at once.
func (r *request) when() string {
	switch {
	case !r.q.state.Plan.IsWanted(r.index):
		return " by another run: this one is not about it"
	case r.q.state.Paused:
		return ", after the pause: relay pause --off"
	}
	return ""
}

// stop considers to end the task's running attempt.
func (r *request) stop() ([]attempts.Event, string, error) {
	id := r.task.ID
	switch {
	case r.waitsForLanding(), r.record.Running() != nil && r.record.Running().Run != r.q.state.O.Run: // or a killed run began it
		return nil, "", &attempts.RefusedError{Reason: "no agent works on " + id + " any more: its work is checked, or waits for its landing"}
	case !r.q.state.Plan.IsRunning(r.index):
		refused := &attempts.RefusedError{Reason: id + " is not running, but " + strings.ReplaceAll(string(r.status), "_", " ")}
		if r.status == attempts.Pending || r.status == attempts.BlockedOn {
			refused.Hint = "relay gate " + id + " keeps it from being tried"
		}
		return nil, "", refused
	}
	kept := ""
	if n := len(r.record.Attempts); n > 0 && r.q.state.O.Isolation != "shared" {
		kept = fmt.Sprintf(" as refs/relay/%s/%s/%d", r.q.state.O.Epic.ID, id, r.record.Attempts[n-1].ID)
	}
	events := []attempts.Event{r.event}
	if r.q.limits.stopping[id] {
		events = nil // it is under way
	}
	return events, fmt.Sprintf("%s is asked to end, uncharged: what it has done is kept%s; this run does not try it again before relay retry %s", id, kept, id), nil
}

// waitsForLanding reports whether the task's work is proved.
func (r *request) waitsForLanding() bool {
	return r.q.queue != nil && len(r.q.queue.Named([]string{r.task.ID})) > 0
}

// runners returns whom a task may ask: its runners, and the reviewers.
func (q *Requests) runners(index int) []string {
	pool := q.state.Pool
	return slices.Concat(pool.Choices(q.state.Plan.Task(index).Runner), pool.Panel, q.state.Plan.MissingReviewers(index))
}

// Apply carries out what was asked of the run, as far as that changes what is decided. The event is folded by then. The caller holds Mu.
func (q *Requests) Apply(now limits.Instant, task string, what attempts.RequestKind) {
	s := q.state
	index, ok := s.O.Graph.Index(task)
	switch {
	case what == attempts.RequestPause:
		s.Paused = true
	case what == attempts.RequestContinue:
		s.Paused = false
	case !ok:
	case what == attempts.RequestGate:
		s.Withheld[index] = true
		s.Plan.Withhold(index)
	case what == attempts.RequestStop:
		s.Withheld[index] = true
		q.limits.stopping[task] = true
		if stop := q.limits.stops[task]; stop != nil { // else it is stopped as soon as it begins
			stop(ErrStopped)
		}
	case what == attempts.RequestRetry:
		s.Pool.Reopen(q.runners(index), task, now)
		q.limits.breaker.Skip(now)
		s.Plan.Hasten(index)
		q.restore(index)
	case what == attempts.RequestUngate, what == attempts.RequestAnswer && !s.Withheld[index] && verdict.Continued(s.store.Task(task)) != nil:
		q.restore(index)
	case what == attempts.RequestApprove && s.store.Task(task).Completed && s.Plan.Task(index).Kind == epic.KindPerson:
		s.Plan.Complete(index)
	}
	s.Announce()
}

// restore takes a task back into the run.
func (q *Requests) restore(index int) {
	s := q.state
	delete(s.Withheld, index)
	delete(s.asking, index)
	s.Plan.Restore(index, schedule.MissingReviewers(s.store.Task(s.Plan.Task(index).ID)))
	s.Restored = true
}
