package verdict

import (
	"slices"

	"relay/attempts"
)

// Cause names the row that ruled.
type Cause string

// Part names a part of the evidence.
type Part string

// Parts of the evidence, in the order in which they are gathered.
const (
	Nothing Part = ""          // a ruling needs no more
	Readied Part = "ready"     // the place is made ready: its branch, its files, its set-up
	Base    Part = "base"      // what the checks say before the work
	Started Part = "leave"     // leave to ask an agent
	Turn    Part = "end"       // a turn of the agent
	Guarded Part = "guard"     // what was done to what is not the attempt's
	Worked  Part = "work"      // what there is of work
	Marked  Part = "marked"    // the commits carry the attempt's marks
	Checked Part = "checks"    // the checks on the work
	Hooked  Part = "hook"      // the user's pre-commit hook on the work
	OldView Part = "old tests" // the checks with the base's version of the tests
	Judged  Part = "panel"     // the reviewers
)

// Next says what follows from a ruling.
type Next string

// Next steps.
const (
	Land      Next = "land"             // the work waits for its landing
	AskResult Next = "ask for a result" // the agent's session is asked for the result that it did not give
	AskWhy    Next = "ask why"          // the agent's session is asked why it changed tests
	Rework    Next = "mend"             // the agent's session is given what the reviewers found
	TakeOther Next = "take other work"  // relay takes other work that the agent left
	Retry     Next = "retry"            // another attempt, while the task has any
	Resume    Next = "resume"           // another attempt goes on from here, uncharged
	Hold      Next = "hold"             // the task waits until nothing else can be done
	Gate      Next = "gate"             // a person has to decide
)

// Ruling is what an attempt came to.
type Ruling struct {
	Cause    Cause
	Outcome  attempts.Outcome
	Category attempts.Category
	Gate     attempts.Reason // "": the outcome and the task's history decide whether it is gated
	Held     bool            // no agent was asked: the task waits until nothing else can be done
	Next     Next
	Person   string // why, in words; "" for a success
	Short    string // the same in fewer words; "": the same
}

// Lands reports whether the work waits for its landing.
func (r Ruling) Lands() bool { return r.Next == Land }

// Stops reports whether relay or a person interrupted the attempt.
func (r Ruling) Stops() bool { return ClassOf(r.Outcome).Stopped }

// Contends reports whether the work does not fit what has landed since it began.
func (r Ruling) Contends() bool { return r.Outcome == attempts.Conflict }

// Charged reports whether the ruling counts against the task.
func (r Ruling) Charged() bool { return r.Outcome.Charged() }

// Decide returns the ruling on the evidence, or the part that has to be gathered before anything can be ruled.
//
// Whatever ended a turn of the agent, what it did elsewhere is put right and its work is collected first.
func Decide(e *Evidence) (Ruling, Part) {
	seen := e.parts()
	if part := seen.lack(Guarded, Worked); part != Nothing && e.End != nil && e.Damage == "" {
		return Ruling{}, part
	}
	for i := range rows {
		r := &rows[i]
		if part := seen.lack(r.needs...); part != Nothing {
			return Ruling{}, part
		}
		if r.holds(e) {
			return waived(e, r.ruling(e)), Nothing
		}
	}
	return Ruling{}, Nothing // not reached: the last row holds always
}

// Stands reports whether nothing that was seen so far speaks against the work: parts that are not gathered are taken to be well.
func Stands(e *Evidence) bool {
	seen := e.parts()
	return !slices.ContainsFunc(rows, func(r row) bool { return r.Next != Land && seen.lack(r.needs...) == Nothing && r.holds(e) })
}

// row is one judgement.
type row struct {
	Cause    Cause
	Outcome  attempts.Outcome
	Category attempts.Category
	Gate     attempts.Reason
	Held     bool
	Next     Next
	Seen     string // the observation, for docs/verdicts.md
	Often    string // how often relay observes it before the row rules, for docs/verdicts.md; "": once
	Lifts    string // the remedy for a gate or a hold, for docs/verdicts.md; "": none is needed

	needs []Part
	holds func(e *Evidence) bool
	words func(e *Evidence) string
	short func(e *Evidence) string // nil: the same words

	ends   bool // outcome and category are those of the turn's end
	absent bool // outcome and category are those of the reviewer that waiting helps least
}

func (r *row) ruling(e *Evidence) Ruling {
	ruling := Ruling{Cause: r.Cause, Outcome: r.Outcome, Category: r.Category, Gate: r.Gate, Held: r.Held, Next: r.Next}
	if r.ends {
		end := endOf(e)
		ruling.Outcome, ruling.Category = end.Outcome, end.Category
	}
	if r.absent {
		worst := e.Panel.Missing[e.Panel.worst()].Fault
		ruling.Outcome, ruling.Category = worst.Outcome, worst.Category
	}
	if r.words != nil {
		ruling.Person = r.words(e)
	}
	if r.short != nil {
		ruling.Short = r.short(e)
	}
	return ruling
}

// waived clears the charge if somebody committed after a crash, so that the failure cannot be attributed.
func waived(e *Evidence, r Ruling) Ruling {
	if e.Work == nil || !e.Work.Theirs || !r.Charged() {
		return r
	}
	return Ruling{
		Cause: "somebody committed", Outcome: attempts.Stopped, Category: attempts.Interrupted, Next: Resume,
		Person: "somebody committed after the run was killed, and now: " + r.Person,
	}
}
