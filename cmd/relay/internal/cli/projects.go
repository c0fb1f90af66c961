package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// Session returns the user's session for the project that a command works in. It fails when -C names no folder.
func (a *App) Session() (project.Session, error) {
	dir, err := a.Folder()
	return project.Session{Dir: dir, Epic: a.Epic, Environ: a.Environ, Now: a.Now, Warn: func(text string) { a.Warn(text) }}, err
}

// Locate finds the project around the user's folder. See project.Locate.
func (a *App) Locate(ctx context.Context, flags map[string]any) (*project.Project, error) {
	s, err := a.Session()
	if err != nil {
		return nil, err
	}
	return project.Locate(ctx, s, flags)
}

// Repository finds the project without its configuration.
func (a *App) Repository(ctx context.Context) (*project.Project, error) {
	s, err := a.Session()
	if err != nil {
		return nil, err
	}
	return project.Repository(ctx, s)
}

// Planned finds the project and reads its plan. It fails when either has mistakes.
func (a *App) Planned(ctx context.Context, flags map[string]any) (*project.Project, *project.Plan, error) {
	p, err := a.Locate(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	pl, err := p.Plan()
	return p, pl, err
}

// PlannedAnyhow finds the project and its plan for commands that show what was done, or decide on it. Mistakes in the configuration or in
// epic.yml are warnings, and the plan of the last run is used in place of an invalid epic.yml. It fails when there is no such plan.
func (a *App) PlannedAnyhow(ctx context.Context) (*project.Project, *project.Plan, error) {
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return nil, nil, err
	}
	warnings := p.Damage
	pl, err := p.Plan()
	if err != nil {
		view, reading := attempts.Read(p.Dir, nil, nil)
		if reading != nil {
			return nil, nil, err
		}
		var warning string
		if pl, warning, err = project.LastRunPlan(p, view, err); err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, warning)
	}
	a.Warn(warnings...)
	return p, pl, nil
}

// Viewed finds the project and its plan as PlannedAnyhow does, and reads the ledger.
func (a *App) Viewed(ctx context.Context) (p *project.Project, pl *project.Plan, view *attempts.View, err error) {
	if p, pl, err = a.PlannedAnyhow(ctx); err == nil {
		view, err = p.View(pl)
	}
	return p, pl, view, err
}

// LocateAnyhow finds the project as Locate does, and also succeeds when the configuration has mistakes: they are in the
// project's Damage.
func (a *App) LocateAnyhow(ctx context.Context) (*project.Project, error) {
	p, err := a.Locate(ctx, nil)
	if err == nil || p == nil || p.Config == nil {
		return p, err
	}
	messages := terminal.Diagnose(err).Messages
	p.Damage = append(p.Damage, "the configuration has mistakes, and relay uses the rest of it: "+messages[0]+project.AndMore(len(messages)-1))
	return p, nil
}

// Printer returns what writes about a project for a person, in the answers of a command.
func Printer(a *App, p *project.Project) status.Printer {
	return status.Printer{Now: a.Now(), Width: terminal.Columns(a.Out.Dest), Paint: a.Out.Palette, Flag: p.EpicFlag()}
}

// Warn prints each warning on a line of its own.
func (a *App) Warn(warnings ...string) {
	for _, text := range warnings {
		fmt.Fprintf(a.Err, "relay: warning: %s\n", text)
	}
}

// WarnBehind warns of a branch that lacks commits of the one it follows.
func (a *App) WarnBehind(ctx context.Context, p *project.Project) {
	if words, fix := project.Behind(ctx, p.Git); words != "" {
		a.Warn(words + " (" + fix + ")")
	}
}

// TellTop says that agents and checks run at the top of the repository, when the user is in a folder below it.
func (a *App) TellTop(p *project.Project) {
	if dir, err := filepath.EvalSymlinks(p.Session.Dir); err == nil && plaintext.Relative(p.Root, dir) != "." {
		fmt.Fprintf(a.Err, "relay: agents and checks run at the top of the repository, not in %s\n", plaintext.Relative(p.Root, dir))
	}
}

// WarnKilled warns of a run that was killed, and left what only relay work settles. No run may be active.
func (a *App) WarnKilled(v *attempts.View) {
	if v.Ledger.Status.State == "running" {
		fmt.Fprint(a.Err, "relay: warning: the last run was killed before it had saved its work; relay work recovers it\n")
	}
}

// Playlist finds the project and reads a playlist, for commands that show what was done, or decide on it; file is as the user typed it.
// Mistakes in the configuration, and what the list has that relay does not use, are warnings.
func (a *App) Playlist(ctx context.Context, file string) (*project.Project, *project.List, error) {
	if a.Epic != "" {
		return nil, nil, &terminal.UsageError{Message: "--playlist and --epic do not go together", Hint: "--epic ID alone is about one epic of the list"}
	}
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return nil, nil, err
	}
	damage := p.Damage
	p.Damage = nil // warned of below
	list, err := a.ReadList(p, file)
	if err == nil {
		a.Warn(damage...)
	}
	return p, list, err
}

// ReadList reads a playlist; file is as the user typed it. It warns of entries that relay does not use.
func (a *App) ReadList(p *project.Project, file string) (*project.List, error) {
	path, err := filepath.Abs(a.Path(file))
	if err != nil {
		return nil, err
	}
	list, err := project.ReadList(p, path)
	if err != nil {
		return nil, err
	}
	for _, w := range list.Warnings {
		a.Warn(fmt.Sprintf("%s (%s)", terminal.Message(w), w.Hint))
	}
	return list, nil
}
