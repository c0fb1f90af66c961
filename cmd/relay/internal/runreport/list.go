package runreport

import (
	"context"
	"fmt"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/orchestrator/report"
)

// ForList makes the report on a playlist: how the list stands, and of each epic its last night. It fails when a ledger cannot be read.
func ForList(ctx context.Context, a *cli.App, p *project.Project, list *project.List) (*report.List, error) {
	s, err := status.ReadList(ctx, p, list, a.Now())
	if err != nil {
		return nil, err
	}
	l := &report.List{
		Version: 1, MadeAt: a.Now().UTC(), Playlist: s.Playlist, Name: s.Name, Current: s.Current, Completed: s.Counts.Completed, Usage: s.Usage,
		Epics: []report.Listed{},
	}
	for i := range s.Epics {
		e := &s.Epics[i]
		one := report.Listed{
			ID: e.ID, Title: e.Title, File: e.File, State: string(e.State), Words: e.State.Text(), Finished: e.Status.Finished,
			Done: e.Status.Counts.Completed, Total: e.Status.Counts.Total,
		}
		if one.Report, err = ofListed(ctx, a, list.Listed[i].Project); err != nil {
			return nil, fmt.Errorf("epic %s: %w", e.ID, err)
		}
		l.Epics = append(l.Epics, one)
	}
	return l, nil
}

// ofListed makes the report on one epic; nil when it has had no run.
func ofListed(ctx context.Context, a *cli.App, p *project.Project) (*report.Report, error) {
	journal, err := Journal(p, "")
	if err != nil || len(journal.Runs()) == 0 {
		return nil, err
	}
	pl, view, warning, err := p.Read(ctx)
	if err != nil {
		return nil, err
	}
	r := Make(a, p, pl, view, journal)
	if warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	return r, nil
}
