package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
)

// Journal takes in the event log of an epic for what the ledger does not keep: the runs there were, what they waited for, and
// what was noted. It keeps that of one night: the runs of one relay work, of which each but the last ended for the next or crashed.
type Journal struct {
	wanted string // the last run of the night; "": the newest
	runs   []OneRun
	over   bool // what follows is of another night
	line   line // what went on when

	Session  []Logged // runs of the night, oldest first
	Waits    []Wait
	Notes    []Note
	Switches []Note // of tasks to another agent
}

// Logged is a run in the log.
type Logged struct {
	OneRun
	Seen time.Time // of its start, its last event of an attempt, or when it stopped
	pid  int
}

// see notes that a run was there at a time, unless it is known when it stopped.
func (l *Logged) see(at time.Time) {
	if l.StoppedAt.IsZero() && at.After(l.Seen) {
		l.Seen = at
	}
}

// stop notes how the run has ended, if the event says so.
func (r *OneRun) stop(e *attempts.Event) {
	if s := e.RunStopped; s != nil && e.Run == r.ID {
		r.StoppedAt, r.ExitCode, r.Reason, r.Why = e.At, &s.ExitCode, s.Reason, s.Why
	}
}

// NewJournal returns an empty journal for the night that ends with a run, or for the newest.
func NewJournal(run string) *Journal { return &Journal{wanted: run} }

// Add adds the next event of the log.
func (j *Journal) Add(e attempts.Event) {
	if e.RunStarted != nil {
		j.begin(e)
	}
	if n := len(j.runs); n > 0 {
		j.runs[n-1].stop(&e)
	}
	if !j.over && len(j.Session) > 0 && (e.Request == nil || e.Cooldown == nil) { // the request itself is in the notes
		j.addToNight(e)
	}
}

// addToNight adds an event of the night.
func (j *Journal) addToNight(e attempts.Event) {
	run := &j.Session[len(j.Session)-1]
	if e.RunStarted != nil || e.Attempt > 0 { // a person may decide something after its end
		run.see(e.At)
	}
	if n := len(j.Session); e.Ended != nil && n > 1 {
		j.Session[n-2].see(e.Ended.Seen)
	}
	j.line.add(&e)
	run.stop(&e)
	switch {
	case e.Waiting != nil:
		j.Waits = append(j.Waits, Wait{At: e.At, Kind: RunWaits, For: e.Waiting.For, Until: e.Waiting.Until, Why: e.Waiting.Why})
	case e.Cooldown != nil && e.Cooldown.Until.IsZero():
		j.Waits = append(j.Waits, Wait{At: e.At, Kind: AgentFree, For: e.Cooldown.Runner, Why: e.Cooldown.Why})
	case e.Cooldown != nil:
		j.Waits = append(j.Waits, Wait{At: e.At, Kind: AgentCools, For: e.Cooldown.Runner, Until: e.Cooldown.Until, Why: e.Cooldown.Why})
	default:
		kind, text := noted(e)
		note := Note{At: e.At, Kind: kind, Task: e.Task, Attempt: e.Attempt, Text: text}
		if kind == "switch" {
			j.Switches = append(j.Switches, note)
		} else if kind != "" && (kind != "refused" || !slices.ContainsFunc(j.Notes, func(n Note) bool { return n.Text == text })) {
			j.Notes = append(j.Notes, note)
		}
	}
}

// noted returns the kind and text of a note on an event that is neither a wait nor part of an attempt; "" without a note.
func noted(e attempts.Event) (kind, text string) {
	switch {
	case e.Request != nil && e.Type == attempts.TypeRequested:
		return "asked", requestText(e)
	case e.Note != nil && e.Type == attempts.TypeApproved:
		return e.Note.Kind, strings.TrimSuffix("approved by a person: "+e.Note.Text, ": ")
	case e.Note != nil:
		return e.Note.Kind, e.Note.Text
	case e.Gate != nil && e.Type == attempts.TypeGated:
		return "gated", e.Gate.Text()
	case e.Answer != nil:
		return "answer", "answered by a person: " + plaintext.ShortLine(e.Answer.Text, 500)
	case e.Type == attempts.TypeUngated:
		return "ungated", "may be tried again: decided by a person"
	case e.Type == attempts.TypeReset:
		return "retry", "pending again: decided by a person"
	case e.Finished != nil:
		return "finished", fmt.Sprintf("%s was landed on %s by %s", e.Finished.Branch, e.Finished.Into, e.Finished.How)
	case e.Accepted != nil && e.Accepted.Base == nil:
		return "accepted", "an edit of the ledger was accepted"
	}
	return "", ""
}

// requestText says what a person has asked of the run.
func requestText(e attempts.Event) string {
	typed := string(e.Request.What)
	if e.Request.What == attempts.RequestContinue {
		typed = "pause --off"
	}
	return strings.TrimSpace("a person typed relay " + typed + " " + e.Task)
}

// begin opens a run: of the same night, if the one before went on as this one.
func (j *Journal) begin(e attempts.Event) {
	rs := e.RunStarted
	j.runs = append(j.runs, OneRun{ID: e.Run, StartedAt: e.At, Jobs: rs.Jobs, Until: rs.Until, Sandbox: rs.Sandbox, Outside: rs.Outside})
	if n := len(j.Session); n > 0 {
		last := &j.Session[n-1]
		if last.ID == j.wanted {
			j.over = true
			return
		}
		if !last.goesOn(rs.PID, e.At) {
			*j = Journal{wanted: j.wanted, runs: j.runs}
		}
	}
	j.Session = append(j.Session, Logged{OneRun: j.runs[len(j.runs)-1], pid: rs.PID})
}

// goesOn reports whether the run that begins now, in the process pid, continues the same night: after a crash, or when a relay
// work begins another run itself, with a new plan or with tasks that the review of the whole epic wants.
func (l *Logged) goesOn(pid int, now time.Time) bool {
	if l.StoppedAt.IsZero() {
		return true
	}
	reason := decide.EndReason(l.Reason)
	return l.pid == pid && (reason == decide.Reload || reason == decide.EpicRefused) && now.Sub(l.StoppedAt) < time.Minute
}

// HasRun reports whether the run that was asked for is in the log.
func (j *Journal) HasRun() bool {
	return j.wanted == "" || len(j.Session) > 0 && j.Session[len(j.Session)-1].ID == j.wanted
}

// Superseded reports whether another night came after this one.
func (j *Journal) Superseded() bool {
	n, m := len(j.runs), len(j.Session)
	return n > 0 && m > 0 && j.runs[n-1].ID != j.Session[m-1].ID
}

// Runs returns the runs in the log, oldest first.
func (j *Journal) Runs() []OneRun { return j.runs }
