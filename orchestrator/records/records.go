// Package records turns events into LedgerSync entries, artifacts and discussions, and writes them after the log.
//
// records.go turns the events of an epic into records that other programs read: entries of LedgerSync, artifacts of sessions, and
// discussions.
//
// It is pure: events and plans in, entries and artifacts out, and the same of them whenever they are asked for. What relay records when,
// and from which facts, belongs here; the formats are those of [relay/attempts/ledgersync], [relay/attempts/artifact] and
// [relay/attempts/discussion], and writing is what recordkeeper.go does.
//
// recordkeeper.go writes what follows from an epic's event log into files that other programs read: entries into the ledger of
// LedgerSync, artifacts of sessions, and discussions.
//
// The log is the truth, and these files follow it: what was written is kept in a file beside the log ([CursorFile]), and what is missing
// is made up for by the next that opens the epic. Each record is written once, whenever a crash comes: its id and its name follow from
// the event. It never changes anything of others. The contents of records belong to [relay/orchestrator/records].
package records

import (
	"cmp"
	"encoding/json"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic"
)

// Checkpoints says when checkpoints are recorded.
type Checkpoints string

// When checkpoints are recorded: when a run was stopped before its end, also whenever a task is completed, or never.
const (
	AtStop    Checkpoints = "stop"
	AtLanding Checkpoints = "landing"
	Never     Checkpoints = "none"
)

// Options say whose events these are.
type Options struct {
	EpicID      string
	Plan        func(run string) *epic.Epic // the plan that a run followed; nil: it is not known
	Checkpoints Checkpoints                 // "" is AtStop
	Listed      bool                        // the epic is one of a playlist: its folder is epics/ID below relay's, and commands take --epic ID
}

// Records are what follows from one event, in the order in which they are written.
type Records struct {
	Entries     []*ledgersync.Entry
	Artifacts   []Artifact
	Discussions []Discussion
}

// Artifact is an artifact with the title that its file is named by, which no other one of the epic has.
type Artifact struct {
	*artifact.Artifact

	Title string
}

// Projector holds what is known of an epic after the events it was given.
type Projector struct {
	now       standing
	tasks     map[string]*task
	memory    *attempts.Memory // has the ledger
	run       run
	sessions  map[string]session
	threads   map[string]*threads // by task; "": the whole epic
	handoff   *ledgersync.Entry   // of the last run that has stopped, until another one answers it
	answered  string              // id of the last handoff of another program that a run has answered
	finalized bool                // the epic is complete, and an artifact says so

	tip         string // of the branch that the work is collected on
	pullRequest string // URL
}

type session struct {
	next int    // index of its next entry
	last string // id of its last entry
}

type task struct {
	started   *attempts.Started // of the attempt under way
	run       string            // in which the last attempt began
	left      *ledgersync.Entry // the handoff of its last attempt, until another one answers it
	handoffs  []string          // ids of earlier ones, the last few
	questions []string          // that are open
	done      *done             // what has completed it; nil: nothing yet
}

// New returns a projector that knows nothing yet.
func New(o Options) *Projector {
	if o.Checkpoints == "" {
		o.Checkpoints = AtStop
	}
	p := &Projector{now: standing{o: o}, memory: attempts.NewMemory(nil), run: run{started: &attempts.RunStarted{}, context: table{}}}
	p.tasks, p.sessions, p.threads = map[string]*task{}, map[string]session{}, map[string]*threads{}
	p.memory.View(func(l *attempts.Ledger) { p.now.ledger = l })
	return p
}

