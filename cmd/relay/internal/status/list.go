package status

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator/report"
	"relay/reanchor/git"
)

// List is the state of a playlist, as the ledgers of its epics have it: relay status --playlist --json prints it.
type List struct {
	Version  int            `json:"version"`
	Playlist string         `json:"playlist"` // file
	Name     string         `json:"name"`
	Current  string         `json:"current,omitempty"` // the epic that runs, or is next; "" : all are completed
	Counts   ListCounts     `json:"counts"`
	Usage    attempts.Usage `json:"usage"`
	Epics    []Listed       `json:"epics"` // in the order of the list
}

// ListCounts counts the epics of a list.
type ListCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
}

// Listed is one epic of a list.
type Listed struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	File     string    `json:"file"`
	State    ListState `json:"state"`
	Finished bool      `json:"finished"` // relay finish has landed it
	Status   *Report   `json:"status"`   // as relay status --epic ID --json prints it

	Flag string `json:"-"` // that names the epic to other commands
}

// ListState says how an epic of a list stands.
type ListState string

// States of an epic of a list.
const (
	NotBegun      ListState = "not_begun"
	ListRunning   ListState = "running"
	ListCompleted ListState = "completed"
	ListGated     ListState = "gated"   // tasks of it need a person
	ListStopped   ListState = "stopped" // it is not completed, and relay work goes on with it
)

// ReadList returns the state of a playlist as it is now, and writes nothing. It fails when a ledger cannot be read.
func ReadList(ctx context.Context, p *project.Project, list *project.List) (*List, error) {
	l := &List{Version: 1, Playlist: p.Rel(list.Path), Name: list.Name, Epics: []Listed{}, Counts: ListCounts{Total: len(list.Listed)}}
	running := ""
	for _, e := range list.Listed {
		one, err := readListed(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("epic %s: %w", e.Plan.Epic.ID, err)
		}
		switch {
		case one.State == ListCompleted:
			l.Counts.Completed++
		case one.State == ListRunning:
			running = one.ID
		case l.Current == "":
			l.Current = one.ID
		}
		l.Usage.Add(one.Status.Usage)
		l.Epics = append(l.Epics, *one)
	}
	l.Current = cmp.Or(running, l.Current)
	return l, nil
}

// readListed returns the state of one epic of a list.
func readListed(ctx context.Context, e *project.ListedEpic) (*Listed, error) {
	p := e.Project
	one := &Listed{ID: e.Plan.Epic.ID, Title: e.Plan.Epic.Title, File: p.Rel(e.Source), Flag: p.EpicFlag()}
	var err error
	if !git.Exists(p.File(attempts.LedgerFile)) && !git.Exists(p.File(attempts.RunsDir)) {
		one.Status = New(e.Plan, &attempts.View{Ledger: &attempts.Ledger{}}, p.Config.Relay.MaxAttemptsPerTask, false)
	} else if one.Status, err = Read(ctx, p, false); err != nil {
		return nil, err
	}
	one.Status.Discussions = nil // those of the repository, not of an epic
	done, _, err := e.Completed()
	if err != nil {
		return nil, err
	}
	s := one.Status
	one.Finished = s.Finished != ""
	switch {
	case s.Run.State == report.Running:
		one.State = ListRunning
	case done:
		one.State = ListCompleted
	case s.Run.State == report.Never:
		one.State = NotBegun
	case s.Counts.Gated > 0:
		one.State = ListGated
	default:
		one.State = ListStopped
	}
	return one, nil
}

// WriteList writes the state of a playlist as text.
func WriteList(w io.Writer, s *List, l Printer) {
	l.Print(w, "", "list", s)
	for i := range s.Epics {
		e := &s.Epics[i]
		l.Flag, l.Dead = e.Flag, e.State != ListRunning
		switch {
		case e.State == NotBegun:
		case l.Verbose:
			fmt.Fprintln(w)
			Write(w, e.Status, l)
		default:
			if said := l.said("", "attention", e.Status); said != "" {
				fmt.Fprintf(w, "\nepic %d of %d: %s\n%s", i+1, s.Counts.Total, plaintext.Fit(e.Title, 100), strings.TrimLeft(said, "\n"))
			}
		}
	}
	l.Print(w, "", "nextlist", s)
}

// WriteListSummary writes the state of a playlist at the end of a run that took so long.
func WriteListSummary(w io.Writer, s *List, l Printer, took time.Duration) {
	l.Print(w, "", "list", s)
	fmt.Fprintf(w, "time   %s\n", plaintext.Span(took))
	l.Print(w, "", "nextlist", s)
}

// Now returns the place of the current epic, from 1; 0: there is none.
func (l *List) Now() int {
	return 1 + slices.IndexFunc(l.Epics, func(e Listed) bool { return e.ID == l.Current })
}

// Landable counts the epics that relay finish lands: those that are completed, before the first that is not.
func (l *List) Landable() (n int) {
	for i := range l.Epics {
		switch e := &l.Epics[i]; {
		case e.State != ListCompleted:
			return n
		case !e.Finished && e.Status.Branch != "":
			n++
		}
	}
	return n
}

// Text returns the state in words.
func (s ListState) Text() string {
	if s == ListGated {
		return "needs you"
	}
	return spaced(s)
}
