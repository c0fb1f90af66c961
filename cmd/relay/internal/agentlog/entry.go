package agentlog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/report"
	"relay/runners"
	"relay/runners/kinds"
)

// Entry is one thing that an agent does, or that comes of it.
type Entry struct {
	At      time.Time `json:"at,omitzero"`
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Part    string    `json:"part,omitempty"`
	Round   int       `json:"round,omitempty"`
	Agent   string    `json:"agent"`
	Sub     bool      `json:"subagent,omitempty"`
	Kind    Kind      `json:"kind"`
	Tool    string    `json:"tool,omitempty"`
	Text    string    `json:"text,omitempty"`
	Omitted int       `json:"lines_left_out,omitempty"` // of the text

	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
}

// asked says what an agent was asked for in an attempt besides the work itself, by the part of the attempt.
var asked = map[string]string{
	"fix": ", fix round N", "result": ", asked for its result", "why": ", asked about tests", relayfiles.Review: ", review in round N",
}

// Kind says what an entry is about.
type Kind string

// The kinds of entries.
const (
	Says     Kind = "says"
	Told     Kind = "told" // in the user's name
	Runs     Kind = "runs"
	Edits    Kind = "edits"
	Reads    Kind = "reads"
	Calls    Kind = "calls" // another tool
	Done     Kind = "result"
	Failed   Kind = "failed"
	Rejected Kind = "rejected"
	Stopped  Kind = "stopped" // a call that had not ended
	Used     Kind = "used"
	Prints   Kind = "prints" // a line of no known form
	Note     Kind = "note"   // of the CLI, or of relay
)

// How much of one thing is shown.
const (
	mostRead   = 256 << 10 // bytes that are looked through for secrets
	mostSaid   = 8 << 10   // bytes
	mostLines  = 5         // of a result
	lineLength = 200       // columns
)

func (s *stream) event(e Entry, told *runners.Message, take printer) {
	if told.At > 0 {
		e.At = instant(told.At)
	}
	e.Sub = told.Subtask != ""
	switch told.Kind {
	case runners.Said:
		s.said(e, told, take)
		return
	case runners.Called:
		if told.ID != "" && s.open[told.ID] {
			return // an earlier event has it
		}
		if len(s.open) < mostOpen {
			s.open[told.ID] = true
		}
		e.Tool = s.safe(told.Tool, lineLength)
		var what string
		if e.Kind, what = doing(told.Tool, told.Params); s.raw {
			e.Kind, what = Calls, string(told.Params)
		}
		e.Text = s.safe(what, mostSaid)
	case runners.Returned:
		delete(s.open, told.ID)
		e.Kind = cmp.Or(map[runners.ActionStatus]Kind{
			runners.ActionFailed: Failed, runners.Rejected: Rejected, runners.ActionCancelled: Stopped,
		}[told.Status], Done)
		s.result(&e, told.Result)
		if e.Kind == Done && e.Text == "" {
			return
		}
	case runners.Used:
		if told.ID != "" && told.Usage.CostUSD == 0 {
			return // the run's own sum has it
		}
		e.Kind, e.InputTokens, e.OutputTokens, e.CostUSD = Used, told.Usage.Input, told.Usage.Output, told.Usage.CostUSD
	default:
		return
	}
	s.emit(e, take)
}

// emit passes on an entry, after the message that it ends.
func (s *stream) emit(e Entry, take printer) {
	s.flush(take)
	take(e)
}

func (s *stream) said(e Entry, told *runners.Message, take printer) {
	if told.Text == "" || told.Echo {
		return
	}
	if told.Joined && s.pending != nil {
		s.pending.Text = plaintext.Head(s.pending.Text+s.clean(plaintext.Clean(told.Text)), mostSaid)
		return
	}
	s.flush(take)
	e.Kind = cmp.Or(map[runners.Role]Kind{runners.User: Told, runners.System: Note}[told.Role], Says)
	e.Text = s.safe(told.Text, mostSaid)
	if !kinds.FactsOf(s.kind).Parts {
		take(e)
		return
	}
	s.pending = &e
}

func (s *stream) print(e Entry, line string, take printer) {
	if strings.TrimSpace(line) == "" {
		return
	}
	e.Kind, e.Text = Prints, plaintext.Fit(s.safe(line, mostSaid), lineLength)
	s.emit(e, take)
}

func (s *stream) note(e Entry, msg string, take printer) {
	e.Kind, e.Text = Note, msg
	s.emit(e, take)
}

func dropped(n int64) string { return fmt.Sprintf("%d bytes of the log were dropped here", n) }

// safe is a text without secrets and what drives a terminal, at most so many bytes of it. It is cut last: half a secret is not known for
// one. Raw, it is the text as it is.
func (s *stream) safe(words string, most int) string {
	if s.raw {
		return words
	}
	return plaintext.Clip(strings.TrimSpace(s.clean(plaintext.Clean(plaintext.Head(words, mostRead)))), most)
}

