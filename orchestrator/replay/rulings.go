package replay

import (
	"fmt"

	"relay/attempts"
	"relay/orchestrator/verdict"
)

// rule decides again on the evidence of every attempt that has some in the log, and reports rulings that differ.
func rule(r *replayer) {
	for _, id := range sortedIDs(r.log.ends) {
		event := r.log.ends[id]
		if event.Ended == nil || len(event.Ended.Evidence) == 0 {
			continue
		}
		e, err := verdict.ReadRecord(event.Ended.Evidence)
		if err != nil {
			r.report.Cannot(Ruling, id.task, unreadable)
			continue
		}
		r.report.Made(Ruling)
		then := rulingText(verdict.Cause(event.Ended.Cause), event.Ended.Outcome)
		ruling, lacks := decideOn(e)
		now := rulingText(ruling.Cause, ruling.Outcome)
		if lacks == verdict.Nothing {
			r.report.Causes[ruling.Cause]++
		} else {
			now = fmt.Sprintf("no row rules, because the evidence lacks %q", lacks)
		}
		if now != then {
			r.report.Differs(Difference{Decision: Ruling, At: event.At, Task: id.task, Then: then, Now: now})
		}
	}
}

// decideOn returns the ruling on evidence of work or of its landing, or the part that the evidence lacks.
func decideOn(e *verdict.Evidence) (verdict.Ruling, verdict.Part) {
	if e.Landing != nil {
		return verdict.DecideLanding(e), verdict.Nothing
	}
	return verdict.Decide(e)
}

// rulingText names the row that ruled, and the outcome.
func rulingText(c verdict.Cause, o attempts.Outcome) string { return fmt.Sprintf("%q ruled: %s", c, o) }
