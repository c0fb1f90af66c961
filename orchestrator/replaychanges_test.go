package orchestrator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/replay"
)

// told decides a simulated night anew after its events were changed, and returns what is told of that.
func told(t *testing.T, dir, text string, with replay.Code, change func(e *attempts.Event)) string {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	rec := replay.RecordedIn(dir, "20260101T220000Z-0000", e, g)
	events := rec.Events
	rec.Events = func(f func(attempts.Event) error) error {
		return events(func(e attempts.Event) error {
			if change != nil {
				change(&e)
			}
			return f(e)
		})
	}
	report, err := replay.DecideBy(t.Context(), rec, with)
	if err != nil {
		return err.Error()
	}
	return strings.Join(report.Lines(func(at time.Time) string { return at.UTC().Format(time.TimeOnly) }), "\n")
}

// inSteps has a change be made to every step of a kind.
func inSteps(kind attempts.StepKind, change func(s *attempts.Step)) func(e *attempts.Event) {
	return func(e *attempts.Event) {
		e.Steps = slices.Clone(e.Steps)
		for i := range e.Steps {
			if e.Steps[i].Kind == kind {
				change(&e.Steps[i])
			}
		}
	}
}

func inRules(change func(r *attempts.Rules)) func(e *attempts.Event) {
	return inSteps(attempts.StepBegun, func(s *attempts.Step) { change(s.Rules) })
}

// inFileOrder is a scheduler that knows no weights.
func inFileOrder(d *decide.Dispatcher, now limits.Instant) (decide.Choice, *decide.Waiting, error) {
	next, wait, err := d.Decide(now)
	if next.Index >= 0 {
		next.Index = slices.Min(slices.Collect(d.State.Plan.Ready.All()))
	}
	return next, wait, err
}

// deciding is the code with another scheduler.
func deciding(decide replay.DecideFunc) replay.Code {
	with := replay.Current()
	with.Decide = decide
	return with
}

const fileOrder = `version: 2
id: 20260101-night
title: night
tasks:
  X: {title: x}
  A: {title: a}
  B: {title: b, depends_on: [A]}
`

