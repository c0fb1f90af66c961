package runview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// Bounds of a report on a terminal. The markdown has all of it.
const (
	widest   = 100
	mostList = 40
	// smallNight is up to how many tasks a timeline says no more than the lists do.
	smallNight = 12
)

// sheet writes a night for a terminal.
type sheet struct {
	w     *bufio.Writer
	n     page.Words
	paint terminal.Palette
	width int
	ascii bool // symbols are of ASCII
}

// text writes the night for a terminal.
func (s *Source) text(w io.Writer) error {
	n, _, err := s.night()
	if err != nil {
		return err
	}
	t := &sheet{
		w: bufio.NewWriter(w), n: page.Said(n, s.options()), paint: s.App.Out.Palette,
		width: min(terminal.Columns(s.App.Out.Dest), widest), ascii: !s.unicode(),
	}
	return t.write()
}

// write writes all parts: what needs a person first.
func (t *sheet) write() error {
	t.head()
	t.needs()
	t.rows("Working", t.n.Working)
	t.rows("Waiting", t.n.Waiting)
	t.done()
	t.jobs()
	t.sums()
	t.notes()
	return t.w.Flush()
}

// unicode reports whether the terminal shows more than ASCII.
func (s *Source) unicode() bool {
	locale := strings.ToLower(cmp.Or(s.App.Lookup("LC_ALL"), s.App.Lookup("LC_CTYPE"), s.App.Lookup("LANG")))
	return s.App.Lookup("TERM") != "dumb" && strings.Contains(strings.ReplaceAll(locale, "-", ""), "utf8")
}

// symbol returns the sign of a state, and the color of its group.
func (t *sheet) symbol(s view.State) (sign string, paint func(string) string) {
	both := map[view.State]string{
		view.Done: "✓+", view.Look: "◉o", view.Gated: "■!", view.Held: "■!", view.Asks: "??", view.Running: "▸>",
	}[s]
	signs := []rune(cmp.Or(both, "·."))
	if sign = string(signs[0]); t.ascii {
		sign = string(signs[1])
	}
	switch s.Group() {
	case view.NeedsYou:
		return sign, t.paint.Wait
	case view.IsDone:
		return sign, t.paint.Good
	case view.Working:
		return sign, t.paint.Strong
	default:
		return sign, func(text string) string { return text }
	}
}

