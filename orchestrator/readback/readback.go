// Package readback finds what other sessions have left for the next agent: the last handoff, what it says one has to know, open
// questions, the documents of the project, and what others did to a task's files and discuss of them.
//
// It reads the ledger of LedgerSync, artifacts of sessions and discussions, and writes nothing. It skips relay's own records of an epic's
// attempts: briefs have the receipts.
package readback

import (
	"slices"
	"time"

	"relay/attempts/artifact"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// Reader reads what was left in one checkout for the work on one epic.
type Reader struct {
	top  string
	epic string
	now  func() time.Time
}

// New returns a reader for a checkout, whose top folder is given, and the id of an epic; "": no epic.
func New(top, epicID string, now func() time.Time) *Reader {
	return &Reader{top: top, epic: epicID, now: now}
}

// Fill adds to a brief what was left for its task. A file that cannot be read adds nothing: without it the work can be done, too.
func (r *Reader) Fill(in *reanchor.Input) {
	found := r.Find(in.Task.Files)
	in.Handoff, in.Required, in.Entries = found.Handoff, found.Documents, found.Entries
	origin := "" // of the discussions that relay has opened about the task
	if r.epic != "" && in.Task.ID != "" {
		origin = r.epic + "/" + in.Task.ID + "/"
	}
	in.Threads = slices.Concat(in.Threads, discussed(r.top, in.Task.Files, origin, r.now()), found.Questions)
}

// Found is what was left.
type Found struct {
	Handoff   reanchor.Handoff
	Source    *Source // what the handoff was read from; nil: there is none
	Questions []reanchor.Thread
	Documents []string
	Entries   []reanchor.Entry
}

// Find returns what was left, and what others did to files, given as an epic declares them.
func (r *Reader) Find(files []string) (found Found) {
	found.Documents = documents(r.top)
	past := ledgerOf(r.top, r.epic)
	left := &Source{Entry: past.left}
	if past.left == nil {
		if left = newestHandoff(r.top, artifact.Slug(r.epic)); left == nil || r.epic == "" {
			left = newestHandoff(r.top, "*")
		}
	}
	if left != nil {
		found.Source, found.Handoff, found.Questions = left, left.handoff(r.now()), left.questions(r.now())
	}
	if past.left != nil { // what the last agent that took it over wants to know
		if e := past.answers[past.left.ID]; e != nil {
			found.Questions = append(found.Questions, threads(e.Transition.Readiness.ClarificationsNeeded, e.Agent.Name, age(r.now(), e))...)
		}
	}
	for _, e := range past.about(r.top, files) {
		found.Entries = append(found.Entries, entryOf(e, r.now()))
	}
	return found
}

// age says how long ago something was written; "" when that is not known.
func age(now time.Time, written interface{ At() (time.Time, bool) }) string {
	at, known := written.At()
	if !known {
		return ""
	}
	return text.Ago(now.Sub(at))
}