// What the code would decide otherwise is found and named: a scheduler with another order, and everything that a log could have
// recorded otherwise than this code decides it.
func TestReplayFindsChanges(t *testing.T) {
	t.Parallel()
	script := map[string][]step{
		"A": {{takes: 10 * time.Minute, outcome: attempts.Provider, why: "overloaded"}, {takes: time.Minute, outcome: attempts.Agent, why: "no such table"}},
		"X": {{outcome: attempts.Agent, why: "red"}, {outcome: attempts.Agent, why: "green"}, {outcome: attempts.Agent, why: "blue"}},
	}
	simulate(t, fileOrder, Options{}, script, func(s *simulated, _ *attempts.Store, err error) {
		if err != nil {
			t.Fatal(err)
		}
		ended := func(change func(e *attempts.Event)) func(e *attempts.Event) {
			return func(e *attempts.Event) {
				if e.Ended != nil {
					ended := *e.Ended
					e.Ended = &ended
					change(e)
				}
			}
		}
		for name, c := range map[string]struct {
			with   replay.Code
			change func(e *attempts.Event)
			want   []string
		}{
			"file order": {deciding(inFileOrder), nil, []string{"00:00:00  start of A: then A starts with claude; now X starts with claude"}},
			"nothing": {deciding(func(*decide.Dispatcher, limits.Instant) (decide.Choice, *decide.Waiting, error) {
				return decide.Choice{Index: -1}, nil, nil
			}), nil, []string{"now nothing starts"}},
			"more jobs":  {replay.Current(), inRules(func(r *attempts.Rules) { r.Jobs = 2 }), []string{"then it was left waiting while a job was free; now X starts with claude"}},
			"other wait": {replay.Current(), inSteps(attempts.StepWaited, func(s *attempts.Step) { s.For = "codex" }), []string{"then the run waits for codex; now the run waits for claude"}},
			"charge":     {replay.Current(), ended(func(e *attempts.Event) { e.Ended.Charged = !e.Ended.Charged }), []string{"then it counts against the task; now it does not count against the task"}},
			"gate":       {replay.Current(), ended(func(e *attempts.Event) { e.Ended.Gate = nil }), []string{"then it is not gated; now it is gated: max_attempts_exceeded"}},
			"cooldown": {replay.Current(), func(e *attempts.Event) {
				e.Cooldown = nil
				e.Task = map[bool]string{true: "", false: e.Task}[e.Type == attempts.TypeCooldown]
			}, []string{"then every runner may be asked; now claude is not asked before 2000-01-01T00:10:30Z"}},
			"breaker":  {replay.Current(), inRules(func(r *attempts.Rules) { r.MaxUnchargedRun = 1 }), []string{"then the run went on; now nothing more starts: uncharged_retries"}},
			"attempts": {replay.Current(), inRules(func(r *attempts.Rules) { r.MaxAttempts = 1 }), []string{"gate of A: then its attempt begins; now it is gated"}},
			"answered": {replay.Current(), inSteps(attempts.StepWaited, func(s *attempts.Step) {
				*s = attempts.Step{Number: s.Number, Ran: s.Ran, Kind: attempts.StepAnswered, Task: "A", Runner: "claude"}
			}), []string{"then claude is asked again; now claude is not asked again"}},
			"undone": {replay.Current(), func(e *attempts.Event) {
				if e.Waiting != nil {
					e.Type, e.Task, e.Waiting, e.Undone = attempts.TypeUndone, "A", nil, &attempts.Undone{}
				}
			}, []string{"undone of A: then it is to be done again; now that is left to a person after 0 times"}},
			"no steps": {replay.Current(), func(e *attempts.Event) { e.Steps = nil }, []string{"no decision of run 20260101T220000Z-0000 can be repeated", "cannot be checked: 7 starts of tasks (A, B, X): the steps that they depend on are missing from the log, as after a crash", "ends of attempts (A, B, X): "}},
			"a gap": {replay.Current(), func(e *attempts.Event) {
				if e.Seq > 8 {
					e.Steps = nil
				}
			}, []string{"the steps that they depend on are missing from the log, as after a crash"}},
			"no ends":     {replay.Current(), ended(func(e *attempts.Event) { e.Type, e.Ended = attempts.TypeNote, nil }), []string{"1 ends of attempts (A): the log does not say how they came to their end"}},
			"another run": {replay.Current(), func(e *attempts.Event) { e.Run = "20250101T220000Z-0000" }, []string{"the event log has nothing of that run"}},
		} {
			got := told(t, s.dir, fileOrder, c.with, c.change)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: got\n%s\nwant %s", name, got, want)
				}
			}
		}
	})
}

func TestReplayFindsOtherBudgets(t *testing.T) {
	t.Parallel()
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 1}}}
	o.Budget.Run.USD = 1
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Success, usd: []float64{0.5, 1.5}}}}
	simulate(t, fileOrder, o, script, func(s *simulated, _ *attempts.Store, _ error) {
		got := told(t, s.dir, fileOrder, replay.Current(), inRules(func(r *attempts.Rules) { r.RunCap.USD = 9 }))
		for _, want := range []string{"then a budget is spent; now the budget is not used up", "then nothing more starts: the budget is spent"} {
			if !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant %s", got, want)
			}
		}
	})
}

// Work that lands in another order than the code has it is found.
func TestReplayFindsOtherLandings(t *testing.T) {
	t.Parallel()
	const text = "version: 2\nid: 20260101-night\ntitle: night\ntasks:\n  A: {title: a}\n  B: {title: b}\n"
	e, err := epic.Read("epic.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l := layered{e, map[string]time.Duration{"A": time.Minute, "B": time.Minute}}
	dir := l.nightIn(t, 2, time.Second)
	for name, c := range map[string]struct {
		change func(e *attempts.Event)
		want   string
	}{
		"order":    {inSteps(attempts.StepJoined, func(s *attempts.Step) { s.Tasks = []string{"B", "A"} }), " can land, in this order; now "},
		"nothing":  {inSteps(attempts.StepProved, func(s *attempts.Step) { s.Kind = attempts.StepOver }), "now nothing can land"},
		"together": {inSteps(attempts.StepLanded, func(s *attempts.Step) { s.Tasks = []string{"A", "B", "A"} }), "then together land A, B, A; now together land the first of "},
	} {
		if got := told(t, dir, text, replay.Current(), c.change); !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %s", name, got, c.want)
		}
	}
}
