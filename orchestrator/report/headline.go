package report

import (
	"fmt"
	"strings"

	"relay/orchestrator/ending"
)

// CountsText returns text that says how many tasks are in which state. On a run that is over nothing is under way.
func CountsText(c ending.Counts, over bool) string {
	var text strings.Builder
	text.WriteString(fmt.Sprintf("%d of %d completed", c.Completed, c.Total))
	underway := "in progress" // and not running: what is proved and waits to land has no job any more
	if over {
		underway = "interrupted"
	}
	for _, part := range []struct {
		n    int
		word string
	}{{c.InProgress, underway}, {c.Pending, "pending"}, {c.Blocked, "blocked"}, {c.Gated, "gated"}} {
		if part.n > 0 {
			text.WriteString(fmt.Sprintf(", %d %s", part.n, part.word))
		}
	}
	return text.String()
}

// Headline returns text that says how a run ended; left is how many of its tasks are not completed.
func Headline(reason ending.Reason, left int) string {
	switch reason {
	case ending.EpicComplete:
		return "done: every task is completed"
	case ending.EpicRefused, ending.EpicUnjudged:
		return "every task is completed, but the epic as a whole has not passed its review"
	case ending.EpicUndone:
		return "every task was completed, but work that landed later has broken some of it: that needs you"
	case ending.EpicDoubtful:
		return "completed, but tests were weakened: that needs you"
	case ending.Interrupted:
		return "stopped before the end; nothing is lost, relay work continues"
	case ending.Deadline:
		return "stopped at its deadline; nothing is lost, relay work continues"
	case ending.CircuitBreaker, ending.UnchargedRetries, ending.DiskFloor, ending.MemoryFloor:
		return "stopped early; nothing is lost"
	case ending.NoRunner:
		return "stopped because no agent can work; nothing is lost"
	case ending.BudgetExhausted:
		return "stopped by its budget; nothing is lost"
	case ending.NoRunnableTasks:
		if left == 0 {
			return "done: the tasks you named are completed"
		}
		return "finished what could be done; some tasks need you"
	default:
		return "ended by an error; nothing recorded is lost"
	}
}

// Next returns text that says what to do after a limit of the run.
func Next(reason ending.Reason) string {
	switch reason {
	case ending.Deadline:
		return "relay work goes on from here; --until and relay.until set the deadline"
	case ending.CircuitBreaker:
		return "see relay show TASK for one of them, fix what they have in common, then relay work; relay.max_failed_in_a_row and relay.max_same_error are the limits"
	case ending.UnchargedRetries:
		return "relay ledger log has them all; relay work goes on, relay.max_uncharged_run is the limit"
	case ending.DiskFloor:
		return "make room, then relay work; relay.disk_floor_mib is the limit"
	case ending.MemoryFloor:
		return "end what else runs here, then relay work; relay.memory_floor_mib is the limit"
	case ending.EpicRefused:
		return "relay init --append adds what the reviewers found as tasks; relay work asks them again when something has changed"
	case ending.EpicUndone:
		return "relay show TASK says what failed; relay retry TASK gives it to an agent again, or change its checks in epic.yml"
	case ending.EpicUnjudged:
		return "relay work asks the reviewers again"
	case ending.BudgetExhausted:
		return "relay work goes on, with a new budget for the run (--budget, relay.budget_usd); that of the epic is relay.epic_budget_usd"
	default:
		return ""
	}
}
