package records

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/review"
)

// briefed answers the handoff of the attempt before, once the brief of the next one includes it.
func (p *Projector) briefed(e *attempts.Event) []*ledgersync.Entry {
	t := p.task(e.Task)
	from := t.left
	if from == nil || t.started == nil {
		return nil
	}
	t.left = nil
	planned, brief := p.now.planned(e.Task), e.Briefed
	entry := p.entry(e, ledgersync.Transition, "transition", agentOf(t.started, ""), sessionOf(p, e, t.started, ""))
	entry.SetSummary(fmt.Sprintf("%s: attempt %d begins where another one has ended", e.Task, e.Attempt))
	entry.Reasoning.Intent = stated(planned.Title)
	if len(brief.Documents) > 0 {
		entry.Grounding = &ledgersync.Grounding{PhilosophyRefs: brief.Documents}
	}
	steps := list{}
	steps.add("%s: %s", planned.ID, planned.Title)
	for _, check := range planned.Checks {
		steps.add("proved by: %s", check.Name)
	}
	entry.Answer(from, ledgersync.ContextAcquired{
		EntriesRead: brief.Entries, PhilosophyDocsRead: brief.Documents, FilesIndexed: brief.Files,
	}, ledgersync.Readiness{
		Confident:            len(brief.Cut) == 0 && (brief.Continues || from.SessionSummary.CurrentState["work"] == ""),
		ClarificationsNeeded: brief.Unclear, ProposedNextSteps: steps.all(),
	})
	return []*ledgersync.Entry{entry}
}

func (p *Projector) ended(e *attempts.Event) Records {
	t, ended := p.task(e.Task), e.Ended
	started := t.started
	if started == nil { // its start was lost with an older log
		started = &attempts.Started{}
	}
	t.started = nil
	p.count(e)
	records := Records{
		Entries:     p.opinions(e, attemptName(p, e), ended.Receipt.Review, ended.Receipt.FilesChanged),
		Discussions: p.disagreement(e, ended.Receipt.Review),
	}
	if ended.Result != attempts.ResultSuccess {
		entry := p.attemptHandoff(e, started)
		records.Entries = append(records.Entries, entry)
		t.left = entry
		const mostHandoffs = 20
		t.handoffs = last(append(t.handoffs, entry.ID), mostHandoffs)
		if ended.Gate != nil && !p.now.record(e.Task).Completed {
			records.Discussions = append(records.Discussions, p.gateOpened(e, ended.Gate, attempted(e, started)))
		}
		return records
	}
	t.left = nil
	if ended.Landed != "" {
		p.tip = ended.Landed
	}
	records.Entries = append(records.Entries, p.work(e, started))
	records.Discussions = append(records.Discussions, p.landedNote(e)...)
	t.handoffs = nil
	if p.now.o.Checkpoints == AtLanding {
		records.Artifacts = []Artifact{landed(p, e, started)}
	}
	return records
}

// count keeps what the records of the whole run say of an attempt.
func (p *Projector) count(e *attempts.Event) {
	ended, r := e.Ended, &p.run
	receipt := &ended.Receipt
	if ended.Usage != nil {
		r.usage.Add(*ended.Usage)
	}
	if ended.Result == attempts.ResultSuccess {
		d := &done{ended, e.Task, e.Seq}
		r.done = append(r.done, d)
		p.task(e.Task).done = d
	} else {
		r.failed.add("%s: %s", e.Task, why(e))
	}
	for _, d := range receipt.Discovered {
		r.discovered.add("found by %s, and left: %s%s", e.Task, d.Title, plaintext.Because(d.Why))
	}
	if receipt.Review != nil {
		for _, f := range receipt.Review.Deferred {
			r.deferred.add("put off by the review of %s: %s", e.Task, located(f.File, f.Line, f.Issue))
		}
	}
	r.context.setAll(e.Task+" decided, ", receipt.Decisions)
	r.context.set(e.Task+" learned", receipt.Learning)
	r.context.set(e.Task+" kept its work as", receipt.Salvage)
}

// attemptHandoff says how an attempt that did not complete its task has left it.
func (p *Projector) attemptHandoff(e *attempts.Event, started *attempts.Started) *ledgersync.Entry {
	receipt := &e.Ended.Receipt
	entry := p.attemptEntry(e, started, ledgersync.Handoff)
	entry.Reasoning.Intent = stated(why(e))
	state, left, blockers, context := table{}, list{}, list{}, table{}
	state.set("result", string(e.Ended.Outcome))
	if receipt.Claimed == "success" || e.Ended.Head != "" && len(receipt.FilesChanged) > 0 {
		state.set("claimed", receipt.Summary) // nothing proved it
	}
	state.set("work", receipt.Salvage)
	state.set("checks", checksOf(receipt.Checks))
	state.set("review", string(receipt.Verdict))
	judged, _ := review.Parse(receipt.Findings + "\nVerdict: " + string(review.NeedsChanges)) // a receipt keeps findings as markdown
	for _, f := range judged.Findings {
		left.add("%s%s", located(f.File, f.Line, f.Issue), plaintext.Because(f.Fix))
	}
	left.add("%s", receipt.Suggestion)
	for _, d := range receipt.Discovered {
		left.add("found, and left: %s%s", d.Title, plaintext.Because(d.Why))
	}
	if gate := e.Ended.Gate; gate != nil {
		blockers.add("%s is gated: %s", e.Task, gate.Text())
	}
	for _, file := range receipt.Contested {
		blockers.add("conflicts with what has landed: %s", file)
	}
	context.setAll("decided, ", receipt.Decisions)
	context.set("learned", receipt.Learning)
	context.set("base", started.Base)
	context.set("head", e.Ended.Head)
	for i, ref := range receipt.Kept {
		context.set("also kept "+strconv.Itoa(i+1), ref)
	}
	entry.SessionSummary = &ledgersync.SessionSummary{
		CurrentState: state, Deferred: left.all(), Blockers: blockers.all(), ImportantContext: context,
		HandoffNotes: clip(receipt.Suggestion, longText),
	}
	return entry
}

