package terminal

import (
	"cmp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/view"
)

// ASCII reports whether a terminal should be sent ASCII alone. Locales of Chinese, Japanese and Korean draw some of the symbols two
// columns wide.
func ASCII(lookup func(name string) string) bool {
	locale := strings.ToLower(cmp.Or(lookup("LC_ALL"), lookup("LC_CTYPE"), lookup("LANG")))
	draws := func(language string) bool { return strings.HasPrefix(locale, language) }
	return lookup("TERM") == "dumb" || !strings.Contains(strings.ReplaceAll(locale, "-", ""), "utf8") ||
		slices.ContainsFunc([]string{"zh", "ja", "ko"}, draws)
}

// Symbols returns the characters of a state in a row, and in the bar.
func Symbols(of view.State, ascii bool) (row, bar string) {
	rows, bars := "✓◉■■?▸····", "█◉■■?▸····"
	if ascii {
		rows, bars = "+o!!?>....", "#o!!?>...."
	}
	at := max(slices.Index(view.States(), of), 0)
	return string([]rune(rows)[at]), string([]rune(bars)[at])
}

// Pen draws the spans of jobs into lines of a timeline, a character a column.
type Pen struct {
	Attempt, Failed rune
	Spare           int // columns that the name of a task leaves of its attempt
}

// Draw draws an attempt with its task, or its checks and reviews over it, up to a column that is included.
func (p Pen) Draw(row []rune, s *view.Span, from, to int) {
	fill := map[view.SpanKind]rune{view.SpanAttempt: p.Attempt, view.SpanChecks: '+', view.SpanReview: '~'}[s.Kind]
	if fill == 0 || from > to {
		return // the others have no job
	}
	for x := from; x <= to; x++ {
		row[x] = fill
	}
	if s.Kind != view.SpanAttempt {
		return
	}
	if id := []rune(s.Task); len(id)+p.Spare <= to-from+1 {
		copy(row[from:], id)
	}
	if s.Result == attempts.ResultFailure {
		row[to] = p.Failed
	}
}
