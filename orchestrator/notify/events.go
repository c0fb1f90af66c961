package notify

import (
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
)

// Events, as relay.notify.NAME.on has them.
const (
	Ended    = "ended" // also those of ends
	Gated    = "gated"
	Look     = "look"
	Question = "question"
	Limited  = "limited"
	Budget   = "budget"
	Stopped  = "stopped"
	Deadline = "deadline"
	NotBegun = "not_begun"
)

// isEnd reports whether an event is the end of a run.
func isEnd(event string) bool {
	return slices.Contains([]string{Ended, Budget, Stopped, Deadline}, event)
}

// Of returns the notifications that an update of a run is worth.
func Of(u decide.Update) (list []plaintext.Notification) {
	add := func(event, text, command string) {
		list = append(list, plaintext.Notification{
			Event: event, At: u.At.UTC(), Task: u.Task, Title: u.Title, Text: text, Command: command, Completed: u.Counts.Completed, Total: u.Counts.Total,
		})
	}
	asks := strings.Join(u.Questions, "; ")
	switch u.Kind {
	case decide.Completed, decide.Gated:
		if len(u.Looks) > 0 {
			add(Look, "look at "+u.Task+": "+report.Seen(u.Looks), report.Showing(u.Task, u.Looks).Type)
		}
		switch {
		case asks != "":
			add(Question, u.Task+" asks: "+asks, report.Answering(u.Task).Type)
		case u.Kind == decide.Gated:
			add(Gated, u.Task+" gated"+plaintext.Because(u.Text), "relay show "+u.Task)
		}
	case decide.UpdateWaiting, decide.Cramped, decide.Paused:
		if u.Runner != decide.ForAnswer { // that it asks is known
			add(Limited, "waiting until "+u.Until.Local().Format("15:04")+" for "+u.Runner+plaintext.Because(u.Text), "relay status")
		}
	default: // what goes well, or has an event of its own at the end
	}
	return list
}

// OfEnd returns the notification of the end of a run; failed is its error, or "".
func OfEnd(s decide.Summary, failed string) plaintext.Notification {
	e := plaintext.Notification{
		Event: Stopped, Run: s.Run, Command: "relay status", Completed: s.Counts.Completed, Total: s.Counts.Total, CostUSD: s.Usage.CostUSD,
		Text: report.Headline(s.Reason, s.Left) + ": " + report.CountsText(s.Counts, true) + plaintext.Because(plaintext.FirstOf(failed, s.Why)),
	}
	switch s.Reason {
	case decide.EpicComplete:
		e.Event, e.Command = Ended, "relay finish"
	case decide.EpicLooks, decide.EpicRefused, decide.EpicUnjudged, decide.EpicUndone, decide.NoRunnableTasks:
		e.Event = Ended
	case decide.BudgetExhausted:
		e.Event = Budget
	case decide.Deadline:
		e.Event = Deadline
	default: // a person or a fault has stopped it
	}
	return e
}
