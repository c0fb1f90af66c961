package project

import (
	"bytes"
	"os"
	"reflect"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

// longNight returns a night whose plan uses all there is in one, in a folder of its own.
func longNight(tb testing.TB, tasks int) (*viewtest.Night, *Project, *Plan) {
	tb.Helper()
	night := viewtest.Of(tb, tasks)
	for i := range night.Epic.Tasks {
		t := &night.Epic.Tasks[i]
		t.Description, t.Priority, t.Kind = "Round <once> a rate & keep \u2028 the old one.\n", i%4, epic.KindFeature
		t.Checks = []epic.Check{{Name: "true", Run: "true", Timeout: time.Minute, Expect: epic.ExpectRedThenGreen}}
		t.Criteria = []epic.Criterion{{Text: "it is rounded", Check: "true"}}
	}
	text, err := night.Epic.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	p := &Project{Root: tb.TempDir()}
	p.Dir = p.Root
	if err := os.WriteFile(p.File("epic.yml"), text, 0o600); err != nil {
		tb.Fatal(err)
	}
	pl, err := p.Plan()
	if err != nil {
		tb.Fatal(err)
	}
	return night, p, pl
}

// Viewers have the same plan and the same night with the reading that a run has left as without, and after any edit what epic.yml says.
func TestSeenPlan(t *testing.T) {
	t.Parallel()
	night, p, pl := longNight(t, 400)
	sees := func(want *Plan, note string) *Plan {
		got, err := p.plan(p.see)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: viewers read another plan, %v", note, err)
		}
		return got
	}
	sees(pl, "no reading")
	whole := pl.Seen()
	keep := func(text []byte) {
		if err := os.WriteFile(p.File(attempts.SeenPlan), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep(whole)
	seen := sees(pl, "a reading")
	of := func(pl *Plan) *view.Night {
		in := night.Input()
		in.Epic, in.Graph = pl.Epic, pl.Graph
		b := view.New(in)
		for i := range night.Events {
			b.Apply(&night.Events[i])
		}
		return b.Night(night.Now)
	}
	if !reflect.DeepEqual(of(seen), of(pl)) {
		t.Error("the night is another one")
	}
	for note, text := range map[string][]byte{
		"torn": whole[:len(whole)/2], "empty": nil, "no line": []byte("{"), "forged": bytes.Replace(whole, []byte("Task number 7 "), []byte("Task number 8 "), 1),
		"older relay": append([]byte("v0.1.0"), whole...),
	} {
		keep(text)
		sees(pl, note)
	}
	other := bytes.Replace(whole[bytes.IndexByte(whole, '\n')+1:], []byte("Task number 7 "), []byte("Task number 8 "), 1)
	keep(append(attempts.Seal(RelayVersion(), pl.Source, other), other...))
	if got, err := p.plan(p.see); err != nil || got.Epic.Tasks[6].Title != "Task number 8 of the night" {
		t.Errorf("a reading that fits is not used: %v", err)
	}
	keep(whole)
	edited := bytes.Replace(pl.Source, []byte("Task number 7 "), []byte("Task number 9 "), 1)
	if err := os.WriteFile(p.File("epic.yml"), edited, 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := ParsePlan("epic.yml", edited)
	if err != nil || after.Epic.Tasks[6].Title == pl.Epic.Tasks[6].Title {
		t.Fatal("nothing was edited: ", err)
	}
	sees(after, "edited")
}

func BenchmarkSeenPlan(b *testing.B) {
	_, p, pl := longNight(b, 10_000)
	if err := os.WriteFile(p.File(attempts.SeenPlan), pl.Seen(), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got, err := p.plan(p.see); err != nil || len(got.Epic.Tasks) != 10_000 || got.Graph.Len() != 10_000 {
			b.Fatal("not all tasks are read: ", err)
		}
	}
}
