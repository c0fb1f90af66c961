package taskview

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/internal/plaintext"
	"relay/orchestrator/report"
	"relay/orchestrator/text"
	"relay/review"
)

// review prints what reviewers said of the attempt, and how each acceptance criterion was proved.
func (a *Attempt) review() error {
	task, at := a.Task, a.Attempt
	r := at.Receipt.Review
	if r == nil {
		return &exit.Hinted{Err: fmt.Errorf("attempt %d of %s was not reviewed, and its task has no acceptance criteria", at.ID, task), Hint: "relay show " + task}
	}
	w, l := a.App.Out, status.Printer{Now: a.App.Now(), Width: terminal.Columns(a.App.Out.Dest)}
	fmt.Fprintf(w, "attempt %d of %s at %.12s%s\n", at.ID, task, at.Head, verdictText(at.Receipt.Verdict, r))
	for _, s := range r.Opinions {
		fmt.Fprintf(w, "  %-16s %s\n", text.Line(s.Reviewer, 40), s.Decision)
		if s.Verdict.Summary != "" {
			fmt.Fprintln(w, terminal.Wrap(s.Verdict.Summary, l.Width, "    "))
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "  %-16s no opinion\n%s\n", text.Line(m.Reviewer, 40), terminal.Wrap(m.Why, l.Width, "    "))
	}
	if at.Receipt.Findings != "" {
		fmt.Fprintf(w, "\nwhat must change:\n")
		for msg := range strings.SplitSeq(plaintext.Escape(strings.TrimSpace(at.Receipt.Findings)), "\n") {
			fmt.Fprintln(w, "  "+text.Line(msg, max(l.Width-2, 20)))
		}
	}
	writeFindings(l, w, "deferred, because it is minor", r.Deferred)
	writeFindings(l, w, "noted, because it is not about this change", r.Noted)
	writeProofs(l, w, r.Proofs, report.Covering(&at.Receipt))
	return nil
}

func verdictText(d review.Decision, r *attempts.Reviewed) string {
	msg := ""
	if d != "" {
		msg = ": " + string(d)
	}
	if r.Rounds > 0 {
		msg += ", after " + text.Count(r.Rounds, "round") + " of fixes"
	}
	if r.Split {
		msg += "; the reviewers disagree"
	}
	return msg
}

func writeFindings(l status.Printer, w io.Writer, title string, found []review.Raised) {
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, f := range found {
		where := text.Line(f.File, 100)
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		msg := strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, where)) + ": " + f.Issue
		if len(f.By) > 0 {
			msg += " (" + strings.Join(f.By, ", ") + ")"
		}
		fmt.Fprintln(w, "  - "+strings.TrimPrefix(terminal.Wrap(msg, l.Width, "    "), "    "))
	}
}

// writeProofs prints the table of acceptance criteria.
func writeProofs(l status.Printer, w io.Writer, table []review.Proof, covering []string) {
	if len(table) == 0 {
		return
	}
	fmt.Fprint(w, "\nacceptance criteria:\n")
	for i, p := range table {
		text := strings.TrimPrefix(terminal.Wrap(p.Criterion, l.Width, "     "), "     ")
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%3d. ", i+1)+text, " "))
		fmt.Fprintln(w, terminal.Wrap(report.ProofText(p, covering), l.Width, "     "))
	}
}
