package report

import (
	"fmt"
	"io"
	"time"

	"relay/attempts"
	"relay/orchestrator/text"
)

// List is one report on the epics of a playlist: the state of the list, and the report of each epic that has had a run.
type List struct {
	Version   int            `json:"version"`
	MadeAt    time.Time      `json:"made_at"`
	Playlist  string         `json:"playlist"` // file
	Name      string         `json:"name"`
	Current   string         `json:"current,omitempty"` // the epic that runs, or is next; empty: all are completed
	Completed int            `json:"completed"`         // epics
	Usage     attempts.Usage `json:"usage"`             // of all runs there ever were
	Epics     []Listed       `json:"epics"`             // in the order of the list
}

// Listed is one epic of a list.
type Listed struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	File     string  `json:"file"`
	State    string  `json:"state"`              // not_begun, running, completed, gated, stopped
	Finished string  `json:"finished,omitempty"` // branch that relay finish put it on
	Done     int     `json:"tasks_completed"`
	Total    int     `json:"tasks"`
	Report   *Report `json:"report"` // null: it has had no run

	Words string `json:"-"` // the state in words
}

// Markdown writes the report for a person, with times as in zone.
func (l *List) Markdown(w io.Writer, zone *time.Location) error {
	fmt.Fprintf(w, "# %s\n\n**%d of %s completed**\n\n", code(l.Name, columnsWide), l.Completed, text.Count(len(l.Epics), "epic"))
	fmt.Fprintf(w, "- playlist: %s\n", code(l.Playlist, columnsWide))
	if l.Usage != (attempts.Usage{}) {
		fmt.Fprintf(w, "- all runs so far: %s\n", text.Usage(l.Usage))
	}
	fmt.Fprint(w, "\n| epic | state | tasks completed | title |\n|---|---|---|---|\n")
	for i := range l.Epics {
		e := &l.Epics[i]
		state := e.Words
		if e.Finished != "" {
			state += ", landed on " + cell(e.Finished, columnsWide)
		}
		fmt.Fprintf(w, "| %s | %s | %d of %d | %s |\n", cell(e.ID, columnsWide), state, e.Done, e.Total, cell(e.Title, columnsWide))
	}
	for i := range l.Epics {
		if l.Epics[i].Report == nil {
			continue
		}
		if _, err := io.WriteString(w, "\n---\n\n"); err != nil {
			return err
		}
		if err := l.Epics[i].Report.Markdown(w, zone); err != nil {
			return err
		}
	}
	return nil
}

// HTML writes the report as a page that loads nothing.
func (l *List) HTML(w io.Writer, zone *time.Location) error {
	return writePage(w, l.Name, func(to io.Writer) error { return l.Markdown(to, zone) })
}

// JSON writes the report as one JSON object, with that of each epic in the form of its own report.
func (l *List) JSON(w io.Writer) error { return writeJSON(w, l) }
