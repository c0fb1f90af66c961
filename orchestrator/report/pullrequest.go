// Package report tells in the morning what a night came to, as markdown, HTML and JSON, and what a pull request says of it.
//
// The package is pure: what it tells follows from the ledger, the plan and the event log it is given.
package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
)

// Limits of a pull request's text, in bytes. Hosts take 64 KiB.
const (
	maxRequest     = 60_000
	maxRequestOpen = 20_000 // of it, for what is not in the branch
)

// PullRequest returns the text of a pull request, made of receipts. All text that an agent may have written is
// code: there it neither formats, nor mentions anybody, nor closes issues.
func PullRequest(e *epic.Epic, g *epic.Graph, l *attempts.Ledger) string {
	var landed, open []string
	for i := range e.Tasks {
		t := &e.Tasks[i]
		rec := l.Record(t.ID)
		if rec.Completed {
			landed = append(landed, landedText(t, rec))
			continue
		}
		open = append(open, openText(t, rec, l, g))
	}
	var head strings.Builder
	head.WriteString(fmt.Sprintf("%s\n\nEpic %s: %d of %s completed. Each commit names its task (`Relay-Task`).\n",
		code(e.Title, 200), code(e.ID, 100), len(landed), plaintext.Count(len(e.Tasks), "task")))
	if len(e.Checks) > 0 {
		head.WriteString("\nChecks of the whole epic, run at every landing:\n\n")
		for _, c := range e.Checks {
			head.WriteString("- " + code(c.Run, 200) + "\n")
		}
	}
	rest := requestPart("Not in this branch", open, maxRequestOpen)
	return head.String() + requestPart("Landed", landed, maxRequest-len(head.String())-len(rest)) + rest
}

// requestPart returns a heading with as many sections as there is room for.
func requestPart(title string, sections []string, room int) string {
	if len(sections) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", title)
	for i, s := range sections {
		if b.Len()+len(s)+100 > room {
			fmt.Fprintf(&b, "\nand %s more\n", plaintext.Count(len(sections)-i, "task"))
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// landedText returns one completed task: what its agent says it did, and what proved it.
func landedText(t *epic.Task, rec *attempts.TaskRecord) string {
	var at attempts.Attempt
	for _, a := range rec.Attempts {
		if a.Result == attempts.ResultSuccess {
			at = a
		}
	}
	text := fmt.Sprintf("\n### %s %s\n", t.ID, code(t.Title, 200))
	if n := len(rec.Attempts); n > 1 {
		text += fmt.Sprintf("\nIt took %d attempts.\n", n)
	}
	text += block(at.Receipt.Summary)
	if said := said(t.ID, "", &at.Receipt.Statement); said != "" {
		text += "\n" + said
	}
	if len(at.Receipt.Checks)+len(at.Receipt.Verdict) == 0 {
		return text + "\nUnverified: no check and no reviewer.\n"
	}
	text += "\n"
	for i := range at.Receipt.Checks {
		text += checkRow(&at.Receipt.Checks[i])
	}
	if at.Receipt.Verdict != "" {
		text += "- verdict: " + code(string(at.Receipt.Verdict), 40) + "\n"
	}
	return text
}

// openText returns one task that is not in the branch, with the reason.
func openText(t *epic.Task, rec *attempts.TaskRecord, l *attempts.Ledger, g *epic.Graph) string {
	why := "Not begun.\n"
	switch status := l.StatusOf(g, t.ID); {
	case status == attempts.Gated:
		why = "Gated: " + rec.Gate.Reason.Words() + "\n" + block(rec.Gate.Detail)
	case status == attempts.BlockedOn:
		why = "Waits for " + plaintext.Some(l.WaitsFor(g, t.ID), 8) + ".\n"
	case len(rec.Attempts) > 0:
		why = "Not done yet.\n" + block(rec.Attempts[len(rec.Attempts)-1].Receipt.ErrorSummary)
	}
	return fmt.Sprintf("\n### %s %s\n\n%s", t.ID, code(t.Title, 200), why)
}

// checkRow returns one acceptance command as relay ran it, in a list.
func checkRow(c *attempts.CheckRun) string {
	text := fmt.Sprintf("- %s: exit code %d (%s, %.1f s)", code(c.Name, 200), c.ExitCode, c.PhaseText(), c.Seconds)
	if c.Attribution != "" {
		text += ", " + AttributionWords[c.Attribution]
	}
	return text + "\n"
}
