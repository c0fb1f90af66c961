package planning

import (
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
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/grouping"
	"relay/epic/importer"
	"relay/epic/plaintext"
)

// PlanRequest says what is to be read.
type PlanRequest struct {
	Written string    // the path as the user wrote it
	Path    string    // the same, from the working directory
	From    string    // name of the form; "" : found out
	Checks  []string  // commands that become checks of the epic
	GitHub  *GitHub   // whose issues are read in the place of a file
	Now     time.Time // of the epic's id
	Group   bool      // one task for each heading
}

// FormatNames returns what Request.From may be.
func FormatNames() []string {
	return append(each.Of(importer.Formats(), func(f importer.Format) string { return f.Name }), blueprintName)
}

const blueprintName = "blueprint"

// InitAnswer is what relay init --json prints.
type InitAnswer struct {
	ID        string                `json:"id"`
	Title     string                `json:"title"`
	Path      string                `json:"path"`
	Tasks     int                   `json:"tasks"`
	Archived  string                `json:"archived,omitempty"`
	Branch    string                `json:"archived_branch,omitempty"` // has what the archived epic has landed
	DryRun    bool                  `json:"dry_run,omitempty"`
	Warnings  []project.TaskWarning `json:"warnings"`
	Completed []string              `json:"completed,omitempty"` // tasks, as the branch that was adopted says
	Format    string                `json:"format,omitempty"`    // of another tool
	Done      int                   `json:"done,omitempty"`      // tasks that are done there, and left out
	Headings  int                   `json:"headings,omitempty"`  // of the plan's file
	Boxes     int                   `json:"boxes,omitempty"`
	Told      []importer.Told       `json:"told,omitempty"` // lines of which nothing was made
	Offered   []importer.Offered    `json:"offered,omitempty"`
}

// ReadPlan reads it. The epic remembers it by its path from the repository's root. The error is epic.Problems where the plan is at fault.
func ReadPlan(ctx context.Context, p *project.Project, r PlanRequest) (*importer.Plan, error) {
	plan, err := readFrom(ctx, p, r)
	if err != nil {
		return nil, err
	}
	if r.Group && !grouping.ByHeading(plan) {
		return nil, &terminal.UsageError{Message: r.Written + " has no headings with tasks that --group could join", Hint: "leave --group out"}
	}
	AddChecks(plan, r.Checks)
	return plan, epic.Validate(r.Written, plan.Epic, func(epic.Ref) epic.Place { return epic.Place{Line: 1, Column: 1} })
}

func readFrom(ctx context.Context, p *project.Project, r PlanRequest) (*importer.Plan, error) {
	if r.GitHub != nil {
		return r.GitHub.Read(ctx, r.Now)
	}
	absolute, err := filepath.Abs(r.Path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = real
	}
	if r.From != blueprintName {
		plan, err := readOther(p, r, absolute)
		if plan != nil || err != nil {
			return plan, err
		}
	}
	src, err := project.ReadFile(r.Path, project.MaxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no %s", r.Path)
	}
	if err != nil {
		return nil, &terminal.Hinted{Err: fmt.Errorf("read the blueprint: %w", err), Hint: "name a markdown document with a title and tasks: relay init --help"}
	}
	plan, err := blueprint.Parse(r.Written, src, r.Now)
	if err != nil {
		return nil, err
	}
	plan.Epic.Source = cmp.Or(agentsDocument(plan.Epic), p.Rel(absolute))
	return plan, nil
}

// AddChecks makes commands checks of the epic, each once. They are no longer offered.
func AddChecks(plan *importer.Plan, commands []string) {
	for _, run := range commands {
		if !isCheck(plan.Epic, run) {
			plan.Epic.Checks = append(plan.Epic.Checks, epic.Check{Name: run, Run: run, Expect: epic.ExpectPass})
		}
	}
	plan.Offered = slices.DeleteFunc(plan.Offered, func(o importer.Offered) bool { return isCheck(plan.Epic, o.Run) })
}

func isCheck(e *epic.Epic, run string) bool {
	return slices.ContainsFunc(e.Checks, func(c epic.Check) bool { return c.Run == run })
}

