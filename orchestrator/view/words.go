package view

import (
	"fmt"
	"time"

	"relay/epic/plaintext"
)

// sentenceOf returns the parts of the first line of a view; needs is how many tasks need a person.
func sentenceOf(n *Night, needs int) Sentence {
	c := n.Counts
	s := Sentence{
		Done: c.Group(IsDone), Total: c.Total(), Looks: c[Look], Running: c[Running], NeedYou: needs - c[Look], Waiting: c.Group(Waiting),
	}
	if len(n.Needs) == 0 {
		return s
	}
	r := n.Needs[0]
	s.Task = r.ID
	switch r.State {
	case Asks:
		s.Start = "Answer " + r.ID + " first"
	case Look:
		s.Start = "Look at " + r.ID + " first"
	default:
		s.Start = "Begin with " + r.ID
	}
	s.Start += plaintext.Because(r.Waiters())
	return s
}

// String returns the sentence in words.
func (s Sentence) String() string {
	said := fmt.Sprintf("%d of %s done", s.Done, plaintext.Count(s.Total, "task"))
	if s.Done == s.Total && s.Total > 1 {
		said = fmt.Sprintf("All %d tasks done", s.Total)
	}
	need := plaintext.Verb(s.NeedYou, "needs you", "need you")
	if s.Looks > 0 {
		said += fmt.Sprintf(" (%d to look at)", s.Looks)
		need = "more " + need
	}
	for _, part := range []struct {
		n    int
		what string
	}{{s.NeedYou, need}, {s.Running, "running"}, {s.Waiting, "waiting"}} {
		if part.n > 0 {
			said += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	if s.Start != "" {
		said += ". " + s.Start
	}
	return said + "."
}

// Gloss explains the state that its word does not; "": no task is in it.
func (n *Night) Gloss() string {
	if n.Counts[Gated] == 0 {
		return ""
	}
	return "gated: not tried again until you say so"
}

// leastDone is from how many completed tasks on a forecast is shown.
const leastDone = 3

// Ahead says, with bounds that eight of ten such runs keep, when the run ends and what it costs, or what is left to do if none is on; "":
// there is too little to judge by. The rest are the tasks that no person keeps from running.
func (n *Night) Ahead(zone *time.Location) string {
	f := n.Forecast
	if f == nil || f.BasedOn < leastDone {
		return ""
	}
	done, on := "", n.Run.State == On && n.Run.Paused.IsZero()
	if len(f.Of) > 0 {
		done = plaintext.Some(f.Of, 3) + " "
	} else if f.LeftOut > 0 {
		done = "rest "
	}
	at := func(t time.Time) string { return Near(t, n.At, zone) }
	switch now := n.Counts.Group(IsDone); {
	case !on:
		in := func(t time.Time) string { return Roughly(t.Sub(n.At)) }
		done += fmt.Sprintf("done in about %s (%s to %s) with %s", in(f.P50), in(f.P10), in(f.P90), plaintext.Count(f.Jobs, "job"))
	case f.InTime != nil && !n.Run.Until.IsZero() && f.P50.After(n.Run.Until):
		return fmt.Sprintf("about %d of %d done by %s (%d to %d)", now+f.InTime[1], n.Counts.Total(), at(n.Run.Until), now+f.InTime[0], now+f.InTime[2])
	default:
		done += fmt.Sprintf("done about %s (%s to %s)", at(f.P50), at(f.P10), at(f.P90))
	}
	if f.USD == nil {
		return done
	}
	spent, of := 0.0, ""
	if on {
		spent = n.Money.Night.CostUSD
	}
	if most := n.Money.OfRun().USD; on && most != nil {
		of = fmt.Sprintf(" of %.0f", most.Cap)
	}
	return done + fmt.Sprintf(", $%.0f (%.0f to %.0f)%s", spent+f.USD[1], spent+f.USD[0], spent+f.USD[2], of)
}

// Near shows a time that is near by the clock alone, although it may be tomorrow.
func Near(t, now time.Time, zone *time.Location) string {
	layout := "15:04"
	if t.Sub(now) >= 20*time.Hour {
		layout = "Mon 2006-01-02 15:04"
	}
	return t.In(zone).Format(layout)
}

// Roughly shows a duration that is only an estimate: 5s, 40m, 3h20m, 12 days.
func Roughly(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0fs", max(d, 0).Seconds())
	}
	minutes := int(d.Round(time.Minute).Minutes())
	if minutes < 60 {
		return fmt.Sprintf("%dm", minutes)
	}
	if minutes < 100*60 {
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
