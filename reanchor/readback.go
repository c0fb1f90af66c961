package reanchor

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// RecordReader reads what was left in one checkout for the work on one epic.
type RecordReader struct {
	top  string
	epic string
	now  func() time.Time

	mu   sync.Mutex
	tail ledgersync.Tail
	past ledger
}

// NewRecordReader returns a reader for a checkout, whose top folder is given, and the id of an epic; "": no epic.
func NewRecordReader(top, epicID string, now func() time.Time) *RecordReader {
	return &RecordReader{top: top, epic: epicID, now: now, tail: ledgersync.Tail{Path: ledgersync.Path(top)}}
}

// ledger returns what of the checkout's ledger matters now. It skips lines and files that it cannot read.
func (r *RecordReader) ledger() ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	var added []*ledgersync.Entry
	if r.tail.Next(func(e *ledgersync.Entry) { added = append(added, e) }) {
		r.past = ledger{answers: map[string]*ledgersync.Entry{}}
	}
	for _, e := range added {
		r.past.add(e, r.epic)
	}
	past := r.past
	past.answers, past.others = maps.Clone(past.answers), slices.Clone(past.others)
	return past
}

// Fill adds to a brief what was left for its task. A file that cannot be read adds nothing: without it the work can be done, too.
func (r *RecordReader) Fill(in *Input) {
	found := r.Find(in.Task.Files)
	in.Handoff, in.Required, in.Entries = found.Handoff, found.Documents, found.Entries
	if from := found.Source; from != nil && from.ofRun(r.epic) {
		in.Handoff = from.lasting(in)
	}
	origin := "" // of the discussions that relay has opened about the task
	if r.epic != "" && in.Task.ID != "" {
		origin = r.epic + "/" + in.Task.ID + "/"
	}
	threads, entries := discussed(r.top, in, origin, r.now())
	in.Threads, in.Entries = slices.Concat(in.Threads, threads, found.Questions), append(entries, in.Entries...)
}

// FoundRecords is what was left.
type FoundRecords struct {
	Handoff   Handoff
	Source    *RecordSource     // what the handoff was read from; nil: there is none
	Answer    *ledgersync.Entry // to the handoff, the last; nil: there is none
	Questions []Thread
	Documents []string
	Entries   []Entry
}

// Find returns what was left, and what others did to files, given as an epic declares them.
func (r *RecordReader) Find(files []string) (found FoundRecords) {
	found.Documents = documents(r.top)
	past := r.ledger()
	left := &RecordSource{Entry: past.left}
	if past.left == nil {
		if left = newestHandoff(r.top, artifact.Slug(r.epic)); left == nil || r.epic == "" {
			left = newestHandoff(r.top, "*")
		}
	}
	if left != nil {
		found.Source, found.Handoff, found.Questions = left, left.handoff(r.now()), left.questions(r.now())
	}
	var asked []string // by tasks of this epic: whether they are open still, its own ledger says
	if left != nil && left.ofRun(r.epic) {
		if found.Questions = nil; left.Entry != nil {
			asked = left.Entry.Reasoning.Uncertainties
		}
	}
	if past.left != nil {
		found.Answer = past.answers[past.left.ID]
	}
	if e := found.Answer; e != nil && !byRelay(e) { // what the last agent that took it over wants to know
		needed := slices.Clone(e.Transition.Readiness.ClarificationsNeeded)
		needed = slices.DeleteFunc(needed, func(q string) bool { return slices.Contains(asked, q) })
		found.Questions = append(found.Questions, threads(needed, e.Agent.Name, age(r.now(), e))...)
	}
	found.Entries = each.Of(past.about(r.top, files), func(e *ledgersync.Entry) Entry { return entryOf(e, r.now()) })
	return found
}

// Unanswered returns the handoff of another program that briefs quote and that no entry has answered; nil: there is none, or it has no
// id by which an entry could name it.
func (r *RecordReader) Unanswered() *ledgersync.LeftBehind {
	past := r.ledger()
	left := past.left
	if left == nil || byRelay(left) || past.answers[left.ID] != nil || uuid.Validate(left.ID) != nil {
		return nil
	}
	said := left.SessionSummary
	return &ledgersync.LeftBehind{
		ID: left.ID, Agent: left.Agent.Name, Session: left.Session.ID,
		Completed: said.Completed, Deferred: said.Deferred, Blockers: said.Blockers,
	}
}

// age says how long ago something was written; "" when that is not known.
func age(now time.Time, written interface{ At() (time.Time, bool) }) string {
	at, known := written.At()
	if !known {
		return ""
	}
	return plaintext.Ago(now.Sub(at))
}