func (t *sheet) say(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

// heading begins a part.
func (t *sheet) heading(name string) { t.say("\n%s", t.paint.Strong(strings.ToUpper(name))) }

// ends puts one text at the left and one at the right of a line.
func ends(left, right string, width int) string {
	left = plaintext.Fit(left, width-displaywidth.String(right)-2)
	return strings.TrimRight(left+padLeft(right, max(width-displaywidth.String(left), 1)), " ")
}

// wrapped writes a text that may take several lines.
func (t *sheet) wrapped(text, indent string) {
	if text != "" {
		t.say("%s", terminal.Wrap(text, t.width, indent))
	}
}

func (t *sheet) head() {
	t.say("%s\n", t.paint.Dim(ends(t.n.Epic.Title, t.n.When(), t.width)))
	for _, line := range t.n.Headline() {
		if line != "" {
			t.say("%s", t.paint.Strong(terminal.Wrap(line, t.width, "")))
		}
	}
	var bar strings.Builder
	total, at, begun := t.n.Counts.Total(), 0, 0
	var key []string
	for _, c := range t.n.Legend() {
		at += c.N
		cells := max(int(math.Round(float64(at)*float64(t.width)/float64(total)))-begun, 1)
		sign, paint := t.symbol(c.State)
		key = append(key, fmt.Sprintf("%s %d %s", sign, c.N, c.Word))
		if c.State == view.Done {
			sign = "█"
			if t.ascii {
				sign = "#"
			}
		}
		bar.WriteString(paint(strings.Repeat(sign, cells)))
		begun += cells
	}
	if total > 0 {
		t.say("\n%s", bar.String())
	}
	t.wrapped(strings.Join(key, "  "), "")
	t.wrapped(t.n.Figures(), "")
	t.wrapped(t.n.Ending(), "")
	for _, w := range t.n.Warnings() {
		t.wrapped("note: "+w, "")
	}
}

// commands write what to type, and what for.
func (t *sheet) commands(list ...view.Command) {
	wide := plaintext.WidestOf(list, func(c view.Command) string { return c.Type })
	for _, c := range list {
		if head := "       $ " + terminal.Pad(c.Type, wide); displaywidth.String(head+c.For)+3 <= t.width {
			t.say("%s   %s", head, t.paint.Dim(c.For))
		} else {
			t.say("       $ %s\n%s", c.Type, t.paint.Dim(terminal.Wrap(c.For, t.width, "         ")))
		}
	}
}

func (t *sheet) needs() {
	if len(t.n.Needs)+len(t.n.Refused)+len(t.n.Failing) > 0 {
		t.heading("Needs you")
	}
	for _, check := range t.n.Failing {
		t.wrapped("On all that has landed this check fails: "+check, "")
	}
	for k, r := range t.n.Needs {
		if k == mostList {
			t.say("\nand %d more: relay status", len(t.n.Needs)-k)
			break
		}
		sign, paint := t.symbol(r.State)
		if k > 0 {
			t.say("")
		}
		line := ends(fmt.Sprintf("%s %-4s %s", sign, r.ID, r.Title), string(r.State), t.width)
		t.say("%s%s", paint(sign), strings.TrimPrefix(line, sign))
		t.wrapped(page.Reason(r), "       ")
		for _, telling := range r.Telling {
			t.wrapped("| "+telling, "       ")
		}
		if len(r.Also) > 0 {
			t.wrapped("and "+plaintext.Count(len(r.Also), "task")+" with the same cause: "+plaintext.Some(r.Also, 8), "       ")
		}
		if r.First != nil {
			t.commands(append([]view.Command{*r.First}, r.Choices...)...)
		}
	}
	for i := range t.n.Refused {
		f := &t.n.Refused[i]
		t.say("")
		t.wrapped(f.What+plaintext.Because(f.Why), "")
		t.commands(view.Command{Type: f.Type, For: "then relay work asks " + f.Runner + " again"})
	}
}

// rows lists tasks that work or wait.
func (t *sheet) rows(name string, list []*view.Row) {
	if len(list) > 0 {
		t.heading(name)
	}
	for k, r := range list {
		if k == mostList {
			t.say("and %d more: relay status --verbose", len(list)-k)
			return
		}
		sign, paint := t.symbol(r.State)
		right := plaintext.Fit(r.Why, t.width/2)
		if r.State == view.Running {
			right = terminal.Pad(r.Agent, 8) + padLeft(page.Span(t.n.At.Sub(r.Since).Seconds()), 9)
		}
		line := ends(fmt.Sprintf("%s %-4s %s", sign, r.ID, r.Title), right, t.width)
		t.say("%s%s", paint(sign), strings.TrimPrefix(line, sign))
	}
}

// done lists tasks that are done: those of a long night by the sections of the plan.
func (t *sheet) done() {
	if len(t.n.Done) == 0 {
		return
	}
	room := t.width - 48
	t.say("\n%s%s", t.paint.Strong(terminal.Pad("DONE", room+8)), t.paint.Dim("    at  agent   tries       lines    USD"))
	if len(t.n.Done) > mostList {
		t.sections(room + 14)
		return
	}
	for _, r := range t.n.Done {
		sign, paint := t.symbol(r.State)
		t.say("%s %s %s%6s  %s%5d%s%7s", paint(sign), terminal.Pad(plaintext.Fit(r.ID, 5), 5), terminal.Pad(plaintext.Fit(r.Title, room), room),
			t.n.Clock(r.Since), terminal.Pad(plaintext.Fit(r.Agent, 8), 8), r.Tries,
			padLeft(page.Lines(r.Added, r.Deleted), 12), page.USD(r.Usage.CostUSD))
	}
}

// sections sums up the tasks that are done by the sections of the plan.
func (t *sheet) sections(room int) {
	sums := map[string]*view.Row{}
	var names []string
	for _, r := range t.n.Done {
		name := cmp.Or(r.Section, "the others")
		if sums[name] == nil {
			names, sums[name] = append(names, name), &view.Row{}
		}
		s := sums[name]
		s.Tries, s.Added, s.Deleted, s.Usage.CostUSD = s.Tries+1, s.Added+r.Added, s.Deleted+r.Deleted, s.Usage.CostUSD+r.Usage.CostUSD
	}
	for _, name := range names {
		s := sums[name]
		t.say("%s%15s%s%7s", terminal.Pad(plaintext.Fit(name, room-2), room), plaintext.Count(s.Tries, "task"),
			padLeft(page.Lines(s.Added, s.Deleted), 12), page.USD(s.Usage.CostUSD))
	}
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-displaywidth.String(s), 0)) + s
}