// Apply takes the next event in, and returns what is to be recorded of it. Events must come in the order of their numbers, and all of
// them.
func (p *Projector) Apply(e *attempts.Event) Records {
	gated := p.now.record(e.Task).Gate != nil
	p.memory.Fold(own(*e))
	switch {
	case e.RunStarted != nil:
		return p.runStarted(e)
	case e.RunStopped != nil:
		return p.runStopped(e)
	case e.EpicReviewed != nil:
		return Records{Entries: p.opinions(e, "", &e.EpicReviewed.Reviewed, nil), Discussions: p.disagreement(e, &e.EpicReviewed.Reviewed)}
	case e.PullRequest != nil:
		p.pullRequest = e.PullRequest.URL
	case e.TasksAdded != nil:
		p.finalized = false
	case e.Accepted != nil, e.Type == attempts.TypeReset, e.Type == attempts.TypeUndone:
		p.finalized = p.finalized && p.now.complete()
		return Records{Discussions: p.decided(e, gated)}
	case e.Task == "":
	case e.Type == attempts.TypeAttemptStarted:
		started := e.Started
		if started == nil {
			started = &attempts.Started{}
		}
		p.task(e.Task).started, p.task(e.Task).run = started, e.Run
	case e.Briefed != nil:
		return Records{Entries: p.briefed(e)}
	case e.Ended != nil:
		return p.ended(e)
	default:
		return Records{Discussions: p.decided(e, gated)}
	}
	return Records{}
}

// own returns an event that the memory may keep. It copies an accepted ledger: the run changes its own.
func own(e attempts.Event) attempts.Event {
	if e.Accepted != nil {
		text, _ := json.Marshal(e.Accepted) // it was in a log, or will be
		e.Accepted = &attempts.Accepted{}
		_ = json.Unmarshal(text, e.Accepted)
	}
	return e
}

// decided says what a person or relay decided about a task, which was gated before or not.
func (p *Projector) decided(e *attempts.Event, gated bool) []Discussion {
	switch e.Type {
	case attempts.TypeGated:
		if gate := p.now.record(e.Task).Gate; gate != nil && gate.Reason != attempts.UserBlocked {
			return []Discussion{p.gateOpened(e, gate, nil)}
		}
	case attempts.TypeUngated:
		return p.noted(e, e.Task+" was ungated by a person")
	case attempts.TypeAnswered:
		if e.Answer != nil {
			return p.noted(e, e.Task+" was answered by a person: "+e.Answer.Text)
		}
	case attempts.TypeReopened:
		return p.noted(e, e.Task+" was ungated by relay: the base has changed")
	case attempts.TypeApproved:
		return p.noted(e, e.Task+" was approved by a person")
	case attempts.TypeReset:
		if gated {
			return p.noted(e, e.Task+" was ungated by a person: it is tried again from its beginning")
		}
	default: // nothing that is recorded
	}
	return nil
}

// runOf returns the run in which the attempt of an event began: after a crash the next run ends it.
func runOf(p *Projector, e *attempts.Event) string {
	if e.Task == "" {
		return e.Run
	}
	return cmp.Or(p.task(e.Task).run, e.Run)
}

func (p *Projector) task(id string) *task {
	if p.tasks[id] == nil {
		p.tasks[id] = &task{}
	}
	return p.tasks[id]
}

// IsID reports whether an id can be that of a record: it is made of a name, not of chance.
func IsID(id string) bool { return len(id) == 36 && id[14] == '5' }

// entry begins an entry of a session.
func (p *Projector) entry(e *attempts.Event, of ledgersync.Type, what string, agent ledgersync.Agent, sessionID string) *ledgersync.Entry {
	s := p.sessions[sessionID]
	entry := &ledgersync.Entry{
		ID: p.now.id(e, what), Timestamp: ledgersync.Stamp(e.At), Agent: agent, Type: of,
		Session: ledgersync.Session{ID: sessionID, Index: s.next, Parent: s.last},
		Action:  ledgersync.Action{Type: of.Action()},
		Tags:    []string{"relay", p.now.o.EpicID},
	}
	if e.Task != "" {
		entry.Tags = append(entry.Tags, e.Task)
	}
	entry.Tags = append(entry.Tags, "run:"+runOf(p, e))
	p.sessions[sessionID] = session{next: s.next + 1, last: entry.ID}
	return entry
}
