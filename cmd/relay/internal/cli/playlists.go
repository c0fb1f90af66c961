package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
)

// Playlist finds the project and reads a playlist, for commands that show what was done, or decide on it; file is as the user typed it.
// Mistakes in the configuration, and what the list has that relay does not use, are warnings.
func (a *App) Playlist(ctx context.Context, file string) (*project.Project, *project.List, error) {
	if a.Epic != "" {
		return nil, nil, &exit.UsageError{Message: "--playlist and --epic do not go together", Hint: "--epic ID alone is about one epic of the list"}
	}
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return nil, nil, err
	}
	path, err := filepath.Abs(a.Path(file))
	if err != nil {
		return nil, nil, err
	}
	list, err := p.ReadList(path)
	if err != nil {
		return nil, nil, err
	}
	a.warn(p.Damage)
	for _, e := range list.Listed {
		e.Project.Damage = nil // it has been told
	}
	for _, w := range list.Warnings {
		a.warn([]string{fmt.Sprintf("%s (%s)", exit.Message(w), w.Hint)})
	}
	return p, list, nil
}