// jobs draws the timeline, a line for each job.
func (t *sheet) jobs() {
	line := t.n.Timeline
	if line == nil || len(line.Spans) == 0 || line.Jobs > 16 || t.n.Counts.Total() <= smallNight {
		return
	}
	t.heading("Timeline")
	width := t.width - 3
	long := max(line.To.Sub(line.From), time.Minute)
	at := func(when time.Time) int {
		if when.IsZero() {
			when = line.To
		}
		return min(max(int(float64(width)*float64(when.Sub(line.From))/float64(long)), 0), width)
	}
	hours, last := []rune(strings.Repeat(" ", width+6)), -6
	for hour := line.From.Truncate(time.Hour).Add(time.Hour); hour.Before(line.To); hour = hour.Add(time.Hour) {
		if x := at(hour); x-last > 6 && x+5 <= width {
			copy(hours[x:], []rune(t.n.Clock(hour)))
			last = x
		}
	}
	t.say("%s", t.paint.Dim(strings.TrimRight("   "+string(hours), " ")))
	for job := 1; job <= line.Jobs; job++ {
		row := []rune(strings.Repeat(" ", width))
		for i := range line.Spans {
			if s := &line.Spans[i]; s.Job == job {
				draw(row, s, at(s.From), at(s.To))
			}
		}
		t.say("%-2d %s", job, strings.TrimRight(string(row), " "))
	}
	t.say("%s", t.paint.Dim("   - attempt  + checks  ~ review  x failed"))
}

// draw writes a span into the row of its job.
func draw(row []rune, s *view.Span, from, to int) {
	to = max(to, min(from+1, len(row)))
	fill := map[view.SpanKind]rune{view.SpanAttempt: '-', view.SpanChecks: '+', view.SpanReview: '~'}[s.Kind]
	if fill == 0 || from >= len(row) {
		return
	}
	for x := from; x < to; x++ {
		row[x] = fill
	}
	if s.Kind == view.SpanAttempt {
		if id := []rune(strings.TrimPrefix(s.Task, "T")); len(id) <= to-from {
			copy(row[from:], id)
		}
		if s.Result == "failure" {
			row[to-1] = 'x'
		}
	}
}

func (t *sheet) sums() {
	if len(t.n.Money.By) > 0 {
		t.say("\n%s%s", t.paint.Strong("MONEY"), t.paint.Dim(fmt.Sprintf("%*s%10s%10s", 45, "attempts", "at work", "USD")))
		for i := range t.n.Money.By {
			b := &t.n.Money.By[i]
			who := plaintext.Fit(strings.TrimSpace(b.Runner+" "+b.Model), 38)
			t.say("%s%10d%10s%10s", terminal.Pad(who, 40), b.Attempts, page.Span(b.Seconds), cmp.Or(page.USD(b.CostUSD), "unknown"))
		}
		t.say("%-40s%10d%10s%10s", "all", t.n.Tries(), page.Span(t.n.Seconds()), page.USD(t.n.Money.Night.CostUSD))
		for _, c := range t.n.Caps() {
			t.wrapped(c, "")
		}
	}
	if came := t.n.Came(); len(came) > 0 {
		t.heading("Forecast and what came")
		for _, row := range came {
			t.say("%-16s%-24s%s", row[0], row[1], row[2])
		}
	}
	if c := &t.n.Changed; c.Landings > 0 {
		t.heading("Changed")
		said := fmt.Sprintf("%s, %s lines in %s", plaintext.Count(c.Files, "file"), page.Lines(c.Added, c.Deleted),
			plaintext.Count(c.Landings, "landing"))
		if branch := cmp.Or(c.Finished, c.Branch); branch != "" {
			said += " on " + branch
		}
		t.wrapped(said, "")
		t.commands(c.Next...)
	}
}

func (t *sheet) notes() {
	said := 0
	for _, n := range t.n.Notes {
		if n.Kind == "gated" {
			continue
		}
		if said++; said == 1 {
			t.heading("Left out, flaky, tried again")
		}
		if said > mostList {
			t.say("and more: relay report --format markdown")
			return
		}
		t.say("%s", strings.TrimSpace(n.Task+" "+terminal.Hang(n.Text, t.width, strings.Repeat(" ", len(n.Task)+1))))
	}
	t.say("\n%s", t.paint.Dim("One task: relay show TASK. A page: relay report --format html -o FILE"))
}
