package records

import (
	"cmp"
	"fmt"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/epic"
)

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

// runStarted begins a run, and answers the handoff of the run before.
func (p *Projector) runStarted(e *attempts.Event) Records {
	started := e.RunStarted
	if p.run.stopped {
		p.run = run{context: table{}}
	}
	p.run.started, p.run.usage = started, attempts.Usage{}
	if started.Tip != "" {
		p.tip = started.Tip
	}
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
	entry := p.entry(e, ledgersync.Transition, what, p.relay(), e.Run)
	entry.SetSummary("relay goes on with " + p.now.title() + ": " + p.now.progress())
	entry.Reasoning.Intent = why
	entry.Answer(from, ledgersync.ContextAcquired{EntriesRead: 1},
		ledgersync.Readiness{Confident: true, ClarificationsNeeded: p.openQuestions(), ProposedNextSteps: p.now.next(10)})
	return entry
}

// runStopped records where a run has left the epic.
func (p *Projector) runStopped(e *attempts.Event) Records {
	if tip := cmp.Or(e.RunStopped.Head, e.RunStopped.Tip); tip != "" {
		p.tip = tip
	}
	records := Records{Entries: []*ledgersync.Entry{p.runHandoff(e)}, Artifacts: atStop(p, e)}
	p.handoff, p.run.stopped = records.Entries[0], true
	return records
}

// runHandoff says where a run has left the epic, and what the next one has to know.
func (p *Projector) runHandoff(e *attempts.Event) *ledgersync.Entry {
	entry := p.entry(e, ledgersync.Handoff, "handoff", p.relay(), e.Run)
	headline := p.now.headline(e)
	entry.SetSummary(p.now.title() + ": " + headline + "; " + p.now.progress())
	entry.Reasoning.Intent = stated(e.RunStopped.Why, headline)
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

func (p *Projector) relay() ledgersync.Agent {
	return ledgersync.Agent{Name: "relay", Version: p.run.started.Relay}
}

// checksAtEnd says what the checks came to on all that has landed.
func checksAtEnd(e *attempts.RunStopped) string {
	switch {
	case e.Tip == "":
		return ""
	case len(e.Regressed) == 0:
		return "all pass on " + short(e.Tip)
	}
	return fmt.Sprintf("fail on %s: %s", short(e.Tip), joined(listOf(e.Regressed)))
}
