package checkup

import (
	"fmt"
	"io"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
)

// Write prints the points for people, and whether relay work can begin.
func Write(w io.Writer, points []Point) {
	counts, widest := map[string]int{}, 0
	for _, p := range points {
		widest = max(widest, len(p.Name))
	}
	for i, p := range points {
		counts[p.State]++
		fmt.Fprintf(w, "%-4s  %s  %s\n", p.State, terminal.Pad(p.Name, widest), plaintext.Escape(p.Message))
		if p.Fix != "" && (i+1 == len(points) || points[i+1].Fix != p.Fix) {
			for row := range strings.SplitSeq(p.Fix, "\n") {
				fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", widest+8), plaintext.Escape(row))
			}
		}
	}
	switch {
	case counts[Fail] > 0:
		fmt.Fprintf(w, "\n%s to fix before relay work\n", text.Count(counts[Fail], "problem"))
	case counts[Warn] > 0:
		fmt.Fprintf(w, "\nready, with %s: relay work\n", text.Count(counts[Warn], "warning"))
	default:
		fmt.Fprint(w, "\nready: relay work\n")
	}
}
