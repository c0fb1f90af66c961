package status

import (
	"fmt"
	"io"
	"slices"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// mostOpen is how many tasks with open questions, and how many open discussions, are listed.
const mostOpen = 5

// writeOpen prints the open questions of tasks that do not wait for the answer, and the open discussions, the newest first.
func writeOpen(w io.Writer, l Printer, s *Report) {
	asking := s.pick(func(t *Task) bool { return len(t.Questions) > 0 && t.Reason != attempts.AwaitsAnswer })
	if len(asking) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Wait("open questions:"))
	}
	for _, t := range asking[:min(len(asking), mostOpen)] {
		for _, q := range t.Questions[:min(len(t.Questions), mostOpen)] {
			writeItem(w, l, t.ID+": "+plaintext.Fit(q, maxWhy))
		}
		fmt.Fprintf(w, "    %s\n", view.Answering(t.ID).Type+l.Flag)
	}
	if more := len(asking) - mostOpen; more > 0 {
		fmt.Fprintf(w, "  and %s more: relay report%s\n", plaintext.Count(more, "task"), l.Flag)
	}
	if len(s.Discussions) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Wait("open discussions:"))
	}
	for i, t := range slices.Backward(s.Discussions) {
		if i < len(s.Discussions)-mostOpen {
			fmt.Fprintf(w, "  and %d more: relay discuss open\n", i+1)
			break
		}
		writeItem(w, l, plaintext.Fit(t.Topic, 120)+": relay discuss replay "+plaintext.ShellWord(t.ID))
	}
}

// writeItem prints an entry of a list.
func writeItem(w io.Writer, l Printer, text string) {
	fmt.Fprintf(w, "  %s\n", terminal.Hang(text, l.Width, "    "))
}
