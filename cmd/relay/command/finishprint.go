package command

import (
	"fmt"
	"slices"
	"strings"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/text"
)

func (f *finishing) print() error {
	if f.json {
		if err := f.app.PrintJSON(f.answer); err != nil {
			return err
		}
	} else {
		f.text()
	}
	if f.answer.ExitCode != exit.OK {
		return exit.Code(f.answer.ExitCode)
	}
	return nil
}

// text tells a person what was done, what is missing, and how to take it back.
func (f *finishing) text() {
	a, w := &f.answer, f.app.Out
	if a.Request != nil {
		a.Request.Write(w)
	} else {
		fmt.Fprintln(w, f.headline())
	}
	l := status.Printer{Now: f.app.Now(), Width: terminal.Columns(f.app.Out.Dest), Dead: true}
	if len(a.Landed) > 0 {
		fmt.Fprintln(w, "in it: "+strings.TrimPrefix(terminal.Wrap(text.Some(a.Landed, status.MaxTasks), l.Width, "       "), "       "))
	}
	var in, out []*status.Task
	for i := range a.Open {
		if t := &a.Open[i]; slices.Contains(a.Again, t.ID) {
			in = append(in, t)
		} else {
			out = append(out, t)
		}
	}
	l.OpenTasks(w, "included as it was, to be done again:", in)
	l.OpenTasks(w, "not included:", out)
	l.EpicReview(w, a.Judged)
	if a.Untested && a.Request == nil {
		fmt.Fprintf(w, "%s had changed: the merged result has not been tested%s\n", a.Into, f.checks())
	}
	if a.Undo != "" && !f.dryRun {
		fmt.Fprintf(w, "undo:  %s\n", a.Undo)
	}
	if a.Request == nil && !f.step.Here && !f.dryRun && a.How != finish.NothingToLand {
		fmt.Fprintf(w, "look:  git switch %s\n", text.ShellWord(a.Into))
	}
	status.WriteRegressions(w, a.Regressions)
	a.writeTicked(w)
}

func (f *finishing) headline() string {
	a := &f.answer
	if a.How == finish.NothingToLand {
		return fmt.Sprintf("%s has everything of %s already", a.Into, a.Branch)
	}
	verb := "landed"
	if f.dryRun {
		verb = "would land"
	}
	return fmt.Sprintf("%s %s of %s on %s by %s: %.12s..%.12s", verb, text.Count(a.Commits, "commit"), a.Branch, a.Into, a.How, a.From, a.To)
}

// checks returns the commands that would test the whole.
func (f *finishing) checks() string {
	var commands []string
	for _, c := range f.plan.Epic.Checks {
		commands = append(commands, text.Line(c.Run, 100))
	}
	if len(commands) == 0 {
		return ""
	}
	return ": " + text.Some(commands, 3)
}
