package planning

import (
	"context"
	"fmt"
	"os"
	"strings"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/planner"
)

// Review has an agent read the epic against the plan that it was made of, and prints what was misread. It changes nothing.
func Review(ctx context.Context, o Options, p *project.Project, file string) error {
	plan, err := p.Plan()
	if err != nil {
		return err
	}
	if info, err := os.Stat(o.App.Path(file)); err == nil && info.IsDir() {
		return &terminal.UsageError{Message: file + " is a folder", Hint: "name the file of the plan that has the tasks"}
	}
	wanted, err := Read(ctx, o.App, p, file, nil)
	if err != nil {
		return err
	}
	wanted.Review = plan.Epic
	m, err := Make(ctx, o, p, wanted, "")
	if err != nil {
		return err
	}
	if o.JSON {
		return o.App.PrintJSON(map[string]any{
			"version": 1, "file": file, "findings": append([]planner.Finding{}, m.Found...), "runner": m.Runner, "folder": p.Rel(m.Folder),
		})
	}
	m.head(o.App.Out)
	for _, f := range m.Found {
		fmt.Fprintf(o.App.Out, "%s:%d: %s: %s\n", file, f.Line, strings.TrimSpace(f.Kind+" "+f.Task), plaintext.Fit(f.Says, 300))
		if f.Fix != "" {
			fmt.Fprintf(o.App.Out, "  %s\n", plaintext.Fit(f.Fix, 300))
		}
	}
	_, err = fmt.Fprintf(o.App.Out, "%s; nothing is changed: edit the plan, then relay init --update, or edit epic.yml\n", plaintext.Count(len(m.Found), "finding"))
	return err
}
