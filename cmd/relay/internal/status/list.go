package status

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
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

	flag string // that names the epic to other commands
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
	one := &Listed{ID: e.Plan.Epic.ID, Title: e.Plan.Epic.Title, File: p.Rel(e.Source), flag: p.EpicFlag()}
	var err error
	if !project.Exists(p.File(attempts.LedgerFile)) && !project.Exists(p.File(attempts.RunsDir)) {
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
	case s.Run.State == Running:
		one.State = ListRunning
	case done:
		one.State = ListCompleted
	case s.Run.State == neverRan:
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
	file := plaintext.ShellWord(s.Playlist)
	fmt.Fprintf(w, "list   %s\n", plaintext.Fit(s.Name, max(l.Width-7, 20)))
	bar := Bar(decide.Counts{Total: s.Counts.Total, Completed: s.Counts.Completed}, 20)
	fmt.Fprintf(w, "epics  %s %d of %d completed\n", l.Paint.Good(bar), s.Counts.Completed, s.Counts.Total)
	if s.Usage != (attempts.Usage{}) {
		fmt.Fprintf(w, "cost   %s\n", report.UsageText(s.Usage))
	}
	at := slices.IndexFunc(s.Epics, func(e Listed) bool { return e.ID == s.Current })
	if at >= 0 && s.Epics[at].State == ListRunning {
		fmt.Fprintf(w, "now    epic %d of %d is at work: relay status%s --watch\n", at+1, s.Counts.Total, s.Epics[at].flag)
	}
	fmt.Fprintln(w)
	s.rows(w, l)
	if l.Verbose {
		s.each(w, l)
	} else {
		s.needsYou(w, l)
	}
	landable, rest := 0, false
	for i := range s.Epics {
		switch e := &s.Epics[i]; {
		case e.State != ListCompleted:
			rest = true
		case !e.Finished && !rest && e.Status.Branch != "":
			landable++
		}
	}
	if landable > 0 {
		fmt.Fprintf(w, "\nrelay finish --playlist %s lands the work of %s\n", file, plaintext.Count(landable, "epic"))
	}
	switch {
	case at < 0:
		fmt.Fprint(w, "\nall epics are completed\n")
	case s.Epics[at].State != ListRunning:
		fmt.Fprintf(w, "\nnext:  relay work --playlist %s goes on with epic %d of %d\n", file, at+1, s.Counts.Total)
	}
}

// rows writes a line for each epic.
func (s *List) rows(w io.Writer, l Printer) {
	widest := plaintext.WidestOf(s.Epics, func(e Listed) string { return e.ID })
	for i := range s.Epics {
		e := &s.Epics[i]
		c := e.Status.Counts
		cost := ""
		if usd := e.Status.Usage.CostUSD; usd > 0 {
			cost = fmt.Sprintf(", %.2f USD", usd)
		}
		if e.Finished {
			cost += ", landed on " + plaintext.Fit(e.Status.Finished, 40)
		}
		done := fmt.Sprintf("%d of %s done%s", c.Completed, plaintext.Count(c.Total, "task"), cost)
		head := fmt.Sprintf("  %s  %s  %s  ", terminal.Pad(e.ID, widest), terminal.Pad(e.State.Text(), 9), done)
		fmt.Fprintln(w, head+plaintext.Fit(e.Title, max(l.Width-len(head), 20)))
	}
}

// Text returns the state in words.
func (s ListState) Text() string {
	if s == ListGated {
		return "needs you"
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// each writes the state of every epic that has begun as relay status --epic does.
func (s *List) each(w io.Writer, l Printer) {
	for i := range s.Epics {
		if e := &s.Epics[i]; e.State != NotBegun {
			l.Flag = e.flag
			fmt.Fprintln(w)
			Write(w, e.Status, l)
		}
	}
}

// needsYou writes what a person should type, epic by epic.
func (s *List) needsYou(w io.Writer, l Printer) {
	for i := range s.Epics {
		e := &s.Epics[i]
		if e.State == NotBegun {
			continue
		}
		var said strings.Builder
		l.Flag, l.Dead = e.flag, e.State != ListRunning
		l.EpicReview(&said, e.Status.Judged)
		for _, warning := range e.Status.Warnings {
			l.note(&said, warning)
		}
		l.gated(&said, e.Status)
		if said.Len() > 0 {
			fmt.Fprintf(w, "\nepic %d of %d: %s\n%s", i+1, s.Counts.Total, plaintext.Fit(e.Title, 100), strings.TrimLeft(said.String(), "\n"))
		}
	}
}
