package decide

import (
	"math"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
)

// steps are the changes of what a run's decisions rest on. They are guarded by the lock of state, and kept until an event carries
// them into the log.
type steps struct {
	began  time.Time // the day's clock at the first step …
	offset time.Duration
	made   uint64
	untold []attempts.Step
	drawn  []int64 // since the last step: what waits for runners took longer
	free   *Free   // since the last step: what the machine had left
	over   bool    // StepOver is made
}

// Step records a change of state that was made at now. The caller holds Mu.
func (s *State) Step(now clock.Instant, made attempts.Step) {
	t := &s.steps
	if made.Kind == attempts.StepBegun {
		t.began, t.offset, made.Day = now.Day, now.Run, now.Day.UTC()
	}
	t.made++
	made.Number, made.Ran = t.made, int64(now.Run)
	made.Drift = int64(now.Day.Sub(t.began) - (now.Run - t.offset))
	if made.Drawn = t.drawn; t.free != nil {
		made.Free = []int64{t.free.Disk, t.free.Memory}
	}
	t.drawn, t.free = nil, nil
	t.untold = append(t.untold, made)
}

// TakeSteps returns the steps that are in no event yet: the next one that is written must carry them. The caller holds Mu.
func (s *State) TakeSteps() []attempts.Step {
	taken := s.steps.untold
	s.steps.untold = nil
	return taken
}

// CarrySteps has the first of some events carry the steps that are in no event yet. The caller does not hold Mu.
func (s *State) CarrySteps(events []attempts.Event) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if len(events) > 0 {
		events[0].Steps = s.TakeSteps()
	}
}

// drawJitter keeps what a wait takes longer for the next step. It is called with Mu held.
func (s *State) drawJitter() func(most time.Duration) time.Duration {
	if s.O.Jitter == nil {
		return nil
	}
	return func(most time.Duration) time.Duration {
		late := s.O.Jitter(most)
		s.steps.drawn = append(s.steps.drawn, int64(late))
		return late
	}
}

// ruledStep returns the step that decides what an attempt's end means: what the engine told of it, as far as the event of its end does
// not.
func (s *State) ruledStep(kind attempts.StepKind, a engine.Attempt, f engine.Result) attempts.Step {
	made := attempts.Step{
		Kind: kind, Task: a.Task.ID, Attempt: a.Number, Charged: f.Charged, Held: f.Held,
		Recovered: a.Ended, OnlyReview: a.Previous.AwaitsReview(), Gate: f.Gate, ResetAt: f.ResetAt,
	}
	for _, u := range f.Unable {
		told := attempts.UnableToSay{Reviewer: u.Name, Outcome: u.Outcome, Why: s.Redact.Block(u.Why), ResetAt: u.ResetAt}
		made.Unable = append(made.Unable, told)
	}
	return made
}

// mostFilesTold is how many changed files a receipt holds.
const mostFilesTold = 200

// provedStep returns the step in which an attempt's work begins to wait for its landing.
func (s *State) provedStep(a engine.Attempt, f engine.Result) attempts.Step {
	made := attempts.Step{Kind: attempts.StepProved, Task: a.Task.ID, Attempt: a.Number, Recovered: a.Ended}
	for _, run := range f.Receipt.Checks {
		made.Checked += int64(math.Round(run.Seconds * float64(time.Second)))
	}
	if files := f.Receipt.FilesChanged; len(files) > mostFilesTold {
		made.Files = slices.Clone(files[:min(len(files), maxFilesKept)])
		for i := range made.Files {
			made.Files[i] = s.Redact.Line(made.Files[i])
		}
	}
	return made
}

// maxFilesKept is more than are compared one by one.
const maxFilesKept = 1001
