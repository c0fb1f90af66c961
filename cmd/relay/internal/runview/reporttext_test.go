package runview

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/page"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the goldens")

// A night on a terminal of 80 columns, in colours without their codes, and in plain ASCII.
func TestReportText(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 40, 400} {
		night := viewtest.Of(t, size)
		b := night.Builder()
		n := b.Night(night.Now)
		n.Timeline = b.Timeline(night.Now)
		for _, paint := range []terminal.Palette{false, true} {
			var out bytes.Buffer
			s := &sheet{w: bufio.NewWriter(&out), n: page.Said(n, page.Options{}), paint: paint, width: 80, ascii: bool(paint)}
			if err := s.write(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if !paint && displaywidth.String(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("%d tasks: wider than the terminal: %s", size, line)
				}
			}
			if paint {
				continue
			}
			file := fmt.Sprintf("testdata/report-%d.golden.txt", size)
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || out.String() != string(want) {
				t.Errorf("%s differs (%v): go test ./cmd/relay/internal/runview -update", file, err)
			}
		}
	}
}