func why(e *attempts.Event) string {
	receipt := &e.Ended.Receipt
	return cmp.Or(receipt.ErrorSummary, string(receipt.ErrorCategory), string(e.Ended.Outcome))
}

// attemptEntry begins an entry about an attempt, with what all of them say.
func (p *Projector) attemptEntry(e *attempts.Event, started *attempts.Started, of ledgersync.Type) *ledgersync.Entry {
	ended, planned := e.Ended, p.now.planned(e.Task)
	receipt := &ended.Receipt
	entry := p.entry(e, of, string(of), agentOf(started, ended.Model), sessionOf(p, e, started, ended.Session))
	entry.Action.Description = "Files of the attempt: " + p.now.file("runs", attemptName(p, e))
	summary := cmp.Or(receipt.Summary, planned.Title)
	if of == ledgersync.Handoff {
		summary = cmp.Or(receipt.ErrorSummary, receipt.Summary, why(e))
	}
	entry.Tags = append(entry.Tags, receipt.PatternTags...)
	entry.Reasoning.Intent = stated(planned.Title)
	entry.Reasoning.Considerations = decided(receipt.Decisions)
	entry.Reasoning.Uncertainties = append(entry.Reasoning.Uncertainties, receipt.Questions...)
	if receipt.Review != nil {
		for _, proof := range receipt.Review.Proofs {
			if proof.By == "unproven" {
				entry.Reasoning.Uncertainties = append(entry.Reasoning.Uncertainties, line("not proved: "+proof.Criterion))
			}
		}
	}
	for _, tool := range ended.Tools {
		parameters := map[string]any{"calls": tool.Calls}
		if tool.Failed > 0 {
			parameters["failed"] = tool.Failed
		}
		entry.Tools = append(entry.Tools, ledgersync.Tool{Name: tool.Name, Parameters: parameters})
	}
	entry.RelatedEntries = slices.Clone(p.task(e.Task).handoffs)
	setFiles(entry, ended)
	entry.SetSummary(e.Task + ": " + summary)
	return entry
}

// setFiles lists what git says was changed. Of an attempt whose event has no more than names, these are in the description.
func setFiles(entry *ledgersync.Entry, ended *attempts.Ended) {
	for _, c := range ended.Changes {
		entry.Artifacts = append(entry.Artifacts, became(c)...)
	}
	if ended.MoreChanges > 0 {
		entry.Action.Description += fmt.Sprintf("\n%d more files were changed.", ended.MoreChanges)
	}
	if files := ended.Receipt.FilesChanged; len(ended.Changes) == 0 && len(files) > 0 {
		entry.Action.Description += "\nFiles changed: " + plaintext.Some(files, 20)
	}
}

// became says what became of a file, and of the one whose name it had.
func became(c attempts.FileChange) []ledgersync.Artifact {
	lines, none := c.Added+c.Deleted, 0
	file := ledgersync.Artifact{Path: c.Path, Action: ledgersync.Created, LinesChanged: &lines}
	switch c.Kind {
	case attempts.FileDeleted:
		file.Action = ledgersync.Deleted
	case attempts.FileModified:
		file.Action = ledgersync.Modified
	case attempts.FileRenamed:
		return []ledgersync.Artifact{{Path: c.From, Action: ledgersync.Deleted, LinesChanged: &none}, file}
	case attempts.FileAdded:
	default:
		return nil
	}
	return []ledgersync.Artifact{file}
}

// agentOf names the agent as other programs do.
func agentOf(started *attempts.Started, model string) ledgersync.Agent {
	name := cmp.Or(started.CLI, started.Runner, "unknown")
	switch name {
	case "claude":
		name = "claude-code"
	case "command", "script":
		name = cmp.Or(started.Runner, name)
	}
	return ledgersync.Agent{Name: name, Model: cmp.Or(model, started.Model), Version: started.Version}
}

// sessionOf is the agent's own session, or the attempt where it has told none.
func sessionOf(p *Projector, e *attempts.Event, started *attempts.Started, ended string) string {
	return cmp.Or(ended, started.Session, attemptName(p, e))
}

func attemptName(p *Projector, e *attempts.Event) string {
	return fmt.Sprintf("%s/%s/%d", runOf(p, e), e.Task, e.Attempt)
}

func checksOf(checks []attempts.CheckRun) string {
	passed, failed := 0, list{}
	for _, c := range checks {
		if c.Phase == attempts.PhaseBaseline {
			continue
		}
		if c.ExitCode == 0 {
			passed++
			continue
		}
		failed.add("%s (exit %d)", c.Name, c.ExitCode)
	}
	switch {
	case passed+len(failed.lines) == 0:
		return ""
	case len(failed.lines) == 0:
		return fmt.Sprintf("%d of %d pass", passed, passed)
	}
	return fmt.Sprintf("%d of %d pass; not: %s", passed, passed+len(failed.lines)+failed.more, joined(failed.all()))
}

func kindOf(k epic.Kind) ledgersync.Type {
	switch k {
	case epic.KindBugfix:
		return ledgersync.Bugfix
	case epic.KindReview:
		return ledgersync.Review
	default:
		return ledgersync.Implementation
	}
}
