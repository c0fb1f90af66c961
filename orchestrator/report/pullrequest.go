// Package report tells in the morning what a night came to, as markdown, HTML and JSON, and what a pull request says of it.
//
// The package is pure: what it tells follows from the ledger, the plan and the event log it is given.
package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
)

// Limits of a pull request's text, in bytes. Hosts take 64 KiB.
const (
	maxRequest     = 60_000
	maxRequestOpen = 20_000 // of it, for what is not in the branch
)

// requested is a task as a pull request tells it.
type requested struct {
	*epic.Task
	*attempts.TaskRecord
	Receipt  attempts.Receipt // of the attempt that landed, or of the last one
	Status   attempts.Status
	WaitsFor []string
}

// PullRequest returns the text of a pull request, made of receipts. All text that an agent may have written is
// code: there it neither formats, nor mentions anybody, nor closes issues.
func PullRequest(e *epic.Epic, g *epic.Graph, l *attempts.Ledger) (string, error) {
	t, err := new(page).parse()
	write := func(name string, of any) string {
		var b strings.Builder
		if err == nil {
			err = t.ExecuteTemplate(&b, name, of)
		}
		return b.String()
	}
	var landed, open []string
	for i := range e.Tasks {
		id := e.Tasks[i].ID
		one := requested{Task: &e.Tasks[i], TaskRecord: l.Record(id), Status: l.StatusOf(g, id), WaitsFor: l.WaitsFor(g, id)}
		for _, a := range one.Attempts {
			if !one.Completed || a.Result == attempts.ResultSuccess {
				one.Receipt = a.Receipt
			}
		}
		if one.Completed {
			landed = append(landed, write("landed", &one))
		} else {
			open = append(open, write("open", &one))
		}
	}
	head := write("request", map[string]any{"Epic": e, "Landed": len(landed)})
	rest := requestPart("Not in this branch", open, maxRequestOpen)
	return head + requestPart("Landed", landed, maxRequest-len(head)-len(rest)) + rest, err
}

// requestPart returns a heading with as many sections as there is room for.
func requestPart(title string, sections []string, room int) string {
	if len(sections) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", title)
	for i, s := range sections {
		if b.Len()+len(s)+100 > room {
			fmt.Fprintf(&b, "\nand %s\n", plaintext.Count(len(sections)-i, "more task"))
			break
		}
		b.WriteString(s)
	}
	return b.String()
}
