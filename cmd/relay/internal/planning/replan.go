package planning

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/grouping"
	"relay/epic/importer"
	"relay/epic/plaintext"
	"relay/epic/update"
)

// Update is what a plan changes in an epic. Its exported fields are what relay init --update --json prints.
type Update struct {
	Version int           `json:"version"`
	Source  string        `json:"source"`
	Added   []update.Task `json:"added"`
	Changed []update.Task `json:"changed"`
	Removed []update.Task `json:"removed"`
	Kept    []update.Task `json:"kept"` // the plan has them no more
	Epic    []string      `json:"epic"` // fields beside the tasks
	Left    []update.Task `json:"left"` // fields that the plan gives no more, and that stay; those of the epic have no id
	Written bool          `json:"written"`

	epicText, madeText []byte
	plan               *importer.Plan
	has                *project.Plan
	ledger             *attempts.Ledger
	running            bool
}

// ReadUpdate reads the plan again; with r.Written "" the one that the epic names. The error is epic.Problems when the plan, or what would
// become of epic.yml, has mistakes.
func ReadUpdate(ctx context.Context, p *project.Project, pl *project.Plan, r PlanRequest) (*Update, error) {
	made, err := project.Imported(p, pl.Epic)
	if err != nil {
		return nil, err
	}
	view, err := p.View(pl)
	if err != nil {
		return nil, err
	}
	plan, err := again(ctx, p, pl.Epic, r)
	if err != nil {
		return nil, err
	}
	tried := func(id string) bool {
		rec := view.Ledger.Record(id)
		return rec.Completed || rec.Gate != nil || len(rec.Attempts) > 0
	}
	gated := func(id string) bool { return view.Ledger.Record(id).Gate != nil }
	known := func(id string) bool { return view.Ledger.Tasks[id] != nil }
	m := update.Merge(update.Input{Made: made, Have: pl.Epic, Plan: plan.Epic, Taken: known, Tried: tried, Gated: gated})
	u := &Update{Version: 1, Source: cmp.Or(r.Written, plan.Epic.Source), plan: plan, has: pl, ledger: view.Ledger, running: view.Running}
	u.Added, u.Changed, u.Removed, u.Kept = list(m.Added), list(m.Changed), list(m.Removed), list(m.Kept)
	u.Epic, u.Left = append([]string{}, m.Whole...), list(m.Left)
	if len(m.LeftWhole) > 0 {
		u.Left = append(u.Left, update.Task{Title: "the epic", Fields: m.LeftWhole})
	}
	if u.epicText, err = m.Epic.Encode(); err != nil {
		return nil, err
	}
	if _, err := epic.Read("epic.yml as it would be", u.epicText); err != nil {
		return nil, err
	}
	m.Made.ID = pl.Epic.ID
	u.madeText, err = m.Made.Encode()
	return u, err
}

func list(tasks []update.Task) []update.Task { return append([]update.Task{}, tasks...) }

// agentsDocument returns the document of which an agent made the epic; "" if there is none that could be read again.
func agentsDocument(e *epic.Epic) string {
	for i := range e.Tasks {
		if m := sourceForm.FindStringSubmatch(e.Tasks[i].Source); m != nil && m[3] == "" && m[1] != "stdin" {
			return m[1]
		}
	}
	return ""
}

// again reads the plan. Rules read no document that an agent has read: they would find other tasks in it.
func again(ctx context.Context, p *project.Project, e *epic.Epic, r PlanRequest) (*importer.Plan, error) {
	document := agentsDocument(e)
	if r.Written == "" && r.GitHub == nil {
		source := cmp.Or(document, e.Source)
		if source == "" {
			return nil, &terminal.UsageError{Message: "epic.yml does not say which plan it was made of", Hint: "name it: relay init --update FILE"}
		}
		r.Written, r.Path = source, p.Abs(source)
		if _, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, &terminal.Hinted{
				Err: fmt.Errorf("the plan that this epic was made of is gone: there is no %s", plaintext.Fit(source, 200)), Code: terminal.Invalid,
				Hint: "name it where it is now: relay init --update FILE\nof issues on GitHub: relay init --update --milestone NAME, or --issues N",
			}
		}
	}
	plan, err := ReadPlan(ctx, p, r)
	if document != "" && (err == nil && agentsDocument(plan.Epic) == "" || err != nil && filepath.Base(r.Path) == path.Base(document)) {
		return nil, &terminal.Hinted{
			Code: terminal.Invalid, Err: fmt.Errorf("an agent has read %s for this epic, and relay's rules would read it otherwise: nothing is changed", plaintext.Fit(document, 200)),
			Hint: "relay plan " + plaintext.ShellWord(document) + " --force reads it again\n" +
				"to keep what is done, answer n, then: relay init --update FILE, with the file that it names",
		}
	}
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(plan.Epic.Groups, func(g epic.Group) bool {
		return slices.ContainsFunc(e.Tasks, func(t epic.Task) bool { return strings.HasSuffix(t.Source, " ("+g.Name+")") })
	}) {
		grouping.ByHeading(plan)
	}
	return plan, nil
}

