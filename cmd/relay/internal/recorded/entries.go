package recorded

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// LogOptions say which entries Log prints, and how.
type LogOptions struct {
	Agent, Task, Type string
	Last              int // how many at most; 0: all
	JSON              bool
}

// ShowEntries prints the entries that are wanted, the oldest first.
func ShowEntries(a *cli.App, p *project.Project, o LogOptions) error {
	kind, err := typeOf(o.Type)
	if err != nil {
		return err
	}
	path := ledgersync.Path(p.Root)
	wanted := ledgersync.Filter{Agent: o.Agent, Tag: o.Task, Type: kind}
	shown := 0
	show := func(e *ledgersync.Entry) error {
		if a.Out.Err != nil { // its reader has gone
			return errors.Join(a.Out.Failure(), terminal.ExitCode(terminal.OK))
		}
		return printEntry(a, e, o.JSON)
	}
	var last []*ledgersync.Entry
	skipped, err := eachEntry(p, path, func(_ int, e *ledgersync.Entry) error {
		switch {
		case !wanted.Match(e):
			return nil
		case o.Last > 0:
			last = append(last, e)
			last = last[max(len(last)-o.Last, 0):]
			return nil
		}
		shown++
		return show(e)
	})
	for i := 0; i < len(last) && err == nil; i++ {
		err = show(last[i])
	}
	if err == nil && shown+len(last) == 0 {
		fmt.Fprintln(a.Err, "no entry matches")
	}
	warnSkipped(a, p, path, skipped)
	return err
}

// TypeNames lists the types of entries.
func TypeNames() string { return names(ledgersync.Types()) }

// typeOf reads the type of an entry that a user has typed; "" is any.
func typeOf(name string) (ledgersync.Type, error) {
	kind := ledgersync.Type(name)
	if name == "" || slices.Contains(ledgersync.Types(), kind) {
		return kind, nil
	}
	return "", &terminal.UsageError{
		Message: fmt.Sprintf("there is no type %q of entries", name),
		Hint:    "it is one of " + TypeNames(),
	}
}

func openLedger(p *project.Project, path string) (*os.File, error) {
	file, err := ledgersync.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &terminal.Hinted{Err: fmt.Errorf("there is no %s", p.Rel(path)), Hint: "relay ledgersync add makes it"}
	}
	return file, err
}

func eachEntry(p *project.Project, path string, f func(line int, e *ledgersync.Entry) error) (skipped []int, err error) {
	file, err := openLedger(p, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ledgersync.ReadAll(file, f)
}

func warnSkipped(a *cli.App, p *project.Project, path string, lines []int) {
	if len(lines) > 0 {
		a.Warn(fmt.Sprintf("lines that are no entries: %d, the first at %s:%d: relay ledgersync validate names them", len(lines), p.Rel(path), lines[0]))
	}
}

func printEntry(a *cli.App, e *ledgersync.Entry, asJSON bool) error {
	if asJSON {
		return plaintext.WriteJSON(a.Out, e, "")
	}
	at := e.Timestamp
	if t, ok := e.At(); ok {
		at = plaintext.Timestamp(t)
	}
	kind := cmp.Or(string(e.Type), e.Action.Type)
	_, err := fmt.Fprintf(a.Out, "%-20s  %-12s  %-14s  %s\n", plaintext.Line(at),
		plaintext.Line(e.Agent.Name), plaintext.Line(kind), plaintext.Line(e.Action.Summary))
	return err
}

type ledgerSummary struct {
	Entries  int            `json:"entries"`
	Skipped  int            `json:"skipped_lines,omitempty"`
	First    string         `json:"first,omitempty"`
	Last     string         `json:"last,omitempty"`
	Sessions int            `json:"sessions"`
	Agents   map[string]int `json:"agents"`
	Types    map[string]int `json:"types"`
	// Open is the last handoff without an answer.
	Open *ledgersync.Entry `json:"open_handoff,omitempty"`
}

// ShowSummary prints how many entries there are, of whom and of which types, and the last handoff without an answer.
func ShowSummary(a *cli.App, p *project.Project, asJSON bool) error {
	path := ledgersync.Path(p.Root)
	s := ledgerSummary{Agents: make(map[string]int), Types: make(map[string]int)}
	sessions := make(map[string]bool)
	skipped, err := eachEntry(p, path, func(_ int, e *ledgersync.Entry) error {
		s.Entries++
		s.First = cmp.Or(s.First, e.Timestamp)
		s.Last = e.Timestamp
		s.Agents[e.Agent.Name]++
		s.Types[string(e.Type)]++
		sessions[e.Session.ID] = true
		switch {
		case e.Type == ledgersync.Handoff:
			s.Open = e
		case e.Type == ledgersync.Transition && s.Open != nil && e.Transition != nil && e.Transition.FromEntryID == s.Open.ID:
			s.Open = nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Skipped, s.Sessions = len(skipped), len(sessions)
	if asJSON {
		return a.PrintJSON(s)
	}
	printSummary(a, &s)
	warnSkipped(a, p, path, skipped)
	return nil
}

func printSummary(a *cli.App, s *ledgerSummary) {
	fmt.Fprintf(a.Out, "entries   %d in %s, from %s to %s\n", s.Entries, plaintext.Count(s.Sessions, "session"), plaintext.Line(s.First), plaintext.Line(s.Last))
	fmt.Fprintf(a.Out, "agents    %s\n", counted(s.Agents, "without a name"))
	fmt.Fprintf(a.Out, "types     %s\n", counted(s.Types, "without a type"))
	if s.Open == nil {
		return
	}
	fmt.Fprintf(a.Out, "handoff   of %s, not answered: %s\n", plaintext.Line(s.Open.Agent.Name), plaintext.Line(s.Open.Action.Summary))
	if d := s.Open.SessionSummary; d != nil {
		printAll(a, "left", d.Deferred)
		printAll(a, "blocked", d.Blockers)
	}
}

func printAll(a *cli.App, name string, texts []string) {
	for _, t := range texts {
		fmt.Fprintf(a.Out, "  %-7s  %s\n", name, plaintext.Line(t))
	}
}

// counted lists names with how often each is there, the most frequent first.
func counted(counts map[string]int, nameless string) string {
	names := slices.Collect(maps.Keys(counts))
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(counts[y]-counts[x], strings.Compare(x, y)) })
	for i, name := range names {
		shown := plaintext.Line(name)
		if name == "" {
			shown = nameless
		}
		names[i] = fmt.Sprintf("%s %d", shown, counts[name])
	}
	return strings.Join(names, ", ")
}
