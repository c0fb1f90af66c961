package notify

import (
	"cmp"
	"fmt"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// ends are the events of ends, by reason; for other reasons it is "stopped". A receiver of "ended" gets all of them.
var ends = map[decide.EndReason]string{
	decide.EpicComplete: "ended", decide.EpicLooks: "ended", decide.EpicRefused: "ended", decide.EpicUnjudged: "ended",
	decide.EpicUndone: "ended", decide.NoRunnableTasks: "ended", decide.BudgetExhausted: "budget", decide.Deadline: "deadline",
}

// Of returns the notifications that an update of a run is worth.
func Of(u decide.Update) (list []plaintext.Notification) {
	add := func(event, text, command string) {
		list = append(list, plaintext.Notification{
			Event: event, At: u.At.UTC(), Task: u.Task, Title: u.Title, Text: text, Command: command,
			Completed: u.Counts.Completed, Total: u.Counts.Total,
		})
	}
	settled := u.Kind == decide.Completed || u.Kind == decide.Gated
	waits := u.Kind == decide.UpdateWaiting || u.Kind == decide.Cramped || u.Kind == decide.Paused
	if settled && len(u.Looks) > 0 {
		add("look", "look at "+u.Task+": "+view.Seen(u.Looks), view.Showing(u.Task, u.Looks).Type)
	}
	switch {
	case settled && len(u.Questions) > 0:
		add("question", u.Task+" asks: "+strings.Join(u.Questions, "; "), view.Answering(u.Task).Type)
	case u.Kind == decide.Gated:
		add("gated", u.Task+" gated"+plaintext.Because(u.Text), "relay show "+u.Task)
	case waits && u.Runner != decide.ForAnswer: // that it asks is known
		add("limited", "waiting until "+u.Until.Local().Format("15:04")+" for "+u.Runner+plaintext.Because(u.Text), "relay status")
	}
	return list
}

// OfEnd returns the notification of the end of a run; failed is its error, or "".
func OfEnd(s decide.Summary, failed string) plaintext.Notification {
	command := "relay status"
	if s.Reason == decide.EpicComplete {
		command = "relay finish"
	}
	said := fmt.Sprintf("%s (%s)", report.Headline(s.Reason, s.Left), report.CountsText(s.Counts, true))
	return plaintext.Notification{
		Event: cmp.Or(ends[s.Reason], "stopped"), Run: s.Run, Command: command, Text: said + plaintext.Because(plaintext.FirstOf(failed, s.Why)),
		Completed: s.Counts.Completed, Total: s.Counts.Total, CostUSD: s.Usage.CostUSD,
	}
}
