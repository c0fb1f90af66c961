package view_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files")

// brief writes what a person reads first of a night.
func brief(n *view.Night) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", n.Sentence)
	for _, s := range view.States() {
		if c := n.Counts[s]; c > 0 {
			fmt.Fprintf(&b, "%d %s, ", c, s)
		}
	}
	fmt.Fprintf(&b, "the run is %s\n%.2f USD, %d landings, %d files, +%d -%d\n", n.Run.State, n.Money.Night.CostUSD,
		n.Changed.Landings, n.Changed.Files, n.Changed.Added, n.Changed.Deleted)
	for _, list := range [][]*view.Row{n.Needs, n.Working, n.Waiting} {
		fmt.Fprintf(&b, "\n%d rows\n", len(list))
		for _, r := range list[:min(len(list), 12)] {
			fmt.Fprintf(&b, "%s %s %s", r.State, r.ID, r.Title)
			if len(r.Also) > 0 {
				fmt.Fprintf(&b, " (%s)", r.Alike())
			}
			fmt.Fprintf(&b, ": %s%s\n", r.Why, r.Phase)
			for _, line := range r.Telling {
				fmt.Fprintf(&b, "  | %s\n", line)
			}
			if r.First != nil {
				fmt.Fprintf(&b, "  $ %s # %s\n", r.First.Type, r.First.For)
			}
			for _, c := range r.Choices {
				fmt.Fprintf(&b, "    %s # %s\n", c.Type, c.For)
			}
			if r.FreesAll > 0 {
				fmt.Fprintf(&b, "  %s\n", r.Waiters())
			}
		}
	}
	return b.String()
}