// readOther reads a plan in the form of another tool; nil for a file that is in none, a blueprint.
func readOther(p *project.Project, r PlanRequest, absolute string) (*importer.Plan, error) {
	folder, name, shown := p.Root, p.Rel(absolute), ""
	if filepath.IsAbs(filepath.FromSlash(name)) { // elsewhere
		folder, name = filepath.Dir(absolute), filepath.Base(absolute)
		shown = filepath.ToSlash(folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := root.FS()
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, nil // a blueprint says so in its own words
	}
	found := importer.Find(files, name)
	if r.From != "" {
		format, known := importer.Named(r.From)
		if !known {
			return nil, &terminal.UsageError{
				Message: "there is no form of plans " + plaintext.Fit(r.From, 40), Hint: "one of " + strings.Join(FormatNames(), ", "),
			}
		}
		found = slices.DeleteFunc(found, func(f importer.Found) bool { return f.Format.Name != r.From })
		if !info.IsDir() {
			return importer.Read(format, files, name, shown, r.Now) // whatever it looks like
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Read(shown, r.Now)
	case len(found) > 1:
		return nil, ambiguous(r, found, shown)
	case info.IsDir():
		return nil, &terminal.Hinted{
			Err: fmt.Errorf("%s is a folder in which no plan was found", r.Written), Code: terminal.Invalid,
			Hint: "name the file of the plan; relay init --help lists the forms",
		}
	}
	// Of a file of data that no form claims, the form that it may be says what is wrong with it, and where.
	form := map[string]string{".json": "taskmaster", ".jsonl": "beads"}[path.Ext(name)]
	if format, ok := importer.Named(form); ok {
		return importer.Read(format, files, name, shown, r.Now)
	}
	return nil, nil
}

// ambiguous says which plans there are.
func ambiguous(r PlanRequest, found []importer.Found, shown string) error {
	hints := each.Of(found[:min(len(found), 10)], func(f importer.Found) string {
		return "relay init " + plaintext.ShellWord(path.Join(shown, f.File))
	})
	return &terminal.Hinted{
		Err: fmt.Errorf("%s holds %d plans: name one of them", r.Written, len(found)), Code: terminal.Invalid, Hint: strings.Join(hints, "\n"),
	}
}

// mostTold is how many lines of a plan are named of which nothing was made.
const mostTold = 20

// WriteTold says what came of a plan in the form of another tool.
func WriteTold(w io.Writer, plan *importer.Plan) {
	if plan.Format == "github" {
		fmt.Fprintf(w, "read from GitHub; %s closed there, and left out\n", plaintext.Count(plan.Done, "issue"))
	}
	if format, other := importer.Named(plan.Format); other {
		what := format.Name
		if format.Tool != "" {
			what = "plan of " + format.Tool
		}
		fmt.Fprintf(w, "read as a %s", what)
		if plan.Done > 0 {
			fmt.Fprintf(w, "; %s done there, and left out", plaintext.Count(plan.Done, "task"))
		}
		fmt.Fprintln(w)
	}
	for i, t := range plan.Told {
		if i == mostTold {
			fmt.Fprintf(w, "and %d more lines; --json names all of them\n", len(plan.Told)-i)
			break
		}
		fmt.Fprintln(w, plaintext.Fit(t.String(), 300))
	}
}

// FreeDocument returns the document that rules have read if it is in its author's own form, and what they find in it; "" for plans in
// other forms, in which rules need not guess. failed is the error of the rules.
func FreeDocument(p *project.Project, file string, plan *importer.Plan, failed error) (document, found string) {
	problems, ok := errors.AsType[epic.Problems](failed)
	switch {
	case ok && strings.HasSuffix(problems[0].Hint, blueprint.Form):
		return file, "no task"
	case failed != nil:
		return "", ""
	}
	leaves := slices.ContainsFunc(plan.Told, func(t importer.Told) bool { return !t.Beside })
	if plan.Format != "planmode" && (plan.Format != "checklist" || !leaves) { // a list of boxes alone is a form
		return "", ""
	}
	if source := plan.Epic.Source; filepath.Base(file) != path.Base(source) { // in the folder that was named
		file = p.Abs(source)
	}
	return file, plaintext.Count(len(plan.Epic.Tasks), "task") + " and leave out " + plaintext.Count(len(plan.Told), "line")
}

// Reader returns the agent that would read a document; "" if there is none.
func Reader(p *project.Project) string {
	if names, _ := agents(p, ""); len(names) > 0 {
		return names[0]
	}
	return ""
}

// WriteOffered says which commands of the plan are no checks of the epic, and how they become ones.
func WriteOffered(w io.Writer, plan *importer.Plan, written string) {
	if len(plan.Offered) == 0 {
		return
	}
	fmt.Fprintf(w, "%s:%d: %s may be meant for checks of the epic, and relay does not use them as checks:\n", plan.Offered[0].File, plan.Offered[0].Line, plaintext.Count(len(plan.Offered), "command"))
	command := []string{"relay init", plaintext.ShellWord(written)}
	for _, o := range plan.Offered {
		fmt.Fprintf(w, "  %s\n", plaintext.Fit(o.Run, 200))
		command = append(command, "--checks", plaintext.ShellWord(o.Run))
	}
	fmt.Fprintf(w, "take them: %s\n", plaintext.Fit(strings.Join(command, " "), 2000))
}

// ProposeGroups makes one task for each heading of a plan with many small tasks, if a person has agreed, or does when asked.
func ProposeGroups(a *cli.App, plan *importer.Plan, agreed, ask bool) {
	few, n := *plan, len(plan.Epic.Tasks)
	if n <= grouping.ManyTasks || !grouping.ByHeading(&few) {
		return
	}
	fmt.Fprintf(a.Err, "relay: %d tasks are many small ones: --group makes %d of them, one for each heading\n", n, len(few.Epic.Tasks))
	if agreed || ask && a.CanAsk() && a.Confirm("make one task for each heading?") {
		*plan = few
	}
}

// WritePeople lists the tasks that wait for a person.
func WritePeople(w io.Writer, e *epic.Epic) {
	for i := range e.Tasks {
		if t := &e.Tasks[i]; t.Kind == epic.KindPerson {
			fmt.Fprintf(w, "%s waits for a person: %s (relay approve %s when it is done)\n", t.ID, plaintext.Fit(t.Title, 60), t.ID)
		}
	}
}

// WriteRead says how much of a plan was read, made and left out.
func WriteRead(w io.Writer, plan *importer.Plan) {
	criteria, checks, count := 0, len(plan.Epic.Checks), plaintext.Count
	for i := range plan.Epic.Tasks {
		criteria, checks = criteria+len(plan.Epic.Tasks[i].Criteria), checks+len(plan.Epic.Tasks[i].Checks)
	}
	fmt.Fprintf(w, "read: %s, %d %s; made: %s, %d %s, %s; left out: %s done there, %s named above, %s offered\n",
		count(plan.Headings, "heading"), plan.Boxes, plaintext.Verb(plan.Boxes, "box", "boxes"),
		count(len(plan.Epic.Tasks), "task"), criteria, plaintext.Verb(criteria, "criterion", "criteria"), count(checks, "check"),
		count(plan.Done, "task"), count(len(plan.Told), "line"), count(len(plan.Offered), "command"))
}
