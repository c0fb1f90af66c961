package page

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
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
	lists := []List{{Name: "Next", Items: []Item{{Type: "relay status --watch", Text: "follows the run"}, {Task: "T1", Text: "asks: which one?"}}}}
	return n, Options{Lists: lists, Record: func(task string) *attempts.TaskRecord { return b.Ledger().Record(task) }}
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 40, 400} {
		n, o := made(t, size)
		if o.Files = "/"; size > 40 {
			o.Record, n.Graph, n.Timeline = nil, nil, nil
		}
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

// Whatever agents and programs say, a page has the tags that it has without, and its policy allows what is in it.
func TestText(t *testing.T) {
	t.Parallel()
	tags := func(said string) []string {
		row := view.Row{ID: "T1", Title: said, State: view.Asks, Agent: said, Section: said}
		row.Advice = &view.Advice{Why: said, Telling: []string{said}, Detail: said}
		row.First, row.Choices, row.Equal = &view.Command{Type: said, For: said}, []view.Command{{Type: said, For: said}}, true
		look, advice := row, *row.Advice
		look.Advice, look.ID, look.State, advice.Equal, advice.Also = &advice, "T2", view.Look, false, []string{said}
		a := attempts.Attempt{ID: 1, Runner: said, Model: said, Result: attempts.ResultFailure}
		a.Receipt.ErrorSummary, a.Receipt.Checks = said, []attempts.CheckRun{{Name: said, Tail: said, ExitCode: 1}}
		n := &view.Night{Epic: view.Epic{Title: said}, Counts: view.Counts{view.Asks: 1, view.Look: 1}}
		n.Needs, n.Done = []*view.Row{&row, &look}, []*view.Row{&look}
		n.Sentence.Start, n.Failing, n.Notes = said, []string{said}, []view.Note{{Task: "T1", Text: said}}
		n.Refused = []view.Refused{{Runner: said, What: said, Why: said, Type: said}}
		n.Changed = view.Changed{Branch: said, From: said, Landings: 1, Next: []view.Command{{Type: said, For: said}}}
		var b bytes.Buffer
		o := Options{Warnings: []string{said}, Lists: []List{{Name: said, Items: []Item{{Task: "T1", Text: said, Type: said}}}}}
		o.Record = func(string) *attempts.TaskRecord { return &attempts.TaskRecord{Attempts: []attempts.Attempt{a}} }
		if err := Night(&b, n, o); err != nil {
			t.Fatal(err)
		}
		if err := Task(&b, &row, o.Record(""), []Link{{Name: said, To: "/task/T1/diff"}}, Options{Files: "/"}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), html.EscapeString(said)) {
			t.Errorf("%q is not on the page", said)
		}
		return regexp.MustCompile(`<[^>]*>`).FindAllString(regexp.MustCompile(`(id|href)="[^"]*"`).ReplaceAllString(b.String(), ""), -1)
	}
	want := tags("x")
	for _, said := range []string{"</style><script>alert(1)</script>", `" onload="alert(1)`, "{{.Secret}}", "<!--", "javascript:alert(1)", "]]>"} {
		if got := tags(said); !slices.Equal(got, want) {
			t.Errorf("%q makes a tag of its own", said)
		}
	}
}