// Tasks counts what is to be changed.
func (u *Update) Tasks() int {
	return cmp.Or(len(u.Added)+len(u.Changed)+len(u.Removed), len(u.Epic))
}

// Write brings epic.yml up to date. Where nothing changes, it stays as it is to the byte.
func (u *Update) Write(p *project.Project) error {
	text := u.epicText
	u.Written = u.Tasks() > 0
	if !u.Written {
		text = u.has.Source
	}
	return project.UpdateEpic(p, u.has, text, u.madeText)
}

// Print says what is to be changed.
func (u *Update) Print(w io.Writer) {
	WriteTold(w, u.plan)
	for _, t := range u.Added {
		fmt.Fprintf(w, "new      %s%s  %s\n", t.ID, inPlan(t), plaintext.Fit(t.Title, 60))
	}
	for _, t := range u.Changed {
		u.printChanged(w, t)
	}
	for _, t := range u.Removed {
		why := ""
		if u.ledger.Record(t.ID).Gate != nil {
			why = ": it is gated, and the plan has it no more; its records stay"
		}
		fmt.Fprintf(w, "gone     %s  %s%s\n", t.ID, plaintext.Fit(t.Title, 60), why)
	}
	for _, t := range u.Kept {
		why := "the plan has it no more, and it was tried or edited in epic.yml"
		if u.ledger.Record(t.ID).Completed {
			why = "it is completed, and nothing to do in the plan any more"
		}
		fmt.Fprintf(w, "kept     %s  %s: %s\n", t.ID, plaintext.Fit(t.Title, 60), why)
	}
	for _, t := range u.Left {
		name := t.Title
		if t.ID != "" {
			name = t.ID + inPlan(t) + "  " + plaintext.Fit(t.Title, 60)
		}
		fmt.Fprintf(w, "stays    %s (%s): unchanged, though the plan no longer has it; edit epic.yml to remove it\n", name, strings.Join(t.Fields, ", "))
	}
	if len(u.Epic) > 0 {
		fmt.Fprintf(w, "the epic: %s changed\n", strings.Join(u.Epic, ", "))
	}
	if u.Tasks() > 0 && bytes.Contains(u.has.Source, []byte("#")) {
		fmt.Fprintln(w, "comments of epic.yml, where it has any, are not carried over; the old file is kept as epic.yml.old")
	}
}

// PrintEnd says what has come of it, and what to do next; as JSON, all that there is to say.
func (u *Update) PrintEnd(a *cli.App, p *project.Project, asJSON bool) error {
	switch {
	case asJSON:
		return a.PrintJSON(u)
	case u.Tasks() == 0:
		fmt.Fprintf(a.Out, "epic.yml is up to date with %s\n", plaintext.Fit(u.Source, 200))
	case !u.Written:
		fmt.Fprintln(a.Out, "nothing is written")
	default:
		next := "relay work"
		if view, err := p.View(u.has); err == nil && view.Running {
			next = "relay reload    applies it to the current run"
		}
		fmt.Fprintf(a.Out, "written: %s\nnext:  %s\n", p.Rel(p.File("epic.yml")), next)
	}
	return nil
}

// printChanged says what of a task changes, and what does not follow from that.
func (u *Update) printChanged(w io.Writer, t update.Task) {
	fmt.Fprintf(w, "changed  %s%s  %s (%s)\n", t.ID, inPlan(t), plaintext.Fit(t.Title, 60), strings.Join(t.Fields, ", "))
	if t.Now != "" {
		fmt.Fprintf(w, "         its title is now %q\n", plaintext.Fit(t.Now, 60))
	}
	if len(t.Over) > 0 {
		fmt.Fprintf(w, "         %s had been edited in epic.yml too, and is taken from the plan\n", strings.Join(t.Over, ", "))
	}
	switch rec := u.ledger.Record(t.ID); {
	case rec.Completed:
		fmt.Fprintf(w, "         %s is completed, and stays so: what is new in it is for a task of its own\n", t.ID)
	case u.running && len(rec.Attempts) > 0 && rec.Attempts[len(rec.Attempts)-1].EndedAt.IsZero():
		fmt.Fprintf(w, "         %s is at work on the old text: relay stop %s ends that attempt\n", t.ID, t.ID)
	case rec.Gate != nil:
		fmt.Fprintf(w, "         %s is gated, and stays so: relay ungate %s to try it again\n", t.ID, t.ID)
	}
}

func inPlan(t update.Task) string {
	if t.InPlan == "" {
		return ""
	}
	return " (" + plaintext.Fit(t.InPlan, 40) + " in the plan)"
}
