package terminal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/view"
)

// pen has the characters of a timeline.
type pen struct{ attempt, failed, landed rune }

// Timeline draws what went on when: the hours, a line for each job, and the landings; a column stands for so many minutes. A nil zone is
// UTC.
func Timeline(t *view.Timeline, width int, zone *time.Location, ascii bool) string {
	const label = 4
	columns := max(width-label, 10)
	if t.From.IsZero() {
		return "nothing has happened yet"
	}
	each := column(t.To.Sub(t.From), columns)
	p, from := pen{'─', '×', '╵'}, t.From.Truncate(each)
	if ascii {
		p = pen{'-', 'x', '|'}
	}
	at := func(when time.Time) int { return min(max(int(when.Sub(from)/each), 0), columns-1) }
	rows, marks := make([][]rune, t.Jobs), []rune(strings.Repeat(" ", columns))
	for i := range rows {
		rows[i] = []rune(strings.Repeat(" ", columns))
	}
	for k := range t.Spans {
		span := &t.Spans[k]
		begin, end := at(span.From), at(cmp.Or(span.To, t.To))
		switch {
		case span.Kind == view.SpanLanding && span.Result == attempts.ResultSuccess:
			marks[end] = p.landed
		case span.Job > 0:
			p.draw(rows[span.Job-1], span, begin, end)
		case span.Kind == view.SpanWait || span.Kind == view.SpanPause:
			hatch(rows, begin, end)
		}
	}
	name(rows, t, at)
	lines := []string{hours(from, each, at(t.To)+1, cmp.Or(zone, time.UTC))}
	for i, row := range rows {
		lines = append(lines, fmt.Sprintf("%3d ", i+1)+strings.TrimRight(string(row), " "))
	}
	if landed := strings.TrimRight(string(marks), " "); landed != "" {
		lines = append(lines, "    "+landed)
	}
	return strings.Join(append(lines, fmt.Sprintf("    %c attempt  + checks  ~ review  / waits  %c failed  %c landed", p.attempt, p.failed, p.landed)), "\n")
}

// column returns how long a column stands for.
func column(long time.Duration, columns int) time.Duration {
	each := 24 * time.Hour
	for _, minutes := range []time.Duration{1440, 720, 240, 120, 60, 30, 15, 10, 5, 2, 1} {
		if long/(minutes*time.Minute) < time.Duration(columns) {
			each = minutes * time.Minute
		}
	}
	return each
}

// name writes the tasks over their attempts, where there is room: half of a name is another task's.
func name(rows [][]rune, t *view.Timeline, at func(time.Time) int) {
	for k := range t.Spans {
		span := &t.Spans[k]
		begin, end := at(span.From), at(cmp.Or(span.To, t.To))
		if id := []rune(span.Task); span.Job > 0 && span.Kind == view.SpanAttempt && len(id) <= end-begin {
			copy(rows[span.Job-1][begin:], id)
		}
	}
}

// draw draws an attempt, or its checks and reviews over it, up to a column that is included.
func (p pen) draw(row []rune, s *view.Span, from, to int) {
	fill := map[view.SpanKind]rune{view.SpanAttempt: p.attempt, view.SpanChecks: '+', view.SpanReview: '~'}[s.Kind]
	for x := from; x <= to && fill != 0; x++ { // the others have no job
		row[x] = fill
	}
	if s.Kind == view.SpanAttempt && s.Result == attempts.ResultFailure {
		row[to] = p.failed
	}
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

// hours draws the hours above a timeline, as many as have room.
func hours(from time.Time, each time.Duration, columns int, zone *time.Location) string {
	const room = 5 // columns of an hour
	row := []rune(strings.Repeat(" ", columns+room))
	free := 0
	for i := range columns {
		when := from.Add(time.Duration(i) * each).In(zone)
		if i >= free && (when.Minute() < int(each/time.Minute) || each == time.Minute && when.Minute()%10 == 0) {
			copy(row[i:], []rune(when.Format("15:04")))
			free = i + room + 1
		}
	}
	return "    " + strings.TrimRight(string(row), " ")
}
