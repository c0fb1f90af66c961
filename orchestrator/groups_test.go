package orchestrator

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/replay"
)

// grouping is simulated with a train whose groups fail together, or do not fit together, as a seed says.
type grouping struct {
	*simulated
	seed uint64
	dice *rand.Rand // of the train's goroutine
}

func (g *grouping) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, err := g.simulated.Run(ctx, a)
	took := rand.New(rand.NewPCG(g.seed, uint64(len(a.Task.ID))<<8|uint64(a.Task.ID[len(a.Task.ID)-1])))
	for range took.IntN(4) {
		f.Receipt.Checks = append(f.Receipt.Checks, attempts.CheckRun{Name: "suite", Seconds: took.Float64() * 10})
	}
	return f, err
}

func (g *grouping) Join(_ context.Context, group []engine.Verified) (engine.Step, error) {
	<-time.After(2 * time.Minute)
	j := engine.Step{From: "a", To: "b"}
	stacked := 1 + g.dice.IntN(len(group))
	if stacked > 1 && g.dice.IntN(2) == 0 {
		return engine.Step{From: "a", To: "a", Red: stacked}, nil
	}
	for _, v := range group[:stacked] {
		j.Results = append(j.Results, v.Result)
	}
	return j, nil
}

func (*grouping) Advance(context.Context, engine.Step) (bool, error) { return true, nil }

// grouped has a night in which work lands in groups, and returns the folder of its log.
func grouped(t *testing.T, seed uint64, tasks int) (dir string) {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(sideBySide(tasks)))
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]time.Duration{}
	for i, task := range e.Tasks {
		takes[task.ID] = time.Duration(i%5)*time.Minute + time.Duration(i)*time.Second // no two end at once
	}
	dir = memoryDir(t)
	layered{e, takes}.sleepWith(t, night{dir: dir, jobs: 8}, func(s *simulated) engine.Engine {
		return &grouping{s, seed, rand.New(rand.NewPCG(seed, 0))}
	})
	return dir
}

// How many landings share a run of checks is decided anew as it was: by how long their checks took, and by which failed together.
func TestReplayOfGroups(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	groups := 0
	for seed := range uint64(60) {
		tasks := 5 + int(seed)
		text := sideBySide(tasks)
		got := told(t, grouped(t, seed, tasks), text, replay.Current(), func(e *attempts.Event) {
			for _, s := range e.Steps {
				if s.Kind == attempts.StepSplit {
					groups++
				}
			}
		})
		if !strings.HasSuffix(got, ": all as recorded") {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
	if groups < 100 {
		t.Errorf("%d groups failed together: this proves little", groups)
	}
}

// A change of the grouping is found and named, in the code as in the log.
func TestReplayFindsOtherGroups(t *testing.T) {
	t.Parallel()
	const tasks = 12
	dir, text := "", sideBySide(tasks)
	for seed, large := uint64(0), 0; large == 0; seed++ {
		dir = grouped(t, seed, tasks)
		told(t, dir, text, replay.Current(), inSteps(attempts.StepSplit, func(s *attempts.Step) { large += len(s.Tasks) / 4 }))
	}
	pairs, alone := replay.Current(), replay.Current()
	pairs.Together = func(_ *decide.Queue, due []decide.Queued) int { return min(2, len(due)) }
	alone.Fewer = func(int) int { return 1 }
	for name, c := range map[string]struct {
		with   replay.Code
		change func(e *attempts.Event)
		want   []string
	}{
		"pairs":        {pairs, nil, []string{" group: then T", " share a run of checks; now T"}},
		"one by one":   {alone, nil, []string{" group: then T", " share a run of checks; now T", " is checked by itself"}},
		"slow checks":  {replay.Current(), inRules(func(r *attempts.Rules) { r.SlowChecks = time.Hour }), []string{" share a run of checks; now T", " is checked by itself"}},
		"quick checks": {replay.Current(), inSteps(attempts.StepProved, func(s *attempts.Step) { s.Checked = 0 }), []string{" share a run of checks; now T", " is checked by itself"}},
		"red together": {replay.Current(), inSteps(attempts.StepSplit, func(s *attempts.Step) { s.Tasks = append(s.Tasks, "T0") }), []string{" group: then together fail T"}},
	} {
		got := told(t, dir, text, c.with, c.change)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got\n%s\nwant %s", name, got, want)
			}
		}
	}
}
