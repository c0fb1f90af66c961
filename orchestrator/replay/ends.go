package replay

import (
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// ruled decides what an attempt's end means.
func (r *replayer) ruled(s recordedStep) bool {
	id := attemptID{s.Task, s.Attempt}
	event, ok := r.log.ends[id]
	task, known := r.task(s.Task)
	if !ok || !known {
		r.report.Cannot(End, s.Task, notRecorded)
		return false
	}
	r.report.Made(End)
	r.s.Limits.Over(s.Task)
	then := event.Ended
	record := r.memory.Task(s.Task)
	if n := len(record.Attempts); n > 0 && record.Attempts[n-1].ID == s.Attempt {
		record.Attempts = record.Attempts[:n-1]
	}
	a := engine.Attempt{Run: r.rec.Run, Task: *task, Number: s.Attempt, Runner: r.runnerOf(s), Ended: s.Recovered}
	if last, ok := verdict.Previous(record); ok && s.OnlyReview {
		a.Previous = last
	}
	f := resultOf(s.Step, then)
	now := r.s.Judge.EndedEvent(a, f)
	rule := r.s.Judge.Decide(a, record, f, &now)
	if now.Charged != then.Charged {
		r.differs(End, s.Task, chargeText(then.Charged), chargeText(now.Charged))
	}
	if !sameGate(now.Gate, then.Gate) {
		r.differs(End, s.Task, gateText(then.Gate), gateText(now.Gate))
	}
	r.compareCooldowns(End, s.Task, r.log.cooling[id], rule.Cooldown)
	r.memory.Fold(event)
	for _, c := range r.log.cooling[id] {
		r.memory.Fold(attempts.Event{Type: attempts.TypeCooldown, Task: s.Task, At: event.At, Run: event.Run, Seq: event.Seq, Cooldown: c})
	}
	r.last[s.Task] = judged{a, f, *then, rule}
	return true
}

// resultOf returns what the engine has told of an attempt.
func resultOf(s attempts.Step, then *attempts.Ended) engine.Result {
	f := engine.Result{
		Outcome: then.Outcome, Receipt: then.Receipt, Head: then.Head, Landed: then.Landed, Model: then.Model, Session: then.Session,
		ResetAt: s.ResetAt, Gate: s.Gate, Charged: s.Charged, Held: s.Held, Doubtful: then.Receipt.Doubtful,
	}
	if then.Usage != nil {
		f.Usage = *then.Usage
	}
	f.Unable = unableOf(s)
	return f
}

func unableOf(s attempts.Step) (list []engine.Unable) {
	for _, u := range s.Unable {
		list = append(list, engine.Unable{Name: u.Reviewer, Why: u.Why, ResetAt: u.ResetAt, Outcome: u.Outcome})
	}
	return list
}

// compareCooldowns holds until when runners are not asked against what was recorded.
func (r *replayer) compareCooldowns(of Decision, task string, then, now []*attempts.Cooldown) {
	for i := range max(len(then), len(now)) {
		was, is := cooldownText(then, i), cooldownText(now, i)
		if was != is {
			r.differs(of, task, was, is)
		}
	}
}

func cooldownText(list []*attempts.Cooldown, i int) string {
	if i >= len(list) {
		return "no runner is put off"
	}
	return list[i].Runner + " is not asked before " + list[i].Until.UTC().Format(time.RFC3339Nano)
}

func chargeText(charged bool) string {
	if charged {
		return "it counts against the task"
	}
	return "it does not count against the task"
}

func sameGate(a, b *attempts.Gate) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Reason == b.Reason)
}

func gateText(g *attempts.Gate) string {
	if g == nil {
		return "it is not gated"
	}
	return "it is gated: " + string(g.Reason)
}

// settled moves the schedule on after an attempt's end.
func (r *replayer) settled(s recordedStep, index int) bool {
	last, ok := r.last[s.Task]
	if !ok || last.attempt.Number != s.Attempt {
		return false
	}
	for _, u := range s.Used {
		r.s.Limits.Told(u)
	}
	next := decide.EndedAttempt{Attempt: last.attempt, Result: last.result, Ended: last.ended, Rule: last.rule}
	err := r.s.Judge.Settle(decide.Job{Index: index, Runner: last.attempt.Runner}, next)
	r.stopped = r.stopped || r.s.Limits.Stopped.Reason != ""
	return err == nil
}

// reviewed decides what the review of the whole epic means for its reviewers.
func (r *replayer) reviewed(s recordedStep) bool {
	if len(r.log.reviews) == 0 {
		return false
	}
	r.report.Made(Review)
	then := r.log.reviews[0]
	r.log.reviews = r.log.reviews[1:]
	f := engine.Result{Outcome: s.Outcome, ResetAt: s.ResetAt, Unable: unableOf(s.Step)}
	f.Receipt.Review = &then.event.EpicReviewed.Reviewed
	r.compareCooldowns(Review, "", then.cooling, r.s.Judge.DecideEpic(f).Cooldown)
	r.memory.Fold(then.event)
	return true
}
