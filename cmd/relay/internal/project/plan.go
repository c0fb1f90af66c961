package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator/text"
)

// MaxPlan bounds epic.yml and blueprints, in bytes.
const MaxPlan = 16 << 20

// Plan is an epic as it was read.
type Plan struct {
	Source []byte
	Epic   *epic.Epic
	Graph  *epic.Graph
}

// Plan reads and validates the epic of this project.
func (p *Project) Plan() (*Plan, error) {
	path := p.File("epic.yml")
	src, err := ReadFile(path, MaxPlan)
	var odd *irregularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNoEpic(p, path)
	case errors.As(err, &odd):
		return nil, &exit.Hinted{
			Err: &irregularError{p.Rel(path), odd.kind}, Code: exit.Invalid,
			Hint: "remove it, and restore the plan\nthe plan of each run is in " + p.Rel(p.File(attempts.RunsDir)),
		}
	case err != nil:
		return nil, err
	}
	return ParsePlan(p.Rel(path), src)
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

// errNoEpic returns the error for an epic.yml that is not there, with the epics of playlists that are.
func errNoEpic(p *Project, path string) error {
	hint := "make one from a blueprint: relay init BLUEPRINT.md"
	if ids := p.Listed(); len(ids) > 0 {
		hint = "epics of a playlist are here, and --epic names one: " + text.Some(ids, 10) +
			"\nrelay status --playlist FILE shows how the list stands"
	}
	return &exit.Hinted{Err: fmt.Errorf("there is no epic here (%s)", p.Rel(path)), Hint: hint}
}

// Task finds a task by the id a user typed.
func (p *Plan) Task(id string) (*epic.Task, error) {
	if t, ok := p.Epic.Task(id); ok {
		return t, nil
	}
	for i := range p.Epic.Tasks {
		if strings.EqualFold(p.Epic.Tasks[i].ID, id) {
			return nil, &exit.UsageError{Message: fmt.Sprintf("there is no task %s in this epic", terminal.Quote(id)), Hint: "did you mean " + p.Epic.Tasks[i].ID + "?"}
		}
	}
	return nil, &exit.UsageError{Message: fmt.Sprintf("there is no task %s in this epic", terminal.Quote(id)), Hint: "relay status --verbose lists the tasks"}
}

// Has reports whether the plan has a task of this id.
func (p *Plan) Has(id string) bool {
	_, ok := p.Epic.Task(id)
	return ok
}

// RunPlanFile returns the path of the plan that a run began with.
func (p *Project) RunPlanFile(run string) string { return p.File(attempts.RunsDir, run, "epic.yml") }

// RunPlanSource reads the plan a run began with; nil when it is not there.
func (p *Project) RunPlanSource(run string) []byte {
	if run == "" {
		return nil
	}
	source, err := ReadFile(p.RunPlanFile(run), MaxPlan)
	if err != nil {
		return nil
	}
	return source
}

// RunPlan returns the plan that an older run went by, as far as it is still known.
func (p *Project) RunPlan(run string, pl *Plan) *Plan {
	kept, err := ParsePlan(p.Rel(p.RunPlanFile(run)), p.RunPlanSource(run))
	if err != nil || kept.Epic.ID != pl.Epic.ID {
		return pl
	}
	return kept
}

// LastRunPlan returns the plan that the newest run went by, for the time that epic.yml cannot be read. The mistakes are returned
// when there is none.
func (p *Project) LastRunPlan(view *attempts.View, mistakes error) (*Plan, string, error) {
	runs, _ := os.ReadDir(p.File(attempts.RunsDir)) // none: then there is no plan either
	for _, run := range slices.Backward(runs) {
		source := p.RunPlanSource(run.Name())
		if source == nil {
			continue
		}
		pl, err := ParsePlan(p.Rel(p.RunPlanFile(run.Name())), source)
		if err != nil || view.Ledger.EpicID != "" && pl.Epic.ID != view.Ledger.EpicID {
			continue
		}
		messages := exit.Diagnose(mistakes).Messages
		return pl, messages[0] + AndMore(len(messages)-1) + "; using the plan of the last run, " + p.Rel(p.RunPlanFile(run.Name())), nil
	}
	return nil, "", mistakes
}

// planInForce decides between epic.yml as it is, which may have mistakes, and the plan that the newest run began with. When
// they differ a person should know, whoever has changed it.
func planInForce(p *Project, view *attempts.View, pl *Plan, mistakes error) (now *Plan, warning string, err error) {
	if mistakes != nil && !IsActive(view) {
		return p.LastRunPlan(view, mistakes)
	}
	run := view.Ledger.Folded.Run
	kept := p.RunPlanSource(run)
	if kept == nil || pl != nil && bytes.Equal(kept, pl.Source) {
		return pl, "", mistakes
	}
	if !IsActive(view) {
		return pl, "epic.yml has changed since the last run, which used " + p.Rel(p.RunPlanFile(run)), nil
	}
	if now, err = ParsePlan(p.Rel(p.RunPlanFile(run)), kept); err != nil {
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
