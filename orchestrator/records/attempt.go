package records

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/review"
	"relay/runners/kinds"
)

// briefed answers the handoff of the attempt before, once the brief of the next one includes it.
func (p *Projector) briefed(e *attempts.Event) []*ledgersync.Entry {
	t := p.tasks.of(e.Task)
	from := t.left
	if from == nil || t.started == nil {
		return nil
	}
	t.left = nil
	planned, brief := p.now.planned(e.Task), e.Briefed
	entry := p.entry(e, ledgersync.Transition, "transition", agentOf(t.started, p.models[asked(t.started)]), sessionOf(p, e, t.started, ""))
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
	t, ended := p.tasks.of(e.Task), e.Ended
	started := cmp.Or(t.started, &attempts.Started{}) // an older log may have lost its start
	t.started = nil
	if ended.Model != "" {
		p.models[asked(started)] = ended.Model
	}
	p.run.count(e)
	records := Records{
		Entries:     p.opinions(e, attemptName(p, e), ended.Receipt.Review, ended.Receipt.FilesChanged),
		Discussions: p.talk.disagreement(e, ended.Receipt.Review),
	}
	if ended.Result != attempts.ResultSuccess {
		p.run.failed.add("%s: %s", e.Task, why(e))
		entry := p.attemptHandoff(e, started)
		records.Entries = append(records.Entries, entry)
		t.left = entry
		const mostHandoffs = 20
		t.handoffs = last(append(t.handoffs, entry.ID), mostHandoffs)
		if ended.Gate != nil && !p.now.ledger.Record(e.Task).Completed {
			records.Discussions = append(records.Discussions, p.talk.gateOpened(e, ended.Gate, attempted(e, started)))
		}
		return records
	}
	t.left, t.done = nil, &done{ended, e.Task, e.Seq}
	p.run.done = append(p.run.done, t.done)
	p.tip = cmp.Or(ended.Landed, p.tip)
	records.Entries = append(records.Entries, p.work(e, started))
	records.Discussions = append(records.Discussions, p.talk.landedNote(e)...)
	t.handoffs = nil
	if p.now.o.Checkpoints == AtLanding {
		records.Artifacts = []Artifact{landed(p, e, started)}
	}
	return records
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
	for _, f := range review.ReadMarkdown(receipt.Findings) {
		left.add("%s%s", f.InShort(), plaintext.Because(f.Fix))
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
	entry.Action.Description = "Files of the attempt: " + p.now.o.file("runs", attemptName(p, e))
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
	entry.RelatedEntries = slices.Clone(p.tasks.of(e.Task).handoffs)
	setFiles(entry, ended)
	entry.SetSummary(e.Task + ": " + summary)
	return entry
}

// setFiles lists what git says was changed. Of an attempt whose event has no more than names, these are in the description.
func setFiles(entry *ledgersync.Entry, ended *attempts.Ended) {
	entry.Artifacts = slices.Concat(each.Of(ended.Changes, became)...)
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

// asked returns the runner that was asked, and the model.
func asked(s *attempts.Started) [2]string { return [2]string{s.Runner, s.Model} }

// agentOf names the agent as other programs do.
func agentOf(started *attempts.Started, model string) ledgersync.Agent {
	name := kinds.Recorded(started.CLI, cmp.Or(started.Runner, started.CLI, "unknown"))
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
	return fmt.Sprintf("%d of %d pass; not: %s", passed, passed+len(failed.lines)+failed.more, strings.Join(failed.all(), "; "))
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

func (p *Projector) work(e *attempts.Event, started *attempts.Started) *ledgersync.Entry {
	planned, receipt := p.now.planned(e.Task), &e.Ended.Receipt
	entry := p.attemptEntry(e, started, kindOf(planned.Kind))
	switch entry.Type {
	case ledgersync.Bugfix:
		entry.Bugfix = bugfix(planned, receipt)
	case ledgersync.Review:
		entry.Review = inspection(receipt)
	default:
		entry.Implementation = implementation(planned, e.Ended)
	}
	return entry
}

func implementation(planned *epic.Task, ended *attempts.Ended) *ledgersync.ImplementationDetails {
	said := &ended.Receipt.Statement
	d := &ledgersync.ImplementationDetails{Feature: stated(planned.Title)}
	if said.Implementation != nil {
		d.DesignDecisions, d.BreakingChanges = said.Implementation.DesignDecisions, said.Implementation.BreakingChanges
	}
	if len(d.DesignDecisions) == 0 {
		d.DesignDecisions = decided(said.Decisions)
	}
	tests, docs := list{}, list{}
	for _, c := range ended.Changes {
		if c.Kind == attempts.FileDeleted {
			continue
		}
		if changes.IsTest(c.Path) {
			tests.add("%s", c.Path)
		}
		if isDoc(c.Path) {
			docs.add("%s", c.Path)
		}
	}
	d.TestsAdded, d.DocsUpdated = tests.all(), docs.all()
	return d
}

func isDoc(name string) bool {
	switch path.Ext(name) {
	case ".md", ".rst", ".adoc":
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(folder string) bool { return strings.HasPrefix(folder, "doc") })
}

func bugfix(planned *epic.Task, receipt *attempts.Receipt) *ledgersync.BugfixDetails {
	said := cmp.Or(receipt.Bugfix, &attempts.Bugfix{})
	d := &ledgersync.BugfixDetails{
		Symptom: stated(said.Symptom, planned.Description, planned.Title), RootCause: stated(said.RootCause),
		Fix: stated(said.Fix, receipt.Summary), RegressionRisk: stated(said.RegressionRisk),
	}
	steps := list{}
	for _, c := range receipt.Checks {
		when := ""
		if c.Phase == attempts.PhaseBaseline {
			when = " (before the work)"
		}
		steps.add("%s%s: exit %d", c.Name, when, c.ExitCode)
	}
	d.VerificationSteps = steps.all()
	return d
}

// inspection is what the agent said of code that it was to judge.
func inspection(receipt *attempts.Receipt) *ledgersync.ReviewDetails {
	said := receipt.Inspection
	if said == nil {
		return &ledgersync.ReviewDetails{OverallAssessment: stated(receipt.Summary), Scope: receipt.FilesChanged}
	}
	d := &ledgersync.ReviewDetails{Scope: said.Scope, OverallAssessment: stated(said.Assessment, receipt.Summary)}
	for _, f := range said.Findings[:min(len(said.Findings), mostItems)] {
		d.Findings = append(d.Findings, ledgersync.Finding{
			Severity: severity(f.Severity), Location: stated(f.Location), Issue: stated(f.Issue), Recommendation: stated(f.Recommendation),
		})
	}
	return d
}

// severity returns a word of the format: what is none of them says nothing.
func severity(s string) string {
	switch s = strings.ToLower(strings.TrimSpace(s)); review.Severity(s) {
	case review.Critical, review.High, review.Medium, review.Low, review.Info:
		return s
	}
	return string(review.Info)
}

// opinions records what each reviewer said. of names the attempt they were asked about; "": the whole epic.
func (p *Projector) opinions(e *attempts.Event, of string, reviewed *attempts.Reviewed, files []string) []*ledgersync.Entry {
	if reviewed == nil {
		return nil
	}
	subject := e.Task
	if of == "" {
		of, subject = e.Run+"/epic", p.now.title()
	}
	var entries []*ledgersync.Entry
	for i := range reviewed.Opinions {
		o := &reviewed.Opinions[i]
		agent := agentOf(&attempts.Started{Runner: o.Reviewer, CLI: o.CLI, Model: o.Model}, "")
		entry := p.entry(e, ledgersync.Review, "review/"+o.Reviewer, agent, of+"/review/"+o.Reviewer)
		entry.Reasoning.Intent = "to judge the work on " + subject + " before it lands"
		if e.EpicReviewed != nil {
			entry.Reasoning.Intent = "to judge all that has landed"
		}
		entry.Artifacts = each.Of(files[:min(len(files), mostItems)], func(file string) ledgersync.Artifact {
			return ledgersync.Artifact{Path: file, Action: ledgersync.Read}
		})
		assessment := string(o.Decision)
		if o.Verdict.Summary != "" {
			assessment += ": " + o.Verdict.Summary
		}
		entry.Review = &ledgersync.ReviewDetails{Scope: files, Findings: findings(o.Verdict.Findings), OverallAssessment: stated(assessment)}
		entry.SetSummary(subject + ": " + stated(assessment))
		entries = append(entries, entry)
	}
	return entries
}

func findings(in []review.Finding) []ledgersync.Finding {
	return each.Of(in[:min(len(in), mostItems)], func(f review.Finding) ledgersync.Finding {
		return ledgersync.Finding{
			Severity: severity(string(f.Severity)), Location: stated(f.Place(), f.Criterion), Issue: stated(f.Issue),
			Recommendation: stated(f.Fix),
		}
	})
}
