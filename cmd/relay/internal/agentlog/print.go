package agentlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/text"
)

// print prints an entry, as text or as JSON.
func (v *Viewer) print(e Entry) {
	if v.options.JSON {
		to := json.NewEncoder(v.app.Out)
		to.SetEscapeHTML(false)
		_ = to.Encode(&e) // the output keeps its own error
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
	at := "        "
	if !e.At.IsZero() {
		at = e.At.Local().Format(time.TimeOnly)
	}
	begin := fmt.Sprintf("%s%s %-8s ", mark, at, e.Kind)
	next := mark + strings.Repeat(" ", len(begin)-len(mark))
	if e.Sub {
		begin, next = begin+"| ", next+"| "
	}
	lines := strings.Split(e.words(), "\n")
	if e.Omitted > 0 {
		left := "… " + text.Count(e.Omitted, "line") + " left out"
		if e.Kind == Failed {
			lines = append([]string{left}, lines...)
		} else {
			lines = append(lines, left)
		}
	}
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			begin = next
		}
		row := strings.TrimRight(begin+line, " ")
		if i == 0 {
			row = mark + v.painted(row[len(mark):], at, e.Kind)
		}
		out.WriteString(row + "\n")
	}
	fmt.Fprint(v.app.Out, out.String())
}

// painted marks the time of an entry's first row, and what failed.
func (v *Viewer) painted(row, at string, k Kind) string {
	paint := v.app.Out.Palette
	rest := strings.TrimPrefix(row, at)
	if k == Failed {
		rest = strings.Replace(rest, string(k), paint.Bad(string(k)), 1)
	}
	return paint.Dim(row[:len(row)-len(rest)]) + rest
}

// source says whose the entry is.
func (e *Entry) source() string {
	about := fmt.Sprintf("%s attempt %d", e.Task, e.Attempt)
	switch e.Part {
	case Fix:
		about += fmt.Sprintf(", fix round %d", e.Round)
	case Result:
		about += ", asked for its result"
	case Review:
		about += fmt.Sprintf(", review in round %d", e.Round)
	}
	return text.Line(about+", "+e.Agent, lineLength)
}

// words is what the entry says, in words.
func (e *Entry) words() string {
	switch e.Kind {
	case Used:
		return text.Usage(attempts.Usage{InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, CostUSD: e.CostUSD})
	case Calls:
		return strings.TrimSpace(e.Tool + " " + e.Text)
	default:
		return e.Text
	}
}
