package runview

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/page"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Bounds of a report on a terminal. Lists have 40 rows; the markdown has all of them.
const (
	widest = 80
	// smallNight is up to how many tasks a timeline says no more than the lists do.
	smallNight = 12
)

//go:embed report.txt
var reportText string

// sheet is how a night is written for a terminal.
type sheet struct {
	paint terminal.Palette
	width int
	ascii bool // symbols are of ASCII
}

// write writes what needs a person first, as report.txt has it.
func (t *sheet) write(w io.Writer, n page.Words) error {
	all := template.New("").Funcs(report.Functions()).Funcs(page.Functions())
	said := func(name string, of any) (string, error) {
		var b strings.Builder
		err := all.ExecuteTemplate(&b, name, of)
		return strings.TrimSpace(b.String()), err
	}
	all.Funcs(template.FuncMap{
		"said": said, "upper": strings.ToUpper, "strong": t.paint.Strong, "dim": t.paint.Dim,
		"pad": terminal.Pad, "left": padLeft,
		"wrap":   func(text, indent string) string { return terminal.Wrap(text, t.width, indent) },
		"ends":   func(left, right string) string { return ends(left, right, t.width) },
		"symbol": func(s view.State) string { sign, _ := terminal.Symbols(s, t.ascii); return sign },
		"row":    t.row, "bar": t.bar, "jobs": t.jobs, "commands": t.commands,
	})
	template.Must(all.Parse(page.Common + reportText))
	b := bufio.NewWriter(w)
	return errors.Join(all.ExecuteTemplate(b, "report", &n), b.Flush())
}

// colored marks a text with the color of a state's group.
func (t *sheet) colored(s view.State, text string) string {
	switch s.Group() {
	case view.NeedsYou:
		return t.paint.Wait(text)
	case view.IsDone:
		return t.paint.Good(text)
	case view.Working:
		return t.paint.Strong(text)
	default:
		return text
	}
}

// ends puts one text at the left and one at the right of a line.
func ends(left, right string, width int) string {
	left = plaintext.Fit(left, width-displaywidth.String(right)-2)
	return strings.TrimRight(left+padLeft(right, max(width-displaywidth.String(left), 1)), " ")
}

// sign returns the colored symbol of a task.
func (t *sheet) sign(r *view.Row) string {
	sign, _ := terminal.Symbols(r.State, t.ascii)
	return t.colored(r.State, sign)
}

// row returns a task with something to say of it at the right.
func (t *sheet) row(r *view.Row, right string) string {
	id := terminal.Pad(plaintext.Fit(r.ID, 40), 5)
	return t.sign(r) + " " + id + " " + ends(r.Title, right, t.width-3-displaywidth.String(id))
}

// bar draws the tasks by state, each state at least a column wide.
func (t *sheet) bar(n *page.Words) (bar string) {
	at, begun := 0, 0
	for _, c := range n.Legend() {
		at += c.N
		cells := max(int(math.Round(float64(at)*float64(t.width)/float64(n.Counts.Total())))-begun, 1)
		_, sign := terminal.Symbols(c.State, t.ascii)
		bar += t.colored(c.State, strings.Repeat(sign, cells))
		begun += cells
	}
	return bar
}

// commands say what to type, and what for.
func (t *sheet) commands(lists ...[]view.Command) string {
	list := slices.Concat(lists...)
	wide := plaintext.WidestOf(list, func(c view.Command) string { return c.Type })
	var b strings.Builder
	for _, c := range list {
		if head := "       $ " + terminal.Pad(c.Type, wide); displaywidth.String(head+c.For)+3 <= t.width {
			fmt.Fprintf(&b, "%s   %s\n", head, t.paint.Dim(c.For))
		} else {
			fmt.Fprintf(&b, "       $ %s\n%s\n", c.Type, t.paint.Dim(terminal.Wrap(c.For, t.width, "         ")))
		}
	}
	return b.String()
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-displaywidth.String(s), 0)) + s
}

// jobs draws the timeline of a night that is neither small nor over in a few columns, each of a minute.
func (t *sheet) jobs(n *page.Words) string {
	line := n.Timeline
	if line == nil || len(line.Spans) == 0 || line.To.Sub(line.From) < 10*time.Minute || line.Jobs > 16 || n.Counts.Total() <= smallNight {
		return ""
	}
	return "\n" + t.paint.Strong("TIMELINE") + "\n" + terminal.Timeline(line, t.width, n.O.Zone, t.ascii) + "\n"
}