func TestNights(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 40, 400} {
		night := viewtest.Of(t, size)
		got, file := brief(night.Builder().Night(night.Now)), fmt.Sprintf("testdata/%d.golden.txt", size)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s: got (%v)\n%s", file, err, got)
		}
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]view.Sentence{
		"0 of 1 task done.":                                              {Total: 1},
		"1 of 2 tasks done, 1 running.":                                  {Done: 1, Total: 2, Running: 1},
		"All 4 tasks done (1 to look at). Look at T2.":                   {Done: 4, Total: 4, Looks: 1, Start: "Look at T2"},
		"31 of 40 tasks done (2 to look at), 9 waiting.":                 {Done: 31, Total: 40, Looks: 2, Waiting: 9},
		"0 of 9 tasks done, 3 need you, 2 running, 4 waiting. Do: it.":   {Total: 9, Running: 2, NeedYou: 3, Waiting: 4, Start: "Do: it"},
		"7 of 9 tasks done (1 to look at), 1 more needs you, 1 running.": {Done: 7, Total: 9, Looks: 1, Running: 1, NeedYou: 1},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWaiters(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]view.Advice{
		"": {}, "T38 waits for it": {Frees: []string{"T38"}, FreesAll: 1}, "T1, T2 wait for it": {Frees: []string{"T1", "T2"}, FreesAll: 2},
		"7 tasks wait for it": {Frees: []string{"T1", "T2", "T3", "T4", "T5"}, FreesAll: 7},
	} {
		if got := a.Waiters(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The forecast is one line, and says nothing of too few tasks.
func TestAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 2, 0, 0, 0, time.UTC)
	in := func(d time.Duration) view.Forecast {
		return view.Forecast{P10: now.Add(d / 2), P50: now.Add(d), P90: now.Add(2 * d), BasedOn: 3, Jobs: 2, InTime: &[3]int{1, 2, 4}}
	}
	dear, gated, few, one := in(2*time.Hour), in(time.Hour), in(time.Hour), in(time.Hour)
	dear.USD, gated.LeftOut, few.BasedOn, one.Of = &[3]float64{4, 11, 25}, 41, 2, []string{"T2"}
	days := in(24 * time.Hour)
	night := view.Night{
		At: now, Run: view.Run{State: view.On}, Counts: view.Counts{view.Done: 31, view.Blocked: 9},
		Money: view.Money{Night: attempts.Usage{CostUSD: 20}, Caps: []view.Cap{{Scope: "run", USD: &view.Bound[float64]{Cap: 60}}}},
	}
	late, off := night, night
	late.Run.Until, off.Run.State = now.Add(time.Hour/2), view.Ended
	for want, c := range map[string]struct {
		of view.Night
		f  *view.Forecast
	}{
		"done about 04:00 (03:00 to 06:00), $31 (24 to 45) of 60":         {night, &dear},
		"rest done about 03:00 (02:30 to 04:00)":                          {night, &gated},
		"T2 done about 03:00 (02:30 to 04:00)":                            {night, &one},
		"done about Sat 2026-01-03 02:00 (14:00 to Sun 2026-01-04 02:00)": {night, &days},
		"about 33 of 40 done by 02:30 (32 to 35)":                         {late, &dear},
		"done in about 2h00m (1h00m to 4h00m) with 2 jobs, $11 (4 to 25)": {off, &dear},
	} {
		c.of.Forecast = c.f
		if got := c.of.Ahead(time.UTC); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, f := range []*view.Forecast{nil, &few} {
		if night.Forecast = f; night.Ahead(time.UTC) != "" {
			t.Errorf("got %q", night.Ahead(time.UTC))
		}
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 4600 * time.Millisecond: "5s", 90 * time.Second: "2m", 59*time.Minute + 40*time.Second: "1h00m",
		26*time.Hour + 5*time.Minute: "26h05m", 100 * time.Hour: "4 days",
	} {
		if got := view.Roughly(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}

// Spans of one job never overlap, and every attempt has one.
func TestTimeline(t *testing.T) {
	t.Parallel()
	for _, size := range []int{40, 400} {
		night := viewtest.Of(t, size)
		line, started := night.Builder().Timeline(night.Now), 0
		for i := range night.Events {
			if night.Events[i].Type == attempts.TypeAttemptStarted {
				started++
			}
		}
		ends, kinds := map[int]time.Time{}, map[view.SpanKind]int{}
		for _, s := range line.Spans {
			kinds[s.Kind]++
			if s.Kind != view.SpanAttempt {
				continue
			}
			if s.Job < 1 || s.Job > line.Jobs || s.From.Before(ends[s.Job]) {
				t.Errorf("%d tasks: %+v begins on a job that is taken until %s", size, s, ends[s.Job])
			}
			if ends[s.Job] = s.To; s.To.IsZero() {
				ends[s.Job] = night.Now.Add(time.Hour)
			}
		}
		if kinds[view.SpanAttempt] != started || kinds[view.SpanChecks] == 0 || kinds[view.SpanReview] == 0 || kinds[view.SpanLanding] == 0 {
			t.Errorf("%d tasks, %d attempts: got %v", size, started, kinds)
		}
		if size == 40 && (line.Jobs != 3 || kinds[view.SpanCool] != 1) {
			t.Errorf("got %d jobs and %v", line.Jobs, kinds)
		}
	}
}

// A dependency that another one has anyway is not drawn, and each of the others is.
func TestGraph(t *testing.T) {
	t.Parallel()
	night := viewtest.Of(t, 400)
	g := night.Builder().Graph(night.Now)
	reach := make([]map[int]bool, len(g.Nodes))
	for _, i := range night.Graph.Order() {
		n := g.Nodes[i]
		reach[i] = map[int]bool{}
		for _, d := range n.Deps {
			if reach[i][d] || g.Nodes[d].Level >= n.Level {
				t.Errorf("%s: %s is drawn", n.ID, g.Nodes[d].ID)
			}
			reach[i][d] = true
			for far := range reach[d] {
				if slices.Contains(n.Deps, far) {
					t.Errorf("%s: %s is drawn, which %s depends on", n.ID, g.Nodes[far].ID, g.Nodes[d].ID)
				}
				reach[i][far] = true
			}
		}
		for _, d := range night.Graph.Deps(i) {
			if !reach[i][d] {
				t.Errorf("%s: %s is missing", n.ID, g.Nodes[d].ID)
			}
		}
	}
	if len(g.Sections) != 40 || len(g.Sections[1].Tasks) != 10 || g.Sections[1].Counts.Total() != 10 {
		t.Errorf("got %d sections, the second %+v", len(g.Sections), g.Sections[1])
	}
}

// Sections keep what they depend on at any distance by as few lines as possible, also where they wait for each other.
func TestSectionDependencies(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Version: 2, ID: "20260101-x", Title: "X"}
	for _, line := range []string{"A1 A", "B1 B A1", "C1 C A1 B1", "D1 D C1 B1", "A2 A D1", "E1 E D1 A1"} {
		f := strings.Fields(line)
		e.Tasks = append(e.Tasks, epic.Task{ID: f[0], Title: f[0], DependsOn: f[2:]})
		at := slices.IndexFunc(e.Groups, func(g epic.Group) bool { return g.Name == f[1] })
		if at < 0 {
			at = len(e.Groups)
			e.Groups = append(e.Groups, epic.Group{Name: f[1]})
		}
		e.Groups[at].Tasks = append(e.Groups[at].Tasks, f[0])
	}
	of, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range view.New(view.Input{Epic: e, Graph: of}).Graph(time.Time{}).Sections {
		got += fmt.Sprint(s.Name, s.Deps, " ")
	}
	if want := "A[3] B[0] C[1] D[2] E[3] "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// anyEvent makes an event of a night, sense or not.
func anyEvent(r *rand.Rand, n *viewtest.Night, at time.Time, seq uint64) attempts.Event {
	e := attempts.Event{Seq: seq, At: at, Run: fmt.Sprintf("run%d", r.IntN(3)), Task: n.Epic.Tasks[r.IntN(len(n.Epic.Tasks))].ID, Attempt: 1 + r.IntN(3)}
	switch r.IntN(13) {
	case 0:
		e.Type, e.Gate = attempts.TypeGated, &attempts.Gate{Reason: attempts.UserBlocked}
	case 1:
		e.Type = attempts.TypeUngated
	case 2:
		e.Type = attempts.TypeReset
	case 3:
		e.Type, e.Answer = attempts.TypeAnswered, &attempts.Answer{Text: "A"}
	case 4:
		e.Type, e.Request = attempts.TypeRequested, &attempts.Request{What: attempts.RequestStop}
	case 5:
		e.Type, e.Phase = attempts.TypePhase, []string{"checking", "reviewing", "activity", "new"}[r.IntN(4)]
	case 6:
		e.Type, e.RunStarted, e.Task = attempts.TypeRunStarted, &attempts.RunStarted{EpicID: n.Epic.ID, Jobs: 2}, ""
	case 7:
		e.Type, e.Cooldown, e.Task = attempts.TypeCooldown, &attempts.Cooldown{Runner: "claude", Until: at.Add(time.Hour)}, ""
	case 8, 9:
		e.Type, e.Started = attempts.TypeAttemptStarted, &attempts.Started{Runner: "claude"}
	default:
		made := n.Events[r.IntN(len(n.Events))]
		for made.Ended == nil {
			made = n.Events[r.IntN(len(n.Events))]
		}
		e.Type, e.Ended = attempts.TypeAttemptEnded, made.Ended
	}
	return e
}

// A night that was kept up to date is the same as one that is made of all events, and its tasks are those of the ledger.
func TestIncremental(t *testing.T) {
	t.Parallel()
	night := viewtest.Of(t, 40)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := night.Events[0].At
		b, events := view.New(night.Input()), []attempts.Event{}
		for k := range 120 {
			now = now.Add(time.Duration(r.IntN(30)) * time.Minute)
			events = append(events, anyEvent(r, night, now, uint64(k+1)))
			b.Apply(&events[k])
			if r.IntN(8) > 0 {
				continue
			}
			fresh := view.New(night.Input())
			for i := range events {
				fresh.Apply(&events[i])
			}
			same(t, seed, k, b.Night(now), fresh.Night(now))
			same(t, seed, k, b.Timeline(now), fresh.Timeline(now))
			same(t, seed, k, b.Graph(now), fresh.Graph(now))
			in := night.Input()
			in.Ledger = b.Ledger()
			same(t, seed, k, b.Night(now).Counts, view.New(in).Night(now).Counts)
		}
	}
}

func same(t *testing.T, seed uint64, event int, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil || string(g) != string(w) {
		t.Fatalf("seed %d, event %d (%v): got\n%s\nwant\n%s", seed, event, err, g, w)
	}
}

// An event costs the same in a plan of 10,000 tasks as in one of 400, and nothing of it is lost.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{400, 10_000} {
		night := viewtest.Of(b, size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			var of *view.Builder
			for i := range b.N {
				k := i % len(night.Events)
				if k == 0 {
					of = view.New(night.Input())
				}
				of.Apply(&night.Events[k])
				if k == len(night.Events)-1 {
					check(b, night, of)
				}
			}
		})
	}
}

