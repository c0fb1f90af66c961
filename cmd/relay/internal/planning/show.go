package planning

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"relay/cmd/relay/internal/archive"
	"relay/cmd/relay/internal/project"
	"relay/internal/plaintext"
	"relay/orchestrator/planner"
	"relay/orchestrator/text"
)

// Answer is what relay plan --json prints.
type Answer struct {
	Version   int                   `json:"version"`
	ID        string                `json:"id"`
	Title     string                `json:"title"`
	Tasks     int                   `json:"tasks"`
	Written   string                `json:"written,omitempty"` // epic.yml, when it was written
	Archived  string                `json:"archived,omitempty"`
	Blueprint string                `json:"blueprint"`
	Folder    string                `json:"folder"` // of briefs and transcripts
	Runner    string                `json:"runner"`
	Answers   int                   `json:"answers"`
	Base      string                `json:"base"`
	CostUSD   float64               `json:"cost_usd,omitempty"`
	Input     int64                 `json:"input_tokens,omitempty"`
	Output    int64                 `json:"output_tokens,omitempty"`
	Checks    []Tried               `json:"checks"`
	Warnings  []project.TaskWarning `json:"warnings"`
}

// Tried is what a check came to on the commit.
type Tried struct {
	Tasks  []string `json:"tasks,omitempty"` // none: it is the epic's
	Run    string   `json:"run"`
	Passed bool     `json:"passed"`
}

// Answer returns what is told of the plan as JSON.
func (m *Made) Answer(p *project.Project) Answer {
	a := Answer{
		Version: 1, ID: m.Epic.ID, Title: m.Epic.Title, Tasks: len(m.Epic.Tasks), Blueprint: p.Rel(m.Kept), Folder: p.Rel(m.Folder),
		Runner: m.Runner, Answers: m.Asked, Base: m.Base, CostUSD: m.Usage.CostUSD, Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens,
		Checks: []Tried{}, Warnings: project.Unproved(m.Epic),
	}
	for _, t := range m.Tried {
		a.Checks = append(a.Checks, Tried{Tasks: t.Tasks, Run: t.Check.Run, Passed: t.Passed})
	}
	return a
}

// Show shows what the plan means: its order, how its checks did, and what nothing would prove.
func (m *Made) Show(w io.Writer, p *project.Project) error {
	m.head(w)
	var drawn bytes.Buffer
	if err := m.Graph.Write(&drawn, m.Epic, "text"); err != nil {
		return fmt.Errorf("draw the graph: %w", err)
	}
	fmt.Fprintf(w, "\n%s\n", drawn.String())
	m.showChecks(w)
	for _, t := range m.Told {
		fmt.Fprintf(w, "%s:%d: %s\n", p.Rel(m.Kept), t.Line, text.Line(t.Why, 300))
	}
	project.WriteWarnings(w, project.Unproved(m.Epic))
	fmt.Fprintf(w, "the plan in full: %s\n", p.Rel(m.Kept))
	return nil
}

func (m *Made) head(w io.Writer) {
	fmt.Fprintf(w, "%s has made this in %s", text.Line(m.Runner, 40), text.Count(m.Asked, "answer"))
	if used := text.Usage(m.Usage); used != "" {
		fmt.Fprintf(w, ", %s", used)
	}
	fmt.Fprintln(w)
}

// mostShown is how many checks are shown.
const mostShown = 40

func (m *Made) showChecks(w io.Writer) {
	if len(m.Tried) == 0 {
		return
	}
	fmt.Fprintf(w, "checks, on commit %s as it is:\n", plaintext.Head(m.Base, 12))
	for i, t := range m.Tried {
		if i == mostShown {
			fmt.Fprintf(w, "  and %d more\n", len(m.Tried)-i)
			break
		}
		how, whose := "fails before any work, and proves nothing until it passes", "all tasks"
		if len(t.Tasks) > 0 {
			how, whose = "fails, as it may before the work", text.Some(t.Tasks, 3)
		}
		if t.Passed {
			how = "passes already"
		}
		fmt.Fprintf(w, "  %s: %s: %s\n", whose, text.Line(t.Check.Run, 120), how)
	}
}

// ShowAdded shows what each task has been given that it lacked.
func ShowAdded(w io.Writer, added []planner.Added) {
	for _, a := range added {
		fmt.Fprintln(w, a.Task)
		for _, c := range a.Criteria {
			fmt.Fprintf(w, "  + criterion: %s\n", text.Line(c.Text, 200))
		}
		for _, c := range a.Checks {
			fmt.Fprintf(w, "  + check: %s\n", text.Line(c.Run, 200))
		}
	}
}

// ShowFilled shows what a plan has been given, and how the new checks did.
func (m *Made) ShowFilled(w io.Writer) {
	m.head(w)
	ShowAdded(w, m.Added)
	m.showChecks(w)
}

// Write makes the plan the epic, in the place of one that may be replaced.
func (m *Made) Write(ctx context.Context, o Options, p *project.Project, again string) (archived, branch string, err error) {
	m.Epic.Source = p.Rel(m.Kept)
	encoded, err := m.Epic.Encode()
	if err != nil {
		return "", "", err
	}
	if archived, branch, err = archive.Old(ctx, p, archive.Options{Again: again, Force: o.Force}, o.App.Now()); err != nil {
		return "", "", err
	}
	return archived, branch, p.CreateEpic(m.Epic, encoded)
}

// Type returns the command that makes the plan the epic, for who has not said yes.
func (m *Made) Type(o Options, p *project.Project) string {
	words := []string{"relay init"}
	if o.Force {
		words = append(words, "--force")
	}
	return strings.Join(append(words, text.ShellWord(p.Rel(m.Kept))), " ")
}
