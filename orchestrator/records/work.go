package records

import (
	"fmt"
	"path"
	"strings"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/orchestrator/changes"
	"relay/review"
)

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
	for folder := range strings.SplitSeq(path.Dir(name), "/") {
		if strings.HasPrefix(folder, "doc") {
			return true
		}
	}
	return false
}

func bugfix(planned *epic.Task, receipt *attempts.Receipt) *ledgersync.BugfixDetails {
	said := receipt.Bugfix
	if said == nil {
		said = &attempts.Bugfix{}
	}
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
		agent := agentOf(&attempts.Started{CLI: o.Reviewer, Model: o.Model}, "")
		entry := p.entry(e, ledgersync.Review, "review/"+o.Reviewer, agent, of+"/review/"+o.Reviewer)
		entry.Reasoning.Intent = "to judge the work on " + subject + " before it lands"
		if e.EpicReviewed != nil {
			entry.Reasoning.Intent = "to judge all that has landed"
		}
		for _, file := range files[:min(len(files), mostItems)] {
			entry.Artifacts = append(entry.Artifacts, ledgersync.Artifact{Path: file, Action: ledgersync.Read})
		}
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
	var out []ledgersync.Finding
	for _, f := range in[:min(len(in), mostItems)] {
		out = append(out, ledgersync.Finding{
			Severity: severity(string(f.Severity)), Location: stated(location(f.File, f.Line), f.Criterion), Issue: stated(f.Issue),
			Recommendation: stated(f.Fix),
		})
	}
	return out
}

func location(file string, line int) string {
	if file == "" || line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// located puts a location before what is said of it.
func located(file string, line int, issue string) string {
	if where := location(file, line); where != "" {
		return where + ": " + issue
	}
	return issue
}