// result puts the first lines of a result into an entry, or of what failed those that say why.
func (s *stream) result(e *Entry, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // it may be anything
	for _, name := range []string{"aggregated_output", "output", "error"} {
		if value := fields[name]; len(value) > 2 && !bytes.Equal(value, []byte("null")) {
			raw = value
			break
		}
	}
	words := Readable(string(raw))
	if s.raw {
		e.Text = words
		return
	}
	if code := fields["exit_code"]; code != nil && len(words) > 0 && words[0] == '{' {
		words = "" // it has printed nothing
		if e.Kind == Failed {
			words = "exit status " + string(code)
		}
	}
	if e.Kind == Failed {
		words = plaintext.Tail(words, mostRead)
	}
	words = s.safe(words, mostRead)
	lines := shownLines(words)
	switch all := len(lines); {
	case all <= mostLines:
	case e.Kind == Failed || e.Kind == Rejected:
		if lines = shownLines(strings.Join(plaintext.TellingLines(words), "\n")); len(lines) == 0 {
			lines = shownLines(words)[all-mostLines:]
		}
		e.Omitted = all - len(lines)
	default:
		lines = lines[:mostLines]
		e.Omitted = all - mostLines
	}
	e.Text = strings.Join(lines, "\n")
}

// shownLines returns the lines of a text that are not blank, as they are shown.
func shownLines(words string) (lines []string) {
	for line := range strings.Lines(words) {
		if line = strings.TrimRight(plaintext.Fit(strings.ReplaceAll(line, "\t", "    "), lineLength), " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// arguments are the names under which the CLIs tell what a tool is about, those that say most first.
var arguments = []string{
	"command", "cmd", "file_path", "filePath", "absolute_path", "notebook_path", "changes", "pattern", "path", "url",
	"query", "description", "prompt",
}

var edits = pattern.New("write|edit|replace|patch|change")

// doing says what a tool call does, and to what.
func doing(tool string, params json.RawMessage) (Kind, string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(params, &fields) // it may be anything
	name := strings.ToLower(tool)
	for _, key := range arguments {
		what := argument(fields[key])
		if what == "" {
			continue
		}
		switch {
		case key == "command" || key == "cmd":
			return Runs, what
		case key == "pattern" || key == "url" || key == "query" || key == "description" || key == "prompt":
			return Calls, what
		case edits.MatchString(name):
			return Edits, what
		case strings.Contains(name, "read"):
			return Reads, what
		}
		return Calls, what
	}
	if len(fields) == 0 {
		return Calls, ""
	}
	return Calls, Readable(string(params))
}

func argument(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var words []string
	if json.Unmarshal(raw, &words) == nil {
		return strings.Join(words, " ")
	}
	type change struct{ Path string }
	var changes []change
	_ = json.Unmarshal(raw, &changes) // else there are none
	return strings.Join(each.Of(changes, func(c change) string { return c.Path }), ", ")
}

func (v *Viewer) print(e Entry) {
	if v.options.JSON {
		_ = plaintext.WriteJSON(v.app.Out, &e, "") // the output keeps its own error
		return
	}
	mark := ""
	if v.options.Marked {
		mark = e.Task + " "
	}
	if source := e.source(); source != v.source {
		fmt.Fprintln(v.app.Out, v.app.Out.Palette.Strong(source+":"))
		v.source = source
	}
	e.write(v.app.Out, v.app.Out.Palette, mark)
}

// write prints an entry as text. Each of its lines begins with mark.
func (e *Entry) write(w io.Writer, paint terminal.Palette, mark string) {
	at, kind, sub := "        ", fmt.Sprintf("%-8s", e.Kind), ""
	if !e.At.IsZero() {
		at = e.At.Local().Format(time.TimeOnly)
	}
	if e.Sub {
		sub = "| "
	}
	lines := strings.Split(e.words(), "\n")
	if e.Omitted > 0 {
		left := "… " + plaintext.Count(e.Omitted, "line") + " left out"
		if e.Kind == Failed {
			lines = append([]string{left}, lines...)
		} else {
			lines = append(lines, left)
		}
	}
	if e.Kind == Failed {
		kind = paint.Bad(kind)
	}
	begin := paint.Dim(at) + " " + kind + " "
	for i, line := range lines {
		lines[i] = strings.TrimRight(mark+begin+sub+line, " ")
		begin = strings.Repeat(" ", len("15:04:05 rejected "))
	}
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

func (e *Entry) source() string {
	part := strings.Replace(asked[e.Part], "N", strconv.Itoa(e.Round), 1)
	return plaintext.Fit(fmt.Sprintf("%s attempt %d%s, %s", e.Task, e.Attempt, part, e.Agent), lineLength)
}

func (e *Entry) words() string {
	switch e.Kind {
	case Used:
		return report.UsageText(attempts.Usage{InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, CostUSD: e.CostUSD})
	case Calls:
		return strings.TrimSpace(e.Tool + " " + e.Text)
	default:
		return e.Text
	}
}
