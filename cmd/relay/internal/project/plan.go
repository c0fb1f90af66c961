package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/segmentio/encoding/json"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/runners"
)

// MaxPlan bounds epic.yml and blueprints, in bytes.
const MaxPlan = 16 << 20

// Plan is an epic, with its text and graph.
type Plan struct {
	Source []byte
	Epic   *epic.Epic
	Graph  *epic.Graph
}

// Plan reads and validates the epic of this project.
func (p *Project) Plan() (*Plan, error) { return p.plan(ParsePlan) }

func (p *Project) plan(parse func(name string, src []byte) (*Plan, error)) (*Plan, error) {
	path := p.File("epic.yml")
	src, err := ReadFile(path, MaxPlan)
	var odd *plaintext.IrregularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint := "make one from a blueprint: relay init BLUEPRINT.md"
		if ids := Listed(p); len(ids) > 0 {
			hint = "epics of a playlist are here, and --epic names one: " + plaintext.Some(ids, 10) +
				"\nrelay status --playlist FILE shows how the list stands"
		}
		return nil, &terminal.Hinted{Err: fmt.Errorf("there is no epic here (%s)", p.Rel(path)), Hint: hint}
	case errors.As(err, &odd):
		return nil, &terminal.Hinted{
			Err: &plaintext.IrregularError{Path: p.Rel(path), Kind: odd.Kind}, Code: terminal.Invalid,
			Hint: "remove it, and restore the plan\nthe plan of each run is in " + p.Rel(p.File(attempts.RunsDir)),
		}
	case err != nil:
		return nil, err
	}
	return parse(p.Rel(path), src)
}

// ParsePlan reads a plan from the text of epic.yml; name is what its mistakes are reported under.
func ParsePlan(name string, src []byte) (*Plan, error) {
	e, err := epic.Read(name, src)
	if err != nil {
		return nil, err
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		return nil, err
	}
	return &Plan{Source: src, Epic: e, Graph: g}, nil
}

// longPlan is from how many bytes on a run keeps its plan in [attempts.SeenPlan], as viewers read it: the YAML of 10,000 tasks takes them
// longer than all else. A line with a hash of the rest and of the text it was made of comes first. No run works by it.
const longPlan = 64 << 10

// Seen returns a long plan as viewers read it; nil: they read epic.yml.
func (p *Plan) Seen() []byte {
	seen, err := json.Marshal(p.Epic)
	if err != nil || len(p.Source) <= longPlan {
		return nil
	}
	return append(attempts.Seal(RelayVersion(), p.Source, seen), seen...)
}

// see reads a plan from the text of epic.yml for those who only look.
func (p *Project) see(name string, src []byte) (*Plan, error) {
	pl := &Plan{Source: src, Epic: &epic.Epic{}}
	if len(src) > longPlan {
		text, err := ReadFile(p.File(attempts.SeenPlan), MaxPlan)
		_, seen, _ := bytes.Cut(text, []byte("\n"))
		pl.Epic.Tasks = make([]epic.Task, 0, bytes.Count(text, []byte(`"ID":`))) // the decoder begins with room for ten
		if err == nil && bytes.HasPrefix(text, attempts.Seal(RelayVersion(), src, seen)) && json.Unmarshal(seen, pl.Epic) == nil {
			for i := range pl.Epic.Tasks {
				pl.Epic.Tasks[i].DependsOn = slices.Clone(pl.Epic.Tasks[i].DependsOn)
			}
			if pl.Graph, err = epic.NewGraph(pl.Epic); err == nil {
				return pl, nil
			}
		}
	}
	return ParsePlan(name, src)
}

// Task finds a task by the id a user typed.
func (p *Plan) Task(id string) (*epic.Task, error) {
	if t, ok := p.Epic.Task(id); ok {
		return t, nil
	}
	for i := range p.Epic.Tasks {
		if strings.EqualFold(p.Epic.Tasks[i].ID, id) {
			return nil, &terminal.UsageError{Message: fmt.Sprintf("there is no task %s in this epic", terminal.Quote(id)), Hint: "did you mean " + p.Epic.Tasks[i].ID + "?"}
		}
	}
	return nil, &terminal.UsageError{Message: fmt.Sprintf("there is no task %s in this epic", terminal.Quote(id)), Hint: "relay status --verbose lists the tasks"}
}

// RunPlanFile returns the path of the plan that a run began with.
func RunPlanFile(p *Project, run string) string { return p.File(attempts.RunsDir, run, "epic.yml") }

// RunPlanSource reads the plan a run began with; nil when it is not there.
func RunPlanSource(p *Project, run string) []byte {
	if run == "" {
		return nil
	}
	source, err := ReadFile(RunPlanFile(p, run), MaxPlan)
	if err != nil {
		return nil
	}
	return source
}

