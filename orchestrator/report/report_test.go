package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
	"relay/orchestrator/secrets"
	"relay/orchestrator/view"
)

func markdown(tb testing.TB, r *Report) string {
	tb.Helper()
	var b bytes.Buffer
	if err := r.Markdown(&b, time.UTC); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s:\n%s", golden, got)
	}
}

// A night with every kind of end, in which agents try to be heard.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	compare(t, "night.golden.md", markdown(t, Make(night(t, hostile))))
}

// states are reports of every state that a night can be in.
func states(t *testing.T) map[string]*Report {
	t.Helper()
	full, fresh, old, crashed, running := night(t, hostile), night(t, hostile), night(t, hostile), night(t, hostile), night(t, hostile)
	fresh.Ledger, fresh.Journal, fresh.Caps, fresh.Warnings = &attempts.Ledger{}, view.NewJournal(""), limits.Caps{}, nil
	old.Journal = nil
	old.Ledger = &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"T1": {Attempts: []attempts.Attempt{{ID: 1, StartedAt: at(1), EndedAt: at(2), Result: attempts.ResultFailure, Charged: true}}}}}
	old.Ledger.Status = attempts.RelayStatus{State: "stopped", StartedAt: at(0), StoppedAt: at(60), LastExitCode: 4, LastExitReason: "deadline"}
	old.Ledger.Why = "its deadline was reached"
	crashed.Journal = view.NewJournal("")
	for _, e := range events(hostile)[:8] {
		crashed.Journal.Add(e)
	}
	running.Journal, running.Running, running.Ledger.Integration.Finished = crashed.Journal, true, "main"
	cut := night(t, hostile)
	cut.Journal = view.NewJournal(first)
	for _, e := range events(hostile) {
		cut.Journal.Add(e)
	}
	done := night(t, hostile)
	for _, task := range done.Epic.Tasks {
		done.Ledger.Tasks[task.ID] = &attempts.TaskRecord{Completed: true}
	}
	refused, added := Make(done), done
	added.Ledger.EpicReviews[1].Added = []string{"T12", "T13"}
	return map[string]*Report{"reloaded": Make(cut), "refused": refused, "added": Make(added), "full": Make(full), "fresh": Make(fresh), "old": Make(old), "crashed": Make(crashed), "running": Make(running)}
}

// What each state of a night is called, and what is to be typed then.
func TestHeads(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	all := states(t)
	for _, name := range []string{"fresh", "old", "crashed", "running", "reloaded", "refused", "added"} {
		text := markdown(t, all[name])
		head, rest, _ := strings.Cut(text, "\n## ")
		fmt.Fprintf(&b, "%s: %s\n", name, head)
		if _, whole, ok := strings.Cut(rest, "## The whole epic\n"); ok && name == "added" {
			whole, _, _ = strings.Cut(whole, "\n## ")
			b.WriteString(whole)
		}
		if _, next, ok := strings.Cut("\n## "+rest, "\n## Next\n"); ok {
			next, _, _ = strings.Cut(next, "\n## ")
			b.WriteString(next)
		}
	}
	compare(t, "heads.golden.md", b.String())
}

func TestJSONFollowsItsSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range states(t) {
		var b bytes.Buffer
		if err := r.JSON(&b); err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b.String())
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		whole, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(whole, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: what is written task by task is not the report (%v)", name, err)
		}
	}
}

// Every text in a report goes through Redact, whoever wrote it.
func TestNoSecretGetsThrough(t *testing.T) {
	t.Parallel()
	in := night(t, "it is hunter2hunter2, is it?")
	in.Redact = secrets.New([]string{"A_PASSWORD=hunter2hunter2"})
	var b bytes.Buffer
	r := Make(in)
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"json": b.String(), "md": markdown(t, r)} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "[redacted A_PASSWORD]") {
			t.Errorf("%s: %s", form, text)
		}
	}
}

// The numbers add up to what the attempts of the night have used, and those of other nights do not count.
func TestTotals(t *testing.T) {
	t.Parallel()
	r := Make(night(t, "x"))
	if got, want := r.Tries, (Tries{Total: 10, Succeeded: 3, Charged: 4, Uncharged: 2, Running: 1}); got != want {
		t.Errorf("attempts %+v, want %+v", got, want)
	}
	if got, want := r.Criteria, (Criteria{Met: 2, NotMet: 1, Unproven: 3}); got != want {
		t.Errorf("criteria %+v, want %+v", got, want)
	}
	tasks, spenders := *r.Judged.Usage, attempts.Usage{}
	for i := range r.Tasks {
		if u := r.Tasks[i].Usage; u != nil {
			tasks.Add(*u)
		}
	}
	for _, s := range r.Spenders {
		spenders.Add(s.Usage)
	}
	want := attempts.Usage{InputTokens: 7*120_000 + 6_000, CachedTokens: 700_000, OutputTokens: 21_110, CostUSD: 9}
	for of, got := range map[string]attempts.Usage{"night": r.Usage, "tasks": tasks, "spenders": spenders} {
		if got != want {
			t.Errorf("%s used %+v, want %+v", of, got, want)
		}
	}
	if got := r.EpicUsage.CostUSD; got != 10.75 {
		t.Errorf("the epic has cost %v, want 10.75", got)
	}
	if b := r.Caps[1].USD; b.Spent != 10.75 || b.Left != 0 {
		t.Errorf("the epic's cap: %+v", b)
	}
}

