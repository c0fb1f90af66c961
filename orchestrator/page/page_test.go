package page

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"relay/attempts"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the goldens")

// made returns a night with its pictures, and the options of a file that shows all of it.
func made(tb testing.TB, size int) (*view.Night, Options) {
	tb.Helper()
	night := viewtest.Of(tb, size)
	b := night.Builder()
	n := b.Night(night.Now)
	n.Graph, n.Timeline = b.Graph(night.Now), b.Timeline(night.Now)
	return n, Options{Record: func(task string) *attempts.TaskRecord { return b.Ledger().Record(task) }}
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 40, 400} {
		n, o := made(t, size)
		var b bytes.Buffer
		if err := Night(&b, n, o); err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("testdata/%d.golden.html", size)
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || b.String() != string(want) {
			t.Errorf("%s differs (%v): go test ./orchestrator/page -update", file, err)
		}
	}
}
