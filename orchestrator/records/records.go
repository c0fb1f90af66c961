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
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
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

// origin names what a discussion is opened from: telling it again gives the same.
func (o *Options) origin(e *attempts.Event, what string) string {
	return fmt.Sprintf("%s/%s/%s/%d/%s", o.EpicID, e.Task, e.Run, e.Seq, what)
}

// flag returns what names the epic to relay's commands; "" when nothing has to.
func (o *Options) flag() string {
	if o.Listed {
		return " --epic " + o.EpicID
	}
	return ""
}

func (o *Options) file(name ...string) string {
	if o.Listed {
		name = append([]string{"epics", o.EpicID}, name...)
	}
	return path.Join(name...)
}

// id names a record: telling it again gives the same name.
func (o *Options) id(e *attempts.Event, what string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "relay:%s/%s/%d/%s", o.EpicID, e.Run, e.Seq, what)).String()
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
	tasks     tasks
	memory    *attempts.Memory // has the ledger
	run       run
	sessions  map[string]session
	models    map[[2]string]string // that runners have last reported, by runner and the model that was asked for
	talk      talk
	handoff   *ledgersync.Entry // of the last run that has stopped, until another one answers it
	answered  string            // id of the last handoff of another program that a run has answered
	finalized bool              // the epic is complete, and an artifact says so

	tip         string // of the branch that the work is collected on
	pullRequest string // URL
}

type session struct {
	next int    // index of its next entry
	last string // id of its last entry
}

type task struct {
	started  *attempts.Started // of the attempt under way
	run      string            // in which the last attempt began
	left     *ledgersync.Entry // the handoff of its last attempt, until another one answers it
	handoffs []string          // ids of earlier ones, the last few
	done     *done             // what has completed it; nil: nothing yet
}

// tasks are known by their ids.
type tasks map[string]*task

func (t tasks) of(id string) *task {
	if t[id] == nil {
		t[id] = &task{}
	}
	return t[id]
}

// completed returns what completed the tasks of the epic, in the order of the plan.
func (t tasks) completed(now *standing) (list []*done) {
	for _, id := range now.ids() {
		if one := t[id]; one != nil && one.done != nil && now.ledger.Record(id).Completed {
			list = append(list, one.done)
		}
	}
	return list
}

// New returns a projector that knows nothing yet.
func New(o Options) *Projector {
	o.Checkpoints = cmp.Or(o.Checkpoints, AtStop)
	p := &Projector{now: standing{o: o}, memory: attempts.NewMemory(nil, nil), run: run{started: &attempts.RunStarted{}, context: table{}}}
	p.tasks, p.sessions, p.models, p.talk = tasks{}, map[string]session{}, map[[2]string]string{}, talk{&p.now, map[string]*threads{}}
	p.memory.View(func(l *attempts.Ledger) { p.now.ledger = l })
	return p
}

// Apply takes the next event in, and returns what is to be recorded of it. Events must come in the order of their numbers, and all of
// them.
func (p *Projector) Apply(e *attempts.Event) Records {
	gated := p.now.ledger.Record(e.Task).Gate != nil
	p.memory.Fold(own(*e))
	switch {
	case e.RunStarted != nil:
		return p.runStarted(e)
	case e.RunStopped != nil:
		return p.runStopped(e)
	case e.EpicReviewed != nil:
		return Records{Entries: p.opinions(e, "", &e.EpicReviewed.Reviewed, nil), Discussions: p.talk.disagreement(e, &e.EpicReviewed.Reviewed)}
	case e.PullRequest != nil:
		p.pullRequest = e.PullRequest.URL
	case e.TasksAdded != nil:
		p.finalized = false
	case e.Accepted != nil, e.Type == attempts.TypeReset, e.Type == attempts.TypeUndone:
		p.finalized = p.finalized && p.now.complete()
		return Records{Discussions: p.decided(e, gated)}
	case e.Task == "":
	case e.Type == attempts.TypeAttemptStarted:
		p.tasks.of(e.Task).started, p.tasks.of(e.Task).run = cmp.Or(e.Started, &attempts.Started{}), e.Run
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
		if gate := p.now.ledger.Record(e.Task).Gate; gate != nil && gate.Reason != attempts.UserBlocked {
			return []Discussion{p.talk.gateOpened(e, gate, nil)}
		}
	case attempts.TypeUngated:
		return p.talk.noted(e, e.Task+" was ungated by a person")
	case attempts.TypeAnswered:
		if e.Answer != nil {
			return p.talk.noted(e, e.Task+" was answered by a person: "+e.Answer.Text)
		}
	case attempts.TypeReopened:
		return p.talk.noted(e, e.Task+" was ungated by relay: the base has changed")
	case attempts.TypeApproved:
		return p.talk.noted(e, e.Task+" was approved by a person")
	case attempts.TypeReset:
		if gated {
			return p.talk.noted(e, e.Task+" was ungated by a person: it is tried again from its beginning")
		}
	default: // nothing that is recorded
	}
	return nil
}

