package checkup

import (
	"fmt"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
)

// Write prints the points for people, and whether relay work can begin.
func Write(w *terminal.Writer, points []Point) {
	counts, widest := map[string]int{}, 0
	for _, p := range points {
		widest = max(widest, len(p.Name))
	}
	for i, p := range points {
		counts[p.State]++
		state := painted(w.Palette, p.State) + strings.Repeat(" ", max(4-len(p.State), 0))
		fmt.Fprintf(w, "%s  %s  %s\n", state, terminal.Pad(p.Name, widest), plaintext.Escape(p.Message))
		if p.Fix != "" && (i+1 == len(points) || points[i+1].Fix != p.Fix) {
			for row := range strings.SplitSeq(p.Fix, "\n") {
				fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", widest+8), plaintext.Escape(row))
			}
		}
	}
	paint := w.Palette
	switch {
	case counts[Fail] > 0:
		fmt.Fprintf(w, "\n%s\n", paint.Bad(text.Count(counts[Fail], "problem")+" to fix before relay work"))
	case counts[Warn] > 0:
		fmt.Fprintf(w, "\n%s: relay work\n", paint.Wait("ready, with "+text.Count(counts[Warn], "warning")))
	default:
		fmt.Fprintf(w, "\n%s: relay work\n", paint.Good("ready"))
	}
}

// painted marks the state of a point.
func painted(p terminal.Palette, state string) string {
	switch state {
	case Fail:
		return p.Bad(state)
	case Warn:
		return p.Wait(state)
	}
	return p.Good(state)
}
