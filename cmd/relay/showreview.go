package main

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
	"relay/review"
)

// tellReview shows what reviewers said of an attempt, and how each acceptance criterion was proved.
func (a *app) tellReview(task string, at *attempts.Attempt) error {
	r := at.Receipt.Review
	if r == nil {
		return &exit.Hinted{Err: fmt.Errorf("attempt %d of %s was not reviewed, and its task has no acceptance criteria", at.ID, task), Hint: "relay show " + task}
	}
	w, l := a.out, status.Printer{Now: a.now(), Width: terminal.Columns(a.out.Dest)}
	fmt.Fprintf(w, "attempt %d of %s at %.12s%s\n", at.ID, task, at.Head, verdictText(at.Receipt.Verdict, r))
	for _, s := range r.Said {
		fmt.Fprintf(w, "  %-16s %s\n", line(s.Reviewer, 40), s.Decision)
		if s.Verdict.Summary != "" {
			fmt.Fprintln(w, terminal.Wrap(s.Verdict.Summary, l.Width, "    "))
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "  %-16s no opinion\n%s\n", line(m.Reviewer, 40), terminal.Wrap(m.Why, l.Width, "    "))
	}
	if at.Receipt.Findings != "" {
		fmt.Fprintf(w, "\nwhat must change:\n")
		for text := range strings.SplitSeq(safe(strings.TrimSpace(at.Receipt.Findings)), "\n") {
			fmt.Fprintln(w, "  "+line(text, max(l.Width-2, 20)))
		}
	}
	tellFindings(l, w, "put off, for it is not grave", r.Deferred)
	tellFindings(l, w, "noted, for it is not about this change", r.Noted)
	tellProofs(l, w, r.Proofs)
	return nil
}

func verdictText(d review.Decision, r *attempts.Reviewed) string {
	text := ""
	if d != "" {
		text = ": " + string(d)
	}
	if r.Rounds > 0 {
		text += ", after " + count(r.Rounds, "round") + " of mending"
	}
	if r.Split {
		text += "; the reviewers disagree"
	}
	return text
}

func tellFindings(l status.Printer, w io.Writer, title string, found []review.Raised) {
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, f := range found {
		where := line(f.File, 100)
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		text := strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, where)) + ": " + f.Issue
		if len(f.By) > 0 {
			text += " (" + strings.Join(f.By, ", ") + ")"
		}
		fmt.Fprintln(w, "  - "+strings.TrimPrefix(terminal.Wrap(text, l.Width, "    "), "    "))
	}
}

// tellProofs is the table of criteria.
func tellProofs(l status.Printer, w io.Writer, table []review.Proof) {
	if len(table) == 0 {
		return
	}
	fmt.Fprint(w, "\nacceptance criteria:\n")
	for i, p := range table {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%3d. ", i+1)+strings.TrimPrefix(terminal.Wrap(p.Criterion, l.Width, "     "), "     "), " "))
		fmt.Fprintln(w, terminal.Wrap(report.Proved(p), l.Width, "     "))
	}
}
