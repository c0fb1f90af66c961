package verdict

import (
	"relay/attempts"
	"relay/runners"
)

// ReviewerFault is why a reviewer gave no opinion. It is never the agent's fault.
type ReviewerFault struct {
	Outcome  attempts.Outcome  `json:"outcome"`
	Category attempts.Category `json:"category"`
	Words    string            `json:"words,omitempty"`  // used when nothing else says why
	News     bool              `json:"news,omitempty"`   // it shows something new about the reviewer's runner
	Output   bool              `json:"output,omitempty"` // what the reviewer printed may say more
}

// ReviewerEnd decides what a reviewer's end without an answer means. An agent's kind of failure counts as one of the environment:
// the task is not at fault.
func ReviewerEnd(o runners.Outcome) ReviewerFault {
	row := OutcomeOf(o)
	class := ClassOf(row.Outcome)
	f := ReviewerFault{Outcome: attempts.Environment, Category: row.Category, Words: row.Words, News: !class.Stopped, Output: true}
	if class.Stopped || class.Runner == RunnerFailed {
		f.Outcome, f.Output = row.Outcome, false
	}
	return f
}

// ReviewerClosed is the fault of a reviewer that is not asked yet, as its runner failed with an outcome before. named means that its
// provider named the time.
func ReviewerClosed(before attempts.Outcome, named bool) ReviewerFault {
	f := ReviewerFault{Outcome: attempts.Provider, Category: attempts.RateLimited}
	if ClassOf(before).Refused {
		f.Outcome = before
	} else if named {
		f.Outcome = attempts.Quota
	}
	return f
}

// NoVerdict is the fault of a reviewer whose answers hold no verdict.
func NoVerdict() ReviewerFault {
	return ReviewerFault{Outcome: attempts.Environment, Category: attempts.QualityGate}
}

// Worst returns the index of the fault that decides the outcome of an attempt which lacks these opinions: the first of those
// that waiting helps least; a run that stops comes before all. There must be one.
func Worst(faults []ReviewerFault) (worst int) {
	for i := range faults {
		if ClassOf(faults[i].Outcome).severity > ClassOf(faults[worst].Outcome).severity {
			worst = i
		}
	}
	return worst
}

// EpicReviewed is the outcome of a review of the whole epic unless it lacks an opinion. It is about the reviewers alone: relay puts
// back what they changed, and reports that.
func EpicReviewed() attempts.Outcome { return attempts.Success }
