package replay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
)

// nightLog holds the events of one run by their subjects.
type nightLog struct {
	began  time.Time // as of StepBegun …
	offset int64
	last   uint64 // event

	steps []recordedStep // in the order in which they were made
	next  int            // the first that is not repeated yet

	events  []attempts.Event // that follow from no step, in the order of the log
	folded  int              // of these
	started map[attemptID]attempts.Event
	landing map[attemptID]*attempts.Ended
	ends    map[attemptID]attempts.Event
	cooling map[attemptID][]*attempts.Cooldown // the zero value: those of the last review of the whole epic
	gated   map[string][]attempts.Event
	asked   []attempts.Event // what a person asked of the run, with what that changed at once
	reviews []recordedReview
	waits   int
	stopped *attempts.RunStopped
}

// attemptID names an attempt.
type attemptID struct {
	task   string
	number int
}

// recordedStep is a step with the number of the event that has carried it.
type recordedStep struct {
	attempts.Step
	carrier uint64
}

// recordedReview is a review of the whole epic, and the cooldowns that followed from it.
type recordedReview struct {
	event   attempts.Event
	cooling []*attempts.Cooldown
}

// add files an event of the run.
func (l *nightLog) add(e attempts.Event) {
	if l.last == 0 {
		l.started, l.landing, l.ends = map[attemptID]attempts.Event{}, map[attemptID]*attempts.Ended{}, map[attemptID]attempts.Event{}
		l.cooling, l.gated = map[attemptID][]*attempts.Cooldown{}, map[string][]attempts.Event{}
	}
	l.last = e.Seq
	l.steps = append(l.steps, each.Of(e.Steps, func(s attempts.Step) recordedStep { return recordedStep{s, e.Seq} })...)
	e.Steps = nil
	if e.Request != nil {
		l.asked = append(l.asked, e)
		return
	}
	l.addDecided(e)
}

// addDecided files an event by its subject.
func (l *nightLog) addDecided(e attempts.Event) {
	id := attemptID{e.Task, e.Attempt}
	switch e.Type {
	case attempts.TypeAttemptStarted:
		l.started[id] = e
	case attempts.TypeLanding:
		l.landing[id] = e.Landing
	case attempts.TypeAttemptEnded:
		l.ends[id] = e
	case attempts.TypeGated:
		l.gated[e.Task] = append(l.gated[e.Task], e)
	case attempts.TypeEpicReviewed:
		l.reviews = append(l.reviews, recordedReview{event: e})
	case attempts.TypeWaiting:
		l.waits++
	case attempts.TypeCooldown:
		if n := len(l.reviews); e.Task == "" && n > 0 {
			l.reviews[n-1].cooling = append(l.reviews[n-1].cooling, e.Cooldown)
		} else if e.Task != "" {
			l.cooling[id] = append(l.cooling[id], e.Cooldown)
		}
	case attempts.TypeRunStopped:
		l.stopped = e.RunStopped
	case attempts.TypeUndone, attempts.TypeAccepted, attempts.TypeReset, attempts.TypeUngated, attempts.TypeReopened, attempts.TypeApproved,
		attempts.TypeProved, attempts.TypeAnswered:
		l.events = append(l.events, e)
	default: // of no consequence for what is decided
	}
}

// instant returns when a step was made.
func (l *nightLog) instant(s attempts.Step) limits.Instant {
	ran := time.Duration(s.Ran)
	return limits.Instant{Day: l.began.Add(ran - time.Duration(l.offset) + time.Duration(s.Drift)), Run: ran}
}

// foldUntil returns the events that follow from no step and stand before an event, each once.
func (l *nightLog) foldUntil(seq uint64) []attempts.Event {
	from := l.folded
	for l.folded < len(l.events) && l.events[l.folded].Seq < seq {
		l.folded++
	}
	return l.events[from:l.folded]
}

// askedBy returns the events of what was asked in the step that an event has carried.
func (l *nightLog) askedBy(carrier uint64) []attempts.Event {
	from := slices.IndexFunc(l.asked, func(e attempts.Event) bool { return e.Seq == carrier })
	if from < 0 {
		return nil
	}
	to := from + 1
	for to < len(l.asked) && l.asked[to].Seq == l.asked[to-1].Seq+1 && l.asked[to].Type == attempts.TypeCooldown {
		to++
	}
	return l.asked[from:to]
}

