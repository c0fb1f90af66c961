package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// listFinished is what relay finish --playlist --json prints.
type listFinished struct {
	Version  int              `json:"version"`
	Playlist string           `json:"playlist"`
	Name     string           `json:"name"`
	DryRun   bool             `json:"dry_run"`
	ExitCode int              `json:"exit_code"`
	Epics    []listedFinished `json:"epics"`
}

// listedFinished is one epic of it.
type listedFinished struct {
	ID       string           `json:"id"`
	Title    string           `json:"title"`
	File     string           `json:"file"`
	State    status.ListState `json:"state"`            // as in relay status --playlist --json
	Before   bool             `json:"finished_before"`  // there was nothing to do
	Finished *finished        `json:"finish,omitempty"` // as relay finish --epic ID --json prints it
	Error    string           `json:"error,omitempty"`
}

// list lands the completed epics of a playlist in their order, up to the first that is not completed. Those that are
// finished already are passed over.
func (o Finish) list(ctx context.Context) error {
	if o.PR {
		return &terminal.UsageError{
			Message: "--pr opens a pull request for one epic, and each of a playlist holds the work of those before it",
			Hint:    "relay finish --epic ID --pr, with the ID of the last that is completed",
		}
	}
	p, list, err := o.App.Playlist(ctx, o.Playlist)
	if err != nil {
		return err
	}
	s, err := status.ReadList(ctx, p, list)
	if err != nil {
		return err
	}
	answer := listFinished{Version: 1, Playlist: s.Playlist, Name: s.Name, DryRun: o.DryRun, Epics: []listedFinished{}}
	var failure error
	for i := range s.Epics {
		e := &s.Epics[i]
		one := listedFinished{ID: e.ID, Title: e.Title, File: e.File, State: e.State}
		if answer.ExitCode == terminal.OK {
			if !o.JSON {
				fmt.Fprintf(o.App.Out, "epic %d of %d: %s\n", i+1, len(s.Epics), plaintext.Fit(e.Title, 100))
			}
			answer.ExitCode, failure = o.listed(ctx, list.Listed[i], e, &one)
		}
		answer.Epics = append(answer.Epics, one)
	}
	if o.JSON {
		failure = errors.Join(failure, o.App.PrintJSON(answer))
	}
	return cmp.Or(failure, terminal.Exit(answer.ExitCode))
}

// listed lands one epic of a playlist, or says why not. It returns the exit code with which the list ends here, or terminal.OK.
func (o Finish) listed(ctx context.Context, e *project.ListedEpic, s *status.Listed, one *listedFinished) (int, error) {
	say := func(format string, args ...any) {
		if !o.JSON {
			fmt.Fprintf(o.App.Out, format+"\n", args...)
		}
	}
	into := strings.TrimPrefix(o.Into, "refs/heads/")
	switch {
	case s.State != status.ListCompleted:
		c := s.Status.Counts
		say("%s, %d of %s completed: neither it nor what follows it is landed", s.State.Text(), c.Completed, plaintext.Count(c.Total, "task"))
		if c.Completed > 0 && s.Status.Branch != "" {
			say("relay finish%s lands what is completed of it", e.Project.EpicFlag())
		}
		return terminal.Gated, nil
	case s.Finished && (into == "" || into == s.Status.Finished):
		one.Before = true
		say("landed on %s before", plaintext.Fit(s.Status.Finished, 60))
		return terminal.OK, nil
	case s.Status.Branch == "":
		one.Before = true
		say("it was done in the checkout: there is nothing to land")
		return terminal.OK, nil
	}
	f := &finishing{Finish: o, project: e.Project, plan: e.Plan}
	if err := f.finish(ctx); err != nil {
		d := terminal.Diagnose(err)
		one.Error = d.Messages[0]
		return d.Code, err
	}
	one.Finished = &f.answer
	if !o.JSON {
		f.text()
	}
	return f.answer.ExitCode, nil
}
