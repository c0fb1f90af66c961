package learn

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/learnings"
	"relay/orchestrator/text"
)

func writer(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

// Options are the flags of relay learn, and what it reads.
type Options struct {
	Apply, JSON bool
	View        *attempts.View // the ledger as it is now
}

// Run prints what the agents of an epic have learned, and proposes or makes the change of AGENTS.md.
func Run(a *cli.App, p *project.Project, pl *project.Plan, o Options) error {
	view := o.View
	if o.Apply && view.Running {
		return &exit.Hinted{Err: errors.New("a run is active: AGENTS.md is left alone until it ends"), Hint: "relay learn shows what there is so far", Code: exit.Running}
	}
	found := Find(p, pl, view.Ledger)
	var failed error
	if o.Apply {
		failed = found.Apply()
	} else {
		failed = found.Problem
	}
	if o.JSON {
		return errors.Join(a.PrintJSON(found.answer(o.Apply && failed == nil)), failed)
	}
	found.print(a)
	if failed != nil {
		return failed
	}
	if o.Apply {
		found.told(a.Out)
		return nil
	}
	return found.propose(a)
}

// print shows how far the epic is, and the learnings.
func (f *Finding) print(a *cli.App) {
	if f.Complete() {
		fmt.Fprintln(a.Out, "the epic is complete")
	} else {
		fmt.Fprintf(a.Out, "%d of %d tasks are completed: this is what there is so far\n", f.Completed, f.Tasks)
	}
	if len(f.Groups) == 0 {
		fmt.Fprint(a.Out, "\nno agent has left a learning\n")
		return
	}
	fmt.Fprintln(a.Out)
	width := max(terminal.Columns(a.Out.Dest), 40)
	for i := range f.Groups {
		g := &f.Groups[i]
		fmt.Fprintf(a.Out, "%-9s  %-8s  %s\n", g.Strength(), text.Count(len(g.Tasks), "task"), text.Some(g.Tasks, 8))
		fmt.Fprintln(a.Out, terminal.Wrap(g.Text, width, "           "))
	}
	fmt.Fprintln(a.Out)
}

// propose prints the patch.
func (f *Finding) propose(a *cli.App) error {
	if len(f.Files) == 0 {
		f.told(a.Out)
		return nil
	}
	fmt.Fprintf(a.Out, "relay learn --apply adds %s:\n\n", f.where())
	for i := range f.Files {
		if _, err := io.WriteString(a.Raw(), f.Files[i].Patch()); err != nil {
			return err
		}
	}
	return nil
}

// told says what has been added, or why nothing is.
func (f *Finding) told(w io.Writer) {
	worth := false
	for i := range f.Groups {
		worth = worth || f.Groups[i].Worth()
	}
	switch {
	case len(f.Files) > 0:
		fmt.Fprintf(w, "added %s; nothing is committed\n", f.where())
	case len(f.Groups) == 0: // that has been said
	case worth:
		fmt.Fprintln(w, "AGENTS.md has what is to be recommended already")
	default:
		fmt.Fprintln(w, "nothing to recommend: that takes three tasks that say the same")
	}
}

// where says how many learnings go into which files.
func (f *Finding) where() string {
	var parts []string
	for i := range f.Files {
		parts = append(parts, text.Count(len(f.Files[i].Added), "learning")+" to "+f.Files[i].Name)
	}
	return strings.Join(parts, ", ")
}

// End is a run that has ended: the ledger as it is now, and where to tell.
type End struct {
	Ledger *attempts.Ledger
	Out    io.Writer
}

// AtEnd tells at the end of a run that completed the epic what was learned, or writes it into AGENTS.md, as relay.learn says. What
// goes wrong is a warning: the run is not judged by it.
func AtEnd(a *cli.App, p *project.Project, pl *project.Plan, e End) {
	mode := p.Config.Relay.Learn
	if mode == "off" {
		return
	}
	found := Find(p, pl, e.Ledger)
	switch {
	case !found.Complete():
	case mode == "apply":
		if err := found.Apply(); err != nil {
			fmt.Fprintf(a.Err, "relay: warning: what was learned is not applied: %s; relay learn shows it\n", exit.Message(err))
		} else if len(found.Files) > 0 {
			found.told(e.Out)
		}
	case found.Added() > 0:
		fmt.Fprintf(e.Out, "%s: relay learn%s\n", text.Count(found.Added(), "learning"), p.EpicFlag())
	}
}

// answer is what relay learn --json prints.
type answer struct {
	Version   int          `json:"version"`
	Complete  bool         `json:"complete"`
	Completed int          `json:"completed"`
	Tasks     int          `json:"tasks"`
	Learnings []learning   `json:"learnings"`
	Files     []fileAnswer `json:"files"`
	Applied   bool         `json:"applied"`
}

type learning struct {
	Text     string             `json:"text"`
	Strength learnings.Strength `json:"strength"`
	Count    int                `json:"count"`
	Tasks    []string           `json:"tasks"`
	Tags     []string           `json:"tags,omitempty"`
}

type fileAnswer struct {
	File  string   `json:"file"`
	New   bool     `json:"new,omitempty"`
	Added []string `json:"added"`
	Patch string   `json:"patch"`
}

func (f *Finding) answer(applied bool) answer {
	out := answer{
		Version: 1, Complete: f.Complete(), Completed: f.Completed, Tasks: f.Tasks, Learnings: []learning{}, Files: []fileAnswer{},
		Applied: applied && len(f.Files) > 0,
	}
	for i := range f.Groups {
		g := &f.Groups[i]
		out.Learnings = append(out.Learnings, learning{g.Text, g.Strength(), len(g.Tasks), g.Tasks, g.Tags})
	}
	for i := range f.Files {
		one := fileAnswer{File: f.Files[i].Name, New: f.Files[i].New, Patch: f.Files[i].Patch()}
		for j := range f.Files[i].Added {
			one.Added = append(one.Added, f.Files[i].Added[j].Text)
		}
		out.Files = append(out.Files, one)
	}
	return out
}
