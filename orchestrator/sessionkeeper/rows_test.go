package sessionkeeper

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/attempts/sessions"
	"relay/runners"
)

// table holds rows as a database does: one of each id.
type table struct {
	sessions map[string]sessions.Session
	messages map[string]sessions.Message
	turns    map[string]sessions.Turn
	calls    map[string]sessions.ToolCall
}

func newTable() *table {
	return &table{map[string]sessions.Session{}, map[string]sessions.Message{}, map[string]sessions.Turn{}, map[string]sessions.ToolCall{}}
}

func (r *table) take(b sessions.Batch) {
	for _, s := range b.Sessions {
		r.sessions[s.ID] = s
	}
	for _, m := range b.Messages {
		r.messages[m.ID] = m
	}
	for _, t := range b.Turns {
		r.turns[t.ID] = t
	}
	for _, c := range b.ToolCalls {
		r.calls[c.ID] = c
	}
}

// text prints the tables, a row on each line.
func (r *table) text() string {
	var out bytes.Buffer
	row := func(name string, of any) {
		text := json.NewEncoder(&out)
		text.SetEscapeHTML(false)
		fmt.Fprintf(&out, "%s ", name)
		_ = text.Encode(of)
	}
	for _, s := range slices.SortedFunc(maps.Values(r.sessions), func(a, b sessions.Session) int { return strings.Compare(a.ID, b.ID) }) {
		s.RawJSON = s.RawJSON[:min(len(s.RawJSON), 60)]
		row("agent_sessions", s)
	}
	for _, m := range slices.SortedFunc(maps.Values(r.messages), func(a, b sessions.Message) int {
		return cmp.Or(strings.Compare(a.Session, b.Session), cmp.Compare(a.Sequence, b.Sequence))
	}) {
		row("agent_messages", m)
	}
	for _, t := range slices.SortedFunc(maps.Values(r.turns), func(a, b sessions.Turn) int {
		return cmp.Or(strings.Compare(a.Session, b.Session), cmp.Compare(a.Timestamp, b.Timestamp), strings.Compare(a.ID, b.ID))
	}) {
		row("agent_turns", t)
	}
	for _, c := range slices.SortedFunc(maps.Values(r.calls), func(a, b sessions.ToolCall) int {
		of := cmp.Compare(r.messages[a.Message].Sequence, r.messages[b.Message].Sequence)
		return cmp.Or(of, cmp.Compare(a.Number, b.Number), strings.Compare(a.ID, b.ID))
	}) {
		row("agent_tool_calls", c)
	}
	return out.String()
}

// night is the folder of an attempt that a test fills.
type night struct {
	t   *testing.T
	dir string
	attempt
}

// noKind knows the CLI of no agent.
func noKind(string) string { return "" }

func newNight(t *testing.T, kind string) *night {
	t.Helper()
	n := &night{t: t, dir: t.TempDir()}
	facts := &attemptFacts{run: "20261121T030000Z-abcd", task: "T1", number: 1, agent: kind + "-agent", model: "", kind: kind, dir: "/work/slot-1", session: ""}
	o := Options{Kind: noKind, Top: "/work/shop", Dir: n.dir}
	n.attempt = *newAttempt(&o, facts)
	return n
}

// begin makes the files of one run of the CLI: "" for the first, fix-1, review/NAME/1 and so on.
func (n *night) begin(name, prompt string) string {
	n.t.Helper()
	dir := filepath.Join(n.folder(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		n.t.Fatal(err)
	}
	n.write(filepath.Join(dir, "brief.md"), prompt)
	return dir
}

func (n *night) write(path, text string) {
	n.t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// say has the agent print something, which relay sees at a time.
func (n *night) say(dir, text string, ms int64, end bool) {
	n.t.Helper()
	path := filepath.Join(dir, runners.Transcript)
	n.write(path, text)
	info, err := os.Stat(path)
	if err != nil {
		n.t.Fatal(err)
	}
	n.write(filepath.Join(dir, runners.TimesFile), string(runners.TimesLine(info.Size(), ms)))
}

// look reads everything there is, into the rows so far.
func (n *night) look(into *table) {
	n.t.Helper()
	take := func(t *talk) error {
		b, begun := t.take()
		for _, id := range begun {
			into.forget(id)
		}
		into.take(b)
		return nil
	}
	n.attempt.look()
	for _, t := range n.talks {
		if err := t.read(func() error { return take(t) }); err != nil {
			n.t.Fatal(err)
		}
		if !t.about.Asked {
			t.rows.Summarize(n.facts.summary)
		}
		_ = take(t)
	}
}

// again returns what the files give when they are read anew.
func (n *night) again() *table {
	n.t.Helper()
	fresh := night{t: n.t, dir: n.dir, attempt: *newAttempt(n.o, n.facts)}
	rows := newTable()
	fresh.look(rows)
	return rows
}

func (r *table) forget(id string) {
	for child, s := range r.sessions {
		if s.ParentSession == id {
			r.forget(child)
		}
	}
	delete(r.sessions, id)
	maps.DeleteFunc(r.messages, func(_ string, m sessions.Message) bool { return m.Session == id })
	maps.DeleteFunc(r.turns, func(_ string, t sessions.Turn) bool { return t.Session == id })
	maps.DeleteFunc(r.calls, func(_ string, c sessions.ToolCall) bool { return c.Session == id })
}

// same fails when two tables differ.
func same(t *testing.T, got, want *table) {
	t.Helper()
	a, b := strings.Split(got.text(), "\n"), strings.Split(want.text(), "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Fatalf("row %d:\ngot  %s\nwant %s", i, x, y)
		}
	}
}
