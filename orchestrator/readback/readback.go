// Package readback finds what other sessions have left for the next agent: the last handoff, what it says one has to know, open
// questions, the documents of the project, and what others did to a task's files and discuss of them.
//
// It reads the ledger of LedgerSync, artifacts of sessions and discussions, and writes nothing. What relay itself recorded of an epic's
// attempts is left out: receipts tell it.
package readback

import (
	"sync"
	"time"

	"relay/attempts/artifact"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// Reader reads what was left in one checkout for the work on one epic. It keeps what it has read, and looks again when a file has
// changed. Several goroutines may use it at once.
type Reader struct {
	top  string
	epic string
	now  func() time.Time

	mu        sync.Mutex
	ledger    index
	looked    bool    // for artifacts
	artifact  *Source // the newest handoff among them
	discussed discussions
}

// New returns a reader for a checkout, whose top folder is given, and the id of an epic; "": no epic.
func New(top, epicID string, now func() time.Time) *Reader {
	return &Reader{top: top, epic: epicID, now: now, ledger: index{epic: epicID}}
}

// Fill adds to a brief what was left for its task. A file that cannot be read adds nothing: without it the work can be done, too.
func (r *Reader) Fill(in *reanchor.Input) {
	found := r.Find(in.Task.Files)
	in.Handoff, in.Required, in.Entries = found.Handoff, found.Documents, found.Entries
	r.mu.Lock()
	defer r.mu.Unlock()
	origin := "" // of the discussions that relay has opened about the task
	if r.epic != "" && in.Task.ID != "" {
		origin = r.epic + "/" + in.Task.ID + "/"
	}
	r.discussed.refresh(r.top)
	in.Threads = append(in.Threads, r.discussed.about(r.top, in.Task.Files, origin, r.now())...)
	in.Threads = append(in.Threads, found.Questions...)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	found.Documents = documents(r.top)
	r.ledger.refresh(r.top)
	var left *Source
	if r.ledger.left != nil {
		left = &Source{Entry: r.ledger.left}
	}
	if left == nil && !r.looked {
		r.looked = true
		if r.artifact = newestHandoff(r.top, artifact.Slug(r.epic)); r.artifact == nil || r.epic == "" {
			r.artifact = newestHandoff(r.top, "*")
		}
	}
	if left == nil {
		left = r.artifact
	}
	if left != nil {
		found.Source, found.Handoff, found.Questions = left, left.handoff(r.now()), left.questions(r.now())
	}
	except := ""
	if left != nil && left.Entry != nil {
		except = left.Entry.ID
		found.Questions = append(found.Questions, r.ledger.unclear(left.Entry, r.now())...)
	}
	for _, e := range r.ledger.about(files, except) {
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
