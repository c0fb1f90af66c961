package verdict

import (
	"fmt"

	"relay/attempts"
)

// Overruling replaces what an engine reports, for a cause that only the run knows.
type Overruling struct {
	Cause    Cause
	Outcome  attempts.Outcome
	Category attempts.Category
	Why      string
	Charged  bool            // the task is charged all the same
	Gate     attempts.Reason // "": as the engine reports
}

// StoppedByPerson rules on an attempt that a person stopped. why says so.
func StoppedByPerson(why string) Overruling {
	return Overruling{Cause: "stopped by a person", Outcome: attempts.Stopped, Category: attempts.Interrupted, Why: why}
}

// NotCarriedOut rules on an attempt that its machine has not begun, or not carried out to its end.
func NotCarriedOut(category attempts.Category, why string) Overruling {
	return Overruling{Cause: "not carried out", Outcome: attempts.Stopped, Category: category, Why: why}
}

// NoHost rules on an attempt that no machine can carry out now.
func NoHost(why string) Overruling {
	return Overruling{Cause: "no host", Outcome: attempts.Environment, Category: attempts.MissingDependency, Why: why}
}

// Cap names whose budget is exhausted.
type Cap int

// Caps on the cost of an attempt.
const (
	RunCap     Cap = iota // of the run or the whole epic
	AttemptCap            // of one attempt
	TaskCap               // of all attempts at the task
)

// OutOfBudget rules on an attempt that relay stopped for its cost. The attempt's cap charges the task, the task's cap gates it;
// the caps of the run and the epic do neither.
func OutOfBudget(c Cap, why string) Overruling {
	o := Overruling{
		Cause: "out of budget", Outcome: attempts.Budget, Category: attempts.BudgetSpent, Why: why, Charged: c == AttemptCap,
	}
	if c == TaskCap {
		o.Gate = attempts.BudgetExhausted
	}
	return o
}

// fullDisk is the number of free bytes below which a disk counts as full, whatever the floor: an agent's result does not fit.
const fullDisk = 64 << 10

// FullDisk rules on an attempt that failed with why, and whose class has DiskExcuses: what an agent and its commands print on a full
// disk says nothing about the work. free is the room on its disk in bytes, negative if unknown; floor is the configured minimum.
// FullDisk reports false if the disk was not full.
func FullDisk(free, floor int64, why string) (Overruling, bool) {
	if free < 0 || free >= max(fullDisk, floor) {
		return Overruling{}, false
	}
	return FilledDisk(fmt.Sprintf("the disk ran full (%d MiB are free): %s", free>>20, why)), true
}

// FilledDisk rules on an attempt of which something filled the disk, as why says: a task may need more room than others leave it.
func FilledDisk(why string) Overruling {
	return Overruling{Cause: "disk full", Outcome: attempts.Environment, Category: attempts.CLIError, Why: why}
}