// Only the runs of one relay work are a night; an older one can be asked for.
func TestJournalKeepsOneNight(t *testing.T) {
	t.Parallel()
	for wanted, want := range map[string]string{"": first + " " + second, second: first + " " + second, first: first, before: before, "nothing": "unknown"} {
		j := view.NewJournal(wanted)
		for _, e := range events("x") {
			j.Add(e)
		}
		got := nightOf(j)
		if !j.HasRun() {
			got = "unknown"
		}
		if got != want || len(j.Runs()) != 3 {
			t.Errorf("%q: got %s of %v, want %s", wanted, got, j.Runs(), want)
		}
		if n := len(j.Notes) + len(j.Waits) + len(j.Switches); wanted == first && n != 1 {
			t.Errorf("%q: %d notes and waits, one is of this night", wanted, n)
		}
		if old := slices.ContainsFunc(j.Notes, func(n view.Note) bool { return n.Text == "of another night" }); old != (wanted == before) && j.HasRun() {
			t.Errorf("%q: notes %+v", wanted, j.Notes)
		}
	}
}

func nightOf(j *view.Journal) string {
	var ids []string
	for i := range j.Session {
		ids = append(ids, j.Session[i].ID)
	}
	return strings.Join(ids, " ")
}

// A run belongs to the night of the one before it when the same process goes on at once, for a reason to go on.
func TestRunsOfOneNight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason     decide.EndReason
		pid, pause int // of the second run, minutes before it
		want       string
	}{
		{decide.Reload, 8, 0, "a b"},
		{decide.EpicRefused, 8, 0, "a b"},
		{decide.Reload, 9, 0, "b"},
		{decide.Reload, 8, 2, "b"},
		{decide.NoRunnableTasks, 8, 0, "b"},
	} {
		j := view.NewJournal("")
		j.Add(attempts.Event{Run: "a", At: at(0), RunStarted: &attempts.RunStarted{PID: 8}})
		j.Add(attempts.Event{Run: "a", At: at(9), RunStopped: &attempts.RunStopped{Reason: string(c.reason)}})
		j.Add(attempts.Event{Run: "b", At: at(9 + c.pause), RunStarted: &attempts.RunStarted{PID: c.pid}})
		if got := nightOf(j); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	crashed := view.NewJournal("")
	crashed.Add(attempts.Event{Run: "a", At: at(0), RunStarted: &attempts.RunStarted{PID: 8}})
	crashed.Add(attempts.Event{Run: "a", At: at(3), Type: attempts.TypeBriefed, Task: "T1", Attempt: 1, Briefed: &attempts.Briefed{}})
	crashed.Add(attempts.Event{Run: "a", At: at(8), Type: attempts.TypeAnswered, Task: "T1", Answer: &attempts.Answer{Text: "yes"}})
	crashed.Add(attempts.Event{Run: "b", At: at(9), RunStarted: &attempts.RunStarted{PID: 8}})
	crashed.Add(attempts.Event{Run: "b", At: at(10), RunStopped: &attempts.RunStopped{Reason: string(decide.NoRunnableTasks)}})
	if got := nightOf(crashed); got != "a b" {
		t.Errorf("after a crash: got %s", got)
	}
	in := night(t, "x")
	in.Journal = crashed
	in.Ledger.Tasks["T1"] = &attempts.TaskRecord{Attempts: []attempts.Attempt{{ID: 1, Run: "a", StartedAt: at(1), EndedAt: at(9), Result: attempts.ResultInterrupted}}}
	var page strings.Builder
	if err := Make(in).Markdown(&page, time.UTC); err != nil || !strings.Contains(page.String(), ", at least 3m") || !strings.Contains(page.String(), ", at least 2m") {
		t.Errorf("the run was killed after 3 minutes or more, its attempt after 2: %v\n%s", err, page.String())
	}
	if r := Make(in); len(r.Runs) != 2 || r.Runs[0].Reason != "crashed" || !r.Runs[0].StoppedAt.IsZero() || r.Runs[1].Reason == "crashed" {
		t.Errorf("got %+v", r.Runs)
	}
}

// Whatever there is too much of is counted.
func TestLongListsAreCut(t *testing.T) {
	t.Parallel()
	in := night(t, "x")
	for range 500 {
		in.Journal.Add(attempts.Event{At: at(1), Note: &attempts.Note{Kind: "stray", Text: "y"}})
		in.Journal.Add(attempts.Event{At: at(1), Waiting: &attempts.Waiting{For: "claude", Until: at(2)}})
	}
	many := in.Ledger.Tasks["T5"].Attempts[0]
	for range 200 {
		many.Receipt.Review.Deferred = append(many.Receipt.Review.Deferred, many.Receipt.Review.Deferred[0])
	}
	for i := range 20 {
		many.ID = i + 2
		in.Ledger.Tasks["T5"].Attempts = append(in.Ledger.Tasks["T5"].Attempts, many)
	}
	in.Ledger.Tasks["T5"].Attempts[20].Receipt.Review = many.Receipt.Review
	for i := range 1100 {
		id := fmt.Sprintf("G%d", i)
		in.Epic.Tasks = append(in.Epic.Tasks, epic.Task{ID: id, Title: "More"})
		in.Ledger.Tasks[id] = &attempts.TaskRecord{Gate: &attempts.Gate{Reason: attempts.UserBlocked}}
	}
	in.Epic.Tasks = append(in.Epic.Tasks, epic.Task{ID: "Z1", Title: "Never begun"})
	var err error
	if in.Graph, err = epic.NewGraph(in.Epic); err != nil {
		t.Fatal(err)
	}
	got := markdown(t, Make(in))
	for _, want := range []string{
		"more: `relay ledger log`\n",
		"\nand 1006 more tasks: `relay status --verbose`\n", "- 1 attempt before these: `relay show T5`\n", "\n- and 9 more: `relay show TASK --review`\n",
		"\nand 114 more tasks: `relay status --verbose`\n", "\nand 110 more tasks: `relay report --format json` has all of them\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(got, "| Z1 |") {
		t.Error("a task that nothing happened to has a row in the table of a long plan")
	}
}