// entry begins an entry of a session.
func (p *Projector) entry(e *attempts.Event, of ledgersync.Type, what string, agent ledgersync.Agent, sessionID string) *ledgersync.Entry {
	s := p.sessions[sessionID]
	entry := &ledgersync.Entry{
		ID: p.now.o.id(e, what), Timestamp: ledgersync.Stamp(e.At), Agent: agent, Type: of,
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

// runOf returns the run in which the attempt of an event began: after a crash the next run ends it.
func runOf(p *Projector, e *attempts.Event) string {
	if e.Task == "" {
		return e.Run
	}
	return cmp.Or(p.tasks.of(e.Task).run, e.Run)
}

// run is what the records of a run's end say. It begins with what a killed run before it has left, which recorded no end.
type run struct {
	started    *attempts.RunStarted
	stopped    bool
	done       []*done
	failed     list // "T1: why"
	discovered list
	deferred   list
	context    table // decisions, learnings and refs that keep work, by task
	usage      attempts.Usage
}

// done is what has completed a task.
type done struct {
	*attempts.Ended

	task string
	seq  uint64 // of the event that ended it
}

// count keeps what the records of the whole run say of an attempt, but for its result.
func (r *run) count(e *attempts.Event) {
	receipt := &e.Ended.Receipt
	if e.Ended.Usage != nil {
		r.usage.Add(*e.Ended.Usage)
	}
	for _, d := range receipt.Discovered {
		r.discovered.add(ledgersync.FoundBy+"%s, and left: %s%s", e.Task, d.Title, plaintext.Because(d.Why))
	}
	if receipt.Review != nil {
		for _, f := range receipt.Review.Deferred {
			r.deferred.add(ledgersync.PutOffBy+"%s: %s", e.Task, f.InShort())
		}
	}
	r.context.setAll(e.Task+" decided, ", receipt.Decisions)
	r.context.set(e.Task+" learned", receipt.Learning)
	r.context.set(e.Task+" kept its work as", receipt.Salvage)
}

func (r *run) relay() ledgersync.Agent {
	return ledgersync.Agent{Name: "relay", Version: r.started.Relay}
}

// runStarted begins a run, and answers the handoff of the run before.
func (p *Projector) runStarted(e *attempts.Event) Records {
	started := e.RunStarted
	if p.run.stopped {
		p.run = run{context: table{}}
	}
	p.run.started, p.run.usage = started, attempts.Usage{}
	p.tip = cmp.Or(started.Tip, p.tip)
	if plan := p.now.o.Plan(e.Run); plan != nil {
		if graph, err := epic.NewGraph(plan); err == nil {
			p.now.epic, p.now.graph = plan, graph
		}
	}
	p.finalized = p.finalized && p.now.complete()
	records := Records{}
	if from := p.handoff; from != nil {
		records.Entries = append(records.Entries, p.answer(e, "transition", "another run of this epic has begun, and an earlier one has left a handoff", from))
	}
	p.handoff = nil
	if h := started.Handoff; h != nil && h.ID != p.answered {
		p.answered = h.ID
		from := &ledgersync.Entry{
			ID: h.ID, Agent: ledgersync.Agent{Name: stated(h.Agent)}, Session: ledgersync.Session{ID: stated(h.Session)},
			SessionSummary: &ledgersync.SessionSummary{Completed: h.Completed, Deferred: h.Deferred, Blockers: h.Blockers},
		}
		records.Entries = append(records.Entries, p.answer(e, "transition/"+h.ID, "a run of this epic has begun, and "+from.Agent.Name+" has left a handoff", from))
	}
	return records
}

// answer returns the entry with which a run takes over from a handoff.
func (p *Projector) answer(e *attempts.Event, what, why string, from *ledgersync.Entry) *ledgersync.Entry {
	entry := p.entry(e, ledgersync.Transition, what, p.run.relay(), e.Run)
	entry.SetSummary("relay goes on with " + p.now.title() + ": " + p.now.progress())
	entry.Reasoning.Intent = why
	entry.Answer(from, ledgersync.ContextAcquired{EntriesRead: 1},
		ledgersync.Readiness{Confident: true, ClarificationsNeeded: p.now.openQuestions(), ProposedNextSteps: p.now.next(10)})
	return entry
}

// runStopped records where a run has left the epic.
func (p *Projector) runStopped(e *attempts.Event) Records {
	p.tip = cmp.Or(e.RunStopped.Head, e.RunStopped.Tip, p.tip)
	records := Records{Entries: []*ledgersync.Entry{p.runHandoff(e)}, Artifacts: atStop(p, e)}
	p.handoff, p.run.stopped = records.Entries[0], true
	return records
}

// runHandoff says where a run has left the epic, and what the next one has to know.
func (p *Projector) runHandoff(e *attempts.Event) *ledgersync.Entry {
	entry := p.entry(e, ledgersync.Handoff, "handoff", p.run.relay(), e.Run)
	headline := p.now.headline(e)
	entry.SetSummary(p.now.title() + ": " + headline + "; " + p.now.progress())
	entry.Reasoning.Intent = stated(e.RunStopped.Why, headline)
	entry.Reasoning.Uncertainties = p.now.openQuestions()
	state := table{}
	state.set("run", headline)
	state.set("progress", p.now.progress())
	state.set("branch", at(branchOf(p), p.tip))
	state.set("checks", checksAtEnd(e.RunStopped))
	context := table{}
	context.setAll("", p.run.context)
	context.set("base", p.run.started.Tip)
	context.set("head", p.tip)
	completed := list{}
	for _, d := range p.run.done {
		completed.add("%s: %s", d.task, p.now.planned(d.task).Title)
	}
	entry.SessionSummary = &ledgersync.SessionSummary{
		Completed: completed.all(), CurrentState: state, Blockers: p.now.blockers(e), ImportantContext: context, HandoffNotes: p.notes(),
		Deferred: listOf(p.now.next(mostItems), p.run.deferred.all(), p.run.discovered.all()),
	}
	return entry
}

// branchOf is the branch that the work is collected on: the epic's, else the user's.
func branchOf(p *Projector) string {
	return cmp.Or(p.run.started.Integration, p.run.started.Branch, p.now.ledger.Integration.Branch)
}

// checksAtEnd says what the checks came to on all that has landed.
func checksAtEnd(e *attempts.RunStopped) string {
	switch {
	case e.Tip == "":
		return ""
	case len(e.Regressed) == 0:
		return "all pass on " + short(e.Tip)
	}
	return fmt.Sprintf("fail on %s: %s", short(e.Tip), strings.Join(listOf(e.Regressed), "; "))
}

func (p *Projector) notes() string {
	var b strings.Builder
	gated := p.now.gated()
	for _, id := range gated[:min(len(gated), mostItems)] {
		if p.now.ledger.Record(id).Gate.Reason == attempts.AwaitsAnswer {
			continue
		}
		then := "relay ungate " + id
		if p.now.planned(id).Kind == epic.KindPerson {
			then = view.Approving(id).Type
		}
		flag := p.now.o.flag()
		fmt.Fprintf(&b, "%s needs a person (%s): relay show %s, then %s.\n", id, p.now.ledger.Record(id).Gate.Reason.Words(), id+flag, then+flag)
	}
	asking := p.now.asking()
	for _, id := range asking[:min(len(asking), mostItems)] {
		fmt.Fprintf(&b, "The agent of %s asks a person: %s.\n", id, view.Answering(id).Type+p.now.o.flag())
	}
	causes := p.now.causes()
	if slices.ContainsFunc(p.now.waiting(), func(i int) bool { return len(causes[i]) == 0 }) { // no gated task keeps it from running
		fmt.Fprintf(&b, "relay work%s continues with what is left.\n", p.now.o.flag())
	}
	if len(p.run.discovered.all()) > 0 {
		fmt.Fprintf(&b, "relay init --append%s offers what agents have found and left as tasks.\n", p.now.o.flag())
	}
	if completed, _ := p.now.counts(); completed > 0 && p.now.ledger.Integration.Branch != "" {
		fmt.Fprintf(&b, "relay finish%s lands what is on %s.\n", p.now.o.flag(), p.now.ledger.Integration.Branch)
	}
	return strings.TrimSpace(b.String())
}

// asking returns the tasks whose agents have open questions.
func (p *standing) asking() []string {
	return slices.DeleteFunc(sortedKeys(p.ledger.Tasks), func(id string) bool { return len(p.ledger.Record(id).OpenQuestions()) == 0 })
}

// openQuestions returns the open questions of agents, with their tasks.
func (p *standing) openQuestions() []string {
	l := list{}
	for _, id := range p.asking() {
		for _, q := range p.ledger.Record(id).OpenQuestions() {
			l.add("%s: %s", id, q)
		}
	}
	return l.all()
}