// A viewer that asks for the night after each event of a plan of 10,000 tasks.
func BenchmarkNight(b *testing.B) {
	night := viewtest.Of(b, 10_000)
	half := len(night.Events) / 2
	var of *view.Builder
	b.ReportAllocs()
	for i := range b.N {
		if i%half == 0 {
			b.StopTimer()
			of = view.New(night.Input())
			for k := range half {
				of.Apply(&night.Events[k])
			}
			b.StartTimer()
		}
		of.Apply(&night.Events[half+i%half])
		if n := of.Night(night.Now); n.Counts.Total() != 10_000 {
			b.Fatalf("got %d tasks", n.Counts.Total())
		}
	}
}

// check compares the counts of a night with those of its ledger.
func check(tb testing.TB, night *viewtest.Night, b *view.Builder) {
	tb.Helper()
	n, want := b.Night(night.Now), map[attempts.Status]int{}
	for i := range night.Epic.Tasks {
		want[b.Ledger().StatusOf(night.Graph, night.Epic.Tasks[i].ID)]++
	}
	done := n.Counts.Group(view.IsDone)
	if done != want[attempts.Completed] || n.Counts[view.Running] != want[attempts.InProgress] ||
		n.Counts[view.Blocked] != want[attempts.BlockedOn] || n.Counts.Total() != len(night.Epic.Tasks) || done < len(night.Epic.Tasks)/3 {
		tb.Fatalf("got %v, want %v", n.Counts, want)
	}
}
