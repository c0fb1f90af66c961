package records

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic/each"
	"relay/orchestrator/decide"
)

// atStop returns the artifacts of a run that is over: what a person finds of it.
func atStop(p *Projector, e *attempts.Event) []Artifact {
	if p.now.complete() {
		if p.finalized {
			return nil
		}
		p.finalized = true
		return []Artifact{final(p, e)}
	}
	var out []Artifact
	over := []decide.EndReason{decide.NoRunnableTasks, decide.EpicComplete, decide.NoRunner}
	if p.now.o.Checkpoints != Never && !slices.Contains(over, decide.EndReason(e.RunStopped.Reason)) {
		out = append(out, named(ofRun(p, e, artifact.Checkpoint), e))
	}
	a := ofRun(p, e, artifact.Handoff)
	a.Next = p.now.next(mostItems)
	a.FilesToReview, a.ContinuationPrompt = filesToReview(p), continuation(p, e)
	return append(out, named(a, e))
}

// named gives an artifact of an event the title of its file.
func named(a *artifact.Artifact, e *attempts.Event) Artifact {
	return Artifact{Artifact: a, Title: fmt.Sprintf("%s-%d", e.Run, e.Seq)}
}

func ofRun(p *Projector, e *attempts.Event, mode artifact.Mode) *artifact.Artifact {
	now := "complete"
	if !p.now.complete() {
		now = andNext(p, p.now.headline(e))
	}
	a := begin(p, e, mode, now)
	addDone(p, a, p.run.done...)
	a.Failed = p.run.failed.all()
	if p.now.epic != nil {
		a.RelatedBeads = p.now.epic.Related
	}
	a.Questions, a.Blockers = p.now.openQuestions(), p.now.blockers(e)
	for i, finding := range p.run.deferred.all() {
		a.Findings = append(a.Findings, artifact.Note{Key: "deferred " + strconv.Itoa(i+1), Text: finding})
	}
	for i, found := range p.run.discovered.all() {
		a.Findings = append(a.Findings, artifact.Note{Key: "discovered " + strconv.Itoa(i+1), Text: found})
	}
	a.Test = checksAtEnd(e.RunStopped)
	return a
}

// begin begins an artifact with what all of them say.
func begin(p *Projector, e *attempts.Event, mode artifact.Mode, now string) *artifact.Artifact {
	bead := p.now.o.EpicID
	if p.now.epic != nil && p.now.epic.Bead != "" {
		bead = p.now.epic.Bead
	}
	a := artifact.New(mode, p.now.title(), line(now), outcome(p), artifact.Origin{
		Date: e.At, Session: p.now.o.EpicID, PrimaryBead: bead, SessionID: e.Run,
	})
	if branch := branchOf(p); branch != "" && p.tip != "" {
		a.Git = &artifact.Git{Branch: branch, Commit: p.tip, Remote: line(p.run.started.Remote), PRReady: p.pullRequest}
	}
	about := map[string]any{
		"run": e.Run, "seq": int(e.Seq), "epic": p.now.o.EpicID, "report": p.now.o.file("runs", e.Run, "report.md"),
		"input_tokens": int(p.run.usage.InputTokens), "output_tokens": int(p.run.usage.OutputTokens),
	}
	if cost := p.run.usage.CostUSD; cost > 0 { // else it is unknown
		about["cost_usd"] = cost
	}
	if version := p.run.started.Relay; version != "" {
		about["version"] = version
	}
	if s := e.RunStopped; s != nil {
		about["exit_reason"] = s.Reason
	}
	a.Metadata = map[string]any{"relay": about}
	return a
}

func outcome(p *Projector) artifact.Outcome {
	completed, total := p.now.counts()
	switch {
	case total > 0 && completed == total:
		return artifact.Succeeded
	case completed == 0:
		return artifact.Failed
	case 2*completed >= total && len(p.now.gated()) == 0:
		return artifact.PartialPlus
	default:
		return artifact.PartialMinus
	}
}

func landed(p *Projector, e *attempts.Event, started *attempts.Started) Artifact {
	a := begin(p, e, artifact.Checkpoint, andNext(p, e.Task+" is completed"))
	a.AgentID = agentOf(started, "").Name
	addDone(p, a, p.tasks.of(e.Task).done)
	a.Questions, a.Test = e.Ended.Receipt.Questions, checksOf(e.Ended.Receipt.Checks)
	return named(a, e)
}

// andNext adds to a text which task would go next, or else which one needs a person first.
func andNext(p *Projector, now string) string {
	if next := p.now.next(1); len(next) > 0 {
		return now + "; next: " + next[0]
	}
	if gated := p.now.gated(); len(gated) > 0 {
		return now + "; next: look at " + gated[0]
	}
	return now
}

// addDone adds what has completed tasks.
func addDone(p *Projector, a *artifact.Artifact, list ...*done) {
	changed := files{}
	for _, d := range list {
		summary := line(d.Receipt.Summary)
		a.Done = appendTask(a.Done, d.task+": "+cmp.Or(p.now.planned(d.task).Title, summary), d.Changes)
		changed.add(d.Changes)
		if summary != "" && len(a.Worked) < mostItems {
			a.Worked = append(a.Worked, line(d.task+": "+summary))
		}
		a.Decisions = addDecisions(a.Decisions, d.task, d.Receipt.Decisions)
		if d.Receipt.Learning != "" && len(a.Findings) < mostItems {
			a.Findings = append(a.Findings, artifact.Note{Key: d.task, Text: clip(d.Receipt.Learning, longText)})
		}
	}
	a.Files = changed.all()
}

// addDecisions adds what the agent of a task has decided, if there is room.
func addDecisions(list []artifact.Decision, task string, decisions map[string]string) []artifact.Decision {
	for _, what := range sortedKeys(decisions) {
		if len(list) < mostItems {
			list = append(list, artifact.Decision{Decision: task + " " + line(what), Rationale: clip(decisions[what], longText)})
		}
	}
	return list
}

const mostDone = 500

func appendTask(tasks []artifact.Task, title string, changed []attempts.FileChange) []artifact.Task {
	if len(tasks) == mostDone {
		return append(tasks, artifact.Task{Task: "… and more, which the report of the run has", Files: []string{}})
	}
	if len(tasks) > mostDone {
		return tasks
	}
	files := each.Of(changed[:min(len(changed), mostItems)], func(c attempts.FileChange) string { return c.Path })
	return append(tasks, artifact.Task{Task: line(title), Files: append([]string{}, files...)})
}

type files struct{ created, modified, deleted list }

func (f *files) add(changes []attempts.FileChange) {
	for _, c := range changes {
		for _, file := range became(c) {
			to := map[string]*list{ledgersync.Created: &f.created, ledgersync.Modified: &f.modified, ledgersync.Deleted: &f.deleted}[file.Action]
			to.add("%s", file.Path)
		}
	}
}

func (f *files) all() *artifact.Files {
	if len(f.created.lines)+len(f.modified.lines)+len(f.deleted.lines) == 0 {
		return nil
	}
	return &artifact.Files{Created: f.created.all(), Modified: f.modified.all(), Deleted: f.deleted.all()}
}