// RunPlan returns the plan of an older run, or pl if that is unknown.
func RunPlan(p *Project, run string, pl *Plan) *Plan {
	kept, err := p.see(p.Rel(RunPlanFile(p, run)), RunPlanSource(p, run))
	if err != nil || kept.Epic.ID != pl.Epic.ID {
		return pl
	}
	return kept
}

// LastRunPlan returns the plan of the newest run, for an epic.yml that cannot be read. The mistakes are returned
// when there is none.
func LastRunPlan(p *Project, view *attempts.View, mistakes error) (*Plan, string, error) {
	runs, _ := os.ReadDir(p.File(attempts.RunsDir)) // none: then there is no plan either
	for _, run := range slices.Backward(runs) {
		source := RunPlanSource(p, run.Name())
		if source == nil {
			continue
		}
		pl, err := ParsePlan(p.Rel(RunPlanFile(p, run.Name())), source)
		if err != nil || view.Ledger.EpicID != "" && pl.Epic.ID != view.Ledger.EpicID {
			continue
		}
		messages := terminal.Diagnose(mistakes).Messages
		return pl, messages[0] + AndMore(len(messages)-1) + "; using the plan of the last run, " + p.Rel(RunPlanFile(p, run.Name())), nil
	}
	return nil, "", mistakes
}

// planInForce decides between epic.yml as it is, which may have mistakes, and the plan that the newest run began with. When
// they differ a person should know, whoever has changed it.
func planInForce(p *Project, view *attempts.View, pl *Plan, mistakes error) (now *Plan, warning string, err error) {
	if mistakes != nil && !IsActive(view) {
		return LastRunPlan(p, view, mistakes)
	}
	run := view.Ledger.Folded.Run
	kept := RunPlanSource(p, run)
	if kept == nil || pl != nil && bytes.Equal(kept, pl.Source) {
		return pl, "", mistakes
	}
	if !IsActive(view) {
		return pl, "epic.yml has changed since the last run, which used " + p.Rel(RunPlanFile(p, run)), nil
	}
	if now, err = p.see(p.Rel(RunPlanFile(p, run)), kept); err != nil {
		return pl, "", mistakes
	}
	warning = "epic.yml has changed since this run began, which follows the plan it had then: relay reload applies it"
	if mistakes != nil {
		warning = "epic.yml has changed since this run began, and has mistakes now; the run follows the plan it had then: relay reload lists them"
	}
	return now, warning, nil
}

// AndMore returns text that says that there is more than what was said.
func AndMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", n)
}

// PlanChanges are the tasks in which two plans differ.
type PlanChanges struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// String names the tasks in words; "" when there are none.
func (c PlanChanges) String() string {
	var parts []string
	for _, part := range []struct {
		ids       []string
		one, many string
	}{{c.Added, "is new", "are new"}, {c.Changed, "has changed", "have changed"}, {c.Removed, "is gone", "are gone"}} {
		if len(part.ids) > 0 {
			parts = append(parts, plaintext.Some(part.ids, 5)+" "+plaintext.Verb(len(part.ids), part.one, part.many))
		}
	}
	return strings.Join(parts, "; ")
}

// ComparePlans returns the tasks in which after differs from before; none when before is nil, for a plan that could not be read.
func ComparePlans(before, after *Plan) PlanChanges {
	c := PlanChanges{Added: []string{}, Changed: []string{}, Removed: []string{}}
	if before == nil {
		return c
	}
	for i := range after.Epic.Tasks {
		now := after.Epic.Tasks[i]
		was, ok := before.Epic.Task(now.ID)
		if !ok {
			c.Added = append(c.Added, now.ID)
			continue
		}
		if now.Line = was.Line; !reflect.DeepEqual(*was, now) { // a task may move in the file
			c.Changed = append(c.Changed, now.ID)
		}
	}
	for i := range before.Epic.Tasks {
		id := before.Epic.Tasks[i].ID
		if _, ok := after.Epic.Task(id); !ok {
			c.Removed = append(c.Removed, id)
		}
	}
	return c
}

// Downstream returns the ids of all tasks that depend on a task, directly or not, in file order.
func (p *Plan) Downstream(id string) (ids []string) {
	g, below := p.Graph, map[int]bool{}
	if start, ok := g.Index(id); ok {
		below[start] = true
	}
	for _, i := range g.Order() {
		below[i] = below[i] || slices.ContainsFunc(g.Deps(i), func(d int) bool { return below[d] })
	}
	for i := range g.Len() {
		if below[i] && g.ID(i) != id {
			ids = append(ids, g.ID(i))
		}
	}
	return ids
}

// Waiting returns how many tasks depend on a task, directly or not, and are not completed.
func (p *Plan) Waiting(l *attempts.Ledger, id string) int {
	n := 0
	for _, d := range p.Downstream(id) {
		if !l.Record(d).Completed {
			n++
		}
	}
	return n
}