// files returns which files an attempt has changed that waits for its landing.
func (l *nightLog) files(s attempts.Step) []string {
	id := attemptID{s.Task, s.Attempt}
	switch landing := l.landing[id]; {
	case len(s.Files) > 0:
		return s.Files
	case l.ends[id].Ended != nil:
		return l.ends[id].Ended.Receipt.FilesChanged
	case landing != nil:
		return landing.Receipt.FilesChanged
	}
	return nil
}

// Reasons for which decisions cannot be repeated.
const (
	lostSteps   = "the steps that they depend on are missing from the log, as after a crash"
	notRecorded = "the log does not say how they came to their end"
	unreadable  = "their evidence cannot be read"
)

// countUnchecked counts the decisions of the log whose steps were not repeated.
func countUnchecked(r *replayer) {
	chosen, ruled, waits := map[string]int{}, map[attemptID]bool{}, 0
	for _, s := range r.log.steps[:r.log.next] {
		switch s.Kind {
		case attempts.StepChosen, attempts.StepTaken:
			chosen[s.Task]++
		case attempts.StepRuled, attempts.StepFound:
			ruled[attemptID{s.Task, s.Attempt}] = true
		case attempts.StepWaited:
			waits++
		default: // no event follows from these
		}
	}
	for _, id := range sortedIDs(r.log.started) {
		if chosen[id.task]--; chosen[id.task] < 0 {
			r.report.Cannot(Start, id.task, lostSteps)
		}
	}
	for _, id := range sortedIDs(r.log.ends) {
		if !ruled[id] {
			r.report.Cannot(End, id.task, lostSteps)
		}
	}
	for range r.log.waits - waits {
		r.report.Cannot(Wait, "", lostSteps)
	}
}

func sortedIDs[V any](of map[attemptID]V) []attemptID {
	return slices.SortedFunc(maps.Keys(of), func(a, b attemptID) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.number, b.number))
	})
}

// stepText says in words what a step decides.
func stepText(s attempts.Step) string {
	switch s.Kind {
	case attempts.StepChosen:
		return startText(s.Task, s.Runner)
	case attempts.StepWaited:
		return "the run waits for " + s.For
	case attempts.StepStopped:
		return "nothing more starts: " + s.For
	case attempts.StepExhausted:
		return "nothing more starts: the budget is spent"
	case attempts.StepUsed:
		return "a budget is spent"
	default:
		return string(s.Kind)
	}
}

// startText says that a task starts.
func startText(task, runner string) string {
	if runner == "" {
		return task + " starts"
	}
	return task + " starts with " + runner
}

// decisionOf returns the kind of decision that a step is.
func decisionOf(k attempts.StepKind) Decision { return cmp.Or(decisions[k], Start) }

var decisions = map[attempts.StepKind]Decision{
	attempts.StepWaited: Wait, attempts.StepStopped: Stop, attempts.StepExhausted: Budget, attempts.StepUsed: Budget,
	attempts.StepRefused: Gate, attempts.StepRuled: End, attempts.StepSettled: End, attempts.StepAnswered: Runner,
	attempts.StepAsked: Runner, attempts.StepJoined: Landing, attempts.StepSplit: Landing, attempts.StepLanded: Landing,
	attempts.StepReviewed: Review,
}

// task returns a task of the plan.
func task(r *replayer, id string) (*epic.Task, bool) {
	index, ok := r.rec.Graph.Index(id)
	if !ok {
		return nil, false
	}
	return &r.rec.Epic.Tasks[index], true
}

// verified returns an attempt as it waits for its landing.
func verified(r *replayer, s attempts.Step, files []string) engine.Verified {
	v := engine.Verified{Attempt: engine.Attempt{Run: r.rec.Run, Number: s.Attempt, Ended: s.Recovered}}
	if task, ok := task(r, s.Task); ok {
		v.Attempt.Task = *task
	}
	v.Result.Receipt.FilesChanged = files
	v.Result.Receipt.Checks = []attempts.CheckRun{{Seconds: time.Duration(s.Checked).Seconds()}}
	return v
}

// beforePlan are the kinds of steps that can be made before there is a schedule.
var beforePlan = map[attempts.StepKind]bool{
	attempts.StepPlanned: true, attempts.StepRuled: true, attempts.StepClosed: true, attempts.StepFound: true, attempts.StepOver: true,
	attempts.StepSuspected: true, attempts.StepAnswered: true,
}
