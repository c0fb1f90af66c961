package watch

import (
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// timeline draws what went on when: a line a job, a column for so many minutes.
func (s style) timeline(t *view.Timeline, width int) string {
	const label = 4
	columns := max(width-label, 10)
	if t.From.IsZero() {
		return "nothing has happened yet"
	}
	each := 24 * time.Hour
	for _, minutes := range []time.Duration{1440, 720, 240, 120, 60, 30, 15, 10, 5, 2, 1} {
		if t.To.Sub(t.From)/(minutes*time.Minute) < time.Duration(columns) {
			each = minutes * time.Minute
		}
	}
	from := t.From.Truncate(each)
	at := func(when time.Time) int { return min(max(int(when.Sub(from)/each), 0), columns-1) }
	rows := make([][]rune, t.Jobs)
	for i := range rows {
		rows[i] = []rune(strings.Repeat(" ", columns))
	}
	pen := terminal.Pen{Attempt: []rune(s.pick("─", "-"))[0], Failed: []rune(s.pick("×", "x"))[0], Spare: 1}
	marks := []rune(strings.Repeat(" ", columns))
	for k := range t.Spans {
		span := &t.Spans[k]
		begin, end := at(span.From), at(t.To)
		if !span.To.IsZero() {
			end = at(span.To)
		}
		switch {
		case span.Kind == view.SpanLanding && span.Result == attempts.ResultSuccess:
			marks[end] = []rune(s.pick("╵", "|"))[0]
		case span.Job > 0:
			pen.Draw(rows[span.Job-1], span, begin, end)
		case span.Kind == view.SpanWait || span.Kind == view.SpanPause:
			hatch(rows, begin, end)
		}
	}
	legend := s.pick("─ attempt  + checks  ~ review  / waits  × failed  ╵ landed", "- attempt  + checks  ~ review  / waits  x failed  | landed")
	lines := []string{fmt.Sprintf("a column is %s   %s", page.Span(each.Seconds()), legend), "", s.hours(from, each, at(t.To)+1)}
	for i, row := range rows {
		lines = append(lines, fmt.Sprintf("%3d ", i+1)+strings.TrimRight(string(row), " "))
	}
	symbol, _ := terminal.Symbols(view.Done, s.ascii)
	return strings.Join(append(lines, "  "+symbol+" "+strings.TrimRight(string(marks), " ")), "\n")
}

// hatch draws a wait where the jobs have nothing else.
func hatch(rows [][]rune, begin, end int) {
	for _, row := range rows {
		for i := begin; i <= end; i++ {
			if row[i] == ' ' {
				row[i] = '/'
			}
		}
	}
}

func (s style) pick(utf8, ascii string) string {
	if s.ascii {
		return ascii
	}
	return utf8
}

// hours draws the hours above a timeline, as many as have room.
func (s style) hours(from time.Time, each time.Duration, columns int) string {
	const room = 5 // columns of an hour
	row := []rune(strings.Repeat(" ", columns+room))
	free := 0
	for i := range columns {
		when := from.Add(time.Duration(i) * each).In(s.zone)
		if i >= free && (when.Minute() < int(each/time.Minute) || each == time.Minute && when.Minute()%10 == 0) {
			copy(row[i:], []rune(when.Format("15:04")))
			free = i + room + 1
		}
	}
	return "    " + strings.TrimRight(string(row), " ")
}
