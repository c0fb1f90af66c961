package replay

import (
	"slices"
	"strings"

	"relay/orchestrator/decide"
)

// joined holds the order in which work could land against the one recorded.
func joined(r *replayer) {
	r.report.Made(Landing)
	if r.s.Queue == nil {
		return
	}
	due := decide.TasksOf(r.s.Queue.Due())
	recorded := &r.log.steps[r.log.next]
	if !slices.Equal(due, recorded.Tasks) {
		r.differs(Landing, "", landText(recorded.Tasks), landText(due))
	}
	r.waiting, r.group = recorded.Tasks, len(recorded.Tasks)
	grouped(r, recorded)
	r.setMade(recorded.Step)
}

// grouped holds how many of what could land share a run of checks against what was recorded.
func grouped(r *replayer, s *recordedStep) {
	if s.Together == 0 {
		return
	}
	r.report.Made(Group)
	r.group = max(0, min(s.Together, len(r.waiting)))
	sameGroup(r, r.Together(r.s.Queue, r.s.Queue.Named(r.waiting)))
}

// split holds how many are tried next, of work that has failed its checks together, against what was recorded.
func split(r *replayer, s recordedStep) {
	r.report.Made(Group)
	if n := len(s.Tasks); n > r.group || !slices.Equal(s.Tasks, r.waiting[:n]) {
		r.differs(Group, "", "together fail "+strings.Join(s.Tasks, ", "), groupText(r.waiting[:r.group]))
	}
	r.group = max(0, min(s.Together, len(r.waiting)))
	sameGroup(r, r.Fewer(len(s.Tasks)))
	r.setMade(s.Step)
}

// sameGroup holds a number of works that would share a run of checks now against the one recorded.
func sameGroup(r *replayer, now int) {
	if now = min(now, len(r.waiting)); now != r.group {
		r.differs(Group, "", groupText(r.waiting[:r.group]), groupText(r.waiting[:now]))
	}
}

func groupText(tasks []string) string {
	if len(tasks) == 1 {
		return tasks[0] + " is checked by itself"
	}
	return strings.Join(tasks, ", ") + " share a run of checks"
}

func landText(tasks []string) string {
	if len(tasks) == 0 {
		return "nothing can land"
	}
	return strings.Join(tasks, ", ") + " can land, in this order"
}

// landed takes what has landed together off the queue: the first of what was put together.
func landed(r *replayer, s recordedStep) {
	r.report.Made(Landing)
	if n := len(s.Tasks); n > r.group || !slices.Equal(s.Tasks, r.waiting[:n]) {
		then, now := "together land "+strings.Join(s.Tasks, ", "), "together land the first of "+strings.Join(r.waiting[:r.group], ", ")
		r.differs(Landing, "", then, now)
	}
	if r.s.Queue == nil {
		return
	}
	r.s.Queue.Remove(s.Tasks)
}