// TaskWarning records what a task lacks.
type TaskWarning struct {
	Task    string `json:"task"`
	Message string `json:"message"`
}

// Unproved lists the tasks whose work nothing would prove.
func Unproved(e *epic.Epic) []TaskWarning {
	warnings := []TaskWarning{}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		what := NoCriteria
		switch checked := len(t.Checks)+len(e.Checks) > 0; {
		case t.Kind == epic.KindPerson, checked && len(t.Criteria) > 0:
			continue
		case !checked && len(t.Criteria) > 0:
			what = "has no checks: only the agent's word and a reviewer would prove it"
		case !checked:
			what = "has no acceptance criteria and no checks"
		}
		warnings = append(warnings, TaskWarning{t.ID, what})
	}
	return warnings
}

// NoCriteria is the warning of a task that has checks and no acceptance criteria.
const NoCriteria = "has no acceptance criteria"

// MaxWarnings is the number of warnings of one kind that are listed.
const MaxWarnings = 10

// WriteWarnings prints a line for each kind of warnings, and what to do about them.
func WriteWarnings(w io.Writer, warnings []TaskWarning) {
	tasks := map[string][]string{} // by what is missing
	for _, warning := range warnings {
		tasks[warning.Message] = append(tasks[warning.Message], warning.Task)
	}
	for _, message := range slices.Sorted(maps.Keys(tasks)) {
		text := message
		if len(tasks[message]) > 1 {
			text = "have" + strings.TrimPrefix(message, "has")
		}
		fmt.Fprintf(w, "relay: warning: %s %s\n", plaintext.Some(tasks[message], MaxWarnings), text)
	}
	unchecked := func(w TaskWarning) bool { return w.Message != NoCriteria }
	switch {
	case slices.ContainsFunc(warnings, unchecked):
		fmt.Fprintln(w, "relay: hint: write the commands that prove a task under its checks: in the epic or blueprint; relay init PLAN --checks 'npm test' adds a check of all tasks")
	case len(warnings) > 0:
		fmt.Fprintln(w, "relay: hint: say what must be true under the task's acceptance criteria in the epic or blueprint")
	}
}

// CreateEpic writes a new epic, whose epic.yml is text. The ledger comes first: an epic.yml means that everything else is there.
// A kill leaves the epic.yml that is there, or the new one.
func CreateEpic(p *Project, e *epic.Epic, text []byte) error {
	fault := FaultPoints(runners.Variable(p.Session.Environ, FaultVariable))
	if fault == nil {
		fault = func(string) error { return nil }
	}
	if err := fault("create.begin"); err != nil {
		return err
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	if err := ReplaceFile(p.File(".gitignore"), []byte("*\n")); err != nil {
		return err
	}
	if err := attempts.Create(p.Dir, e, LedgerSettings(p.Config), p.Session.Now()); err != nil {
		return err
	}
	if err := fault("create.epic"); err != nil {
		return err
	}
	return errors.Join(ReplacePrivate(p.File("epic.yml"), text), ReplacePrivate(p.File(importedFile), text))
}

// importedFile is the epic as its plan made it last, beside epic.yml, which people edit.
const importedFile = "imported.yml"

// Imported returns the epic as its plan made it last. It fails for epics that were made without that being kept.
func Imported(p *Project, e *epic.Epic) (*epic.Epic, error) {
	path := p.File(importedFile)
	src, err := ReadFile(path, MaxPlan)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var made *epic.Epic
	if err == nil {
		if made, err = epic.Read(p.Rel(path), src); err != nil {
			return nil, err
		}
	}
	if made == nil || made.ID != e.ID {
		return nil, &terminal.Hinted{
			Err: fmt.Errorf("what relay made of the plan of epic %s is not known: there is no %s", e.ID, p.Rel(path)), Code: terminal.Invalid,
			Hint: "edit " + p.Rel(p.File("epic.yml")) + " itself; relay reload applies that to a run",
		}
	}
	return made, nil
}

// UpdateEpic writes an epic that is up to date with its plan, and what the plan makes by now. It fails when epic.yml is not what pl was
// read from any more, as after an edit.
func UpdateEpic(p *Project, pl *Plan, text, made []byte) error {
	path := p.File("epic.yml")
	if now, err := ReadFile(path, MaxPlan); err != nil || !bytes.Equal(now, pl.Source) {
		return errors.Join(err, &terminal.Hinted{Err: errors.New(p.Rel(path) + " was changed meanwhile: nothing is written"), Hint: "relay init --update"})
	}
	if bytes.Equal(text, pl.Source) {
		return ReplacePrivate(p.File(importedFile), made)
	}
	if err := ReplacePrivate(p.File("epic.yml.old"), pl.Source); err != nil {
		return err
	}
	if err := ReplacePrivate(path, text); err != nil { // first: what it has more is found again, after a kill
		return err
	}
	return ReplacePrivate(p.File(importedFile), made)
}
