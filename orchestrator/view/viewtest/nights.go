// Package viewtest makes nights of plain events, for tests of views: small, usual and very long ones.
package viewtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/limits"
	"relay/orchestrator/view"
	"relay/review"
)

// Night is a plan, and the events of one run of it.
type Night struct {
	Epic    *epic.Epic
	Graph   *epic.Graph
	Events  []attempts.Event
	Now     time.Time // when it is looked at
	Running bool      // the run is still on
	Caps    limits.Caps
}

// Input returns what a builder of the night begins with.
func (n *Night) Input() view.Input {
	return view.Input{Epic: n.Epic, Graph: n.Graph, Running: n.Running, MaxAttempts: 3, Caps: n.Caps}
}

// Builder returns a builder that has all events of the night.
func (n *Night) Builder() *view.Builder {
	b := view.New(n.Input())
	for i := range n.Events {
		b.Apply(&n.Events[i])
	}
	return b
}

const (
	run    = "20261125T220000Z-7c1e"
	minute = time.Minute
)

// began is when all these nights begin.
func began() time.Time { return time.Date(2026, 11, 25, 22, 0, 0, 0, time.UTC) }

// log collects the events of a night.
type log struct {
	events []attempts.Event
	steps  uint64
}

func (l *log) add(at time.Time, e attempts.Event) {
	e.At, e.Run = at, run
	l.events = append(l.events, e)
}

// ended returns the events in their order, numbered.
func (l *log) ended() []attempts.Event {
	slices.SortStableFunc(l.events, func(a, b attempts.Event) int { return a.At.Compare(b.At) })
	for i := range l.events {
		l.events[i].Seq = uint64(i + 1)
	}
	return l.events
}

// start adds the beginning of the run.
func (l *log) start(e *epic.Epic, jobs int, budget float64) {
	l.steps++
	l.add(began(), attempts.Event{
		Type: attempts.TypeRunStarted,
		RunStarted: &attempts.RunStarted{
			Version: attempts.LogVersion, EpicID: e.ID, PID: 4711, Jobs: jobs, Integration: "relay/invoicing", Branch: "main", Base: "0c4f2a1",
			Settings: attempts.Settings{MaxAttemptsPerTask: 3, TimeoutMinutes: 60},
		},
		Steps: []attempts.Step{{
			Number: l.steps, Kind: attempts.StepBegun, Day: began(),
			Rules: &attempts.Rules{Jobs: jobs, Runners: []string{"claude", "codex", "gemini"}, RunCap: attempts.Cap{USD: budget}},
		}},
	})
}

// try is an attempt of a night.
type try struct {
	from, to       time.Time // to is zero while it is at work
	task, agent    string
	number         int
	how            string // landed, look, done-already, asks, failed, gated, blocked, quota
	added, deleted int
	usd            float64
	said           string // the question, the telling line, or what a person has to look at
}

// attempt adds the events of an attempt.
func (l *log) attempt(t *try) {
	l.add(t.from, attempts.Event{
		Type: attempts.TypeAttemptStarted, Task: t.task, Attempt: t.number,
		Started: &attempts.Started{Runner: t.agent, Model: models()[t.agent], Base: "b" + t.task},
	})
	if t.to.IsZero() {
		return
	}
	took := t.to.Sub(t.from)
	if t.how != "asks" && t.how != "quota" {
		l.add(t.to.Add(-took/4), attempts.Event{Type: attempts.TypePhase, Task: t.task, Phase: "checking"})
	}
	if slices.Contains([]string{"landed", "look", "blocked"}, t.how) && t.agent != "gemini" {
		l.add(t.to.Add(-took/8), attempts.Event{Type: attempts.TypePhase, Task: t.task, Phase: "reviewing"})
	}
	ended := t.ended()
	if ended.Landed != "" {
		l.steps++
		proved := attempts.Step{
			Number: l.steps, Kind: attempts.StepProved, Task: t.task, Attempt: t.number, Ran: int64(t.to.Add(-5 * time.Second).Sub(began())),
		}
		l.add(t.to.Add(-2*time.Second), attempts.Event{
			Type: attempts.TypeLanding, Task: t.task, Attempt: t.number, Landing: ended, Steps: []attempts.Step{proved},
		})
	}
	l.add(t.to, attempts.Event{Type: attempts.TypeAttemptEnded, Task: t.task, Attempt: t.number, Ended: ended})
}

// models are the models of the agents.
func models() map[string]string {
	return map[string]string{"claude": "claude-opus-4-5", "codex": "gpt-5-codex", "gemini": "gemini-3-pro"}
}

// ended returns the end of the attempt.
func (t *try) ended() *attempts.Ended {
	files := []string{strings.ToLower(t.task) + "/code.go", strings.ToLower(t.task) + "/code_test.go"}
	e := &attempts.Ended{
		Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Head: "h" + t.task, Model: models()[t.agent],
		Usage: &attempts.Usage{
			InputTokens: int64(t.usd * 400_000), CachedTokens: int64(t.usd * 300_000), OutputTokens: int64(t.usd * 9_000), CostUSD: t.usd,
		},
		Receipt: attempts.Receipt{
			Summary: "Did " + t.task + ".", FilesChanged: files,
			DiffStat: fmt.Sprintf(" %s | 9 +++\n 2 files changed, %d insertions(+), %d deletions(-)", files[0], t.added, t.deleted),
			Checks: []attempts.CheckRun{
				{Name: "go test ./...", Seconds: 41, Phase: attempts.PhaseTask, RanTests: 120, Attribution: attempts.StayedClean},
			},
		},
	}
	failed := func(reason attempts.Reason, detail string) {
		e.Receipt.ErrorCategory, e.Receipt.ErrorSummary = attempts.TestFailure, "go test ./... failed: "+t.said
		e.Receipt.Checks[0].ExitCode, e.Receipt.Checks[0].Tail, e.Receipt.Checks[0].Attribution = 1, t.said+"\nFAIL\n", attempts.BrokenByTask
		if reason != "" {
			e.Gate = &attempts.Gate{Reason: reason, Detail: detail}
		}
	}
	switch t.how {
	case "failed":
		failed("", "")
	case "gated":
		failed(attempts.RepeatedFailure, "attempts 1 and 2 failed with the same error: "+t.said)
	case "blocked":
		e.Outcome, e.Receipt.Checks[0].ExitCode = attempts.Review, 0
		e.Receipt.ErrorCategory, e.Receipt.ErrorSummary, e.Receipt.Verdict = attempts.QualityGate, "the reviewer blocks it", review.Blocked
		file, issue, _ := strings.Cut(t.said, " ")
		path, line, _ := strings.Cut(file, ":")
		n, _ := strconv.Atoi(line)
		e.Receipt.Review = &attempts.Reviewed{Rounds: 2, Opinions: []attempts.Opinion{{
			Reviewer: "claude", Decision: review.Blocked,
			Verdict: review.Verdict{Findings: []review.Finding{{Severity: review.Critical, File: path, Line: n, Issue: issue}}},
		}}}
		e.Gate = &attempts.Gate{Reason: attempts.QualityGateBlocked, Detail: "claude: " + issue}
	case "asks":
		e.Result, e.Outcome, e.Charged, e.Session = attempts.ResultFailure, attempts.Asked, false, "session-"+t.task
		e.Receipt.ErrorCategory, e.Receipt.Questions, e.Receipt.Checks = attempts.Question, []string{t.said}, nil
		e.Gate = &attempts.Gate{Reason: attempts.AwaitsAnswer, Detail: t.said}
	case "quota":
		e.Outcome, e.Charged, e.Receipt.ErrorCategory, e.Receipt.ErrorSummary = attempts.Quota, false, attempts.RateLimited, t.said
	default:
		e.Result, e.Outcome, e.Charged, e.Landed = attempts.ResultSuccess, attempts.Success, false, "l"+t.task
		e.Receipt.Verdict = review.Approved
		switch t.how {
		case "look":
			e.Receipt.Looks = []attempts.Look{{Cause: "proved nothing", Text: t.said}}
		case "done-already":
			e.Receipt.AlreadyDone, e.Landed, e.Receipt.DiffStat, e.Receipt.FilesChanged, e.Receipt.Summary = true, "", "", nil, t.said
			e.Receipt.Looks = []attempts.Look{{Cause: "done already", Text: "nothing was changed: it was done already, as its checks say"}}
		}
	}
	return e
}

// Of returns a night of n tasks: the one of 40 has a line for each task, a rule makes the others: a thirtieth of the tasks is gated
// for one cause, as many need a look, and the last ones are still to do.
func Of(tb testing.TB, n int) *Night {
	tb.Helper()
	if n == 40 {
		return forty(tb)
	}
	e, l := &epic.Epic{Version: 2, ID: fmt.Sprintf("20261125-night-%d", n), Title: fmt.Sprintf("A night of %d tasks", n)}, &log{}
	sections := max(n/10, 1)
	for i := range n {
		t := epic.Task{ID: fmt.Sprintf("T%d", i+1), Title: fmt.Sprintf("Task number %d of the night", i+1), Points: float64(1 + i%3)}
		for _, back := range [][]int{{20}, {}, {2}, {2}, {2}, {2}, {2}, {2, 4}, {2}, {2, 3}}[i%10] {
			if i >= back {
				t.DependsOn = append(t.DependsOn, fmt.Sprintf("T%d", i-back+1))
			}
		}
		e.Tasks = append(e.Tasks, t)
	}
	for s := range sections {
		g := epic.Group{Name: fmt.Sprintf("Part %d", s+1)}
		for i := s * n / sections; i < (s+1)*n/sections; i++ {
			g.Tasks = append(g.Tasks, e.Tasks[i].ID)
		}
		e.Groups = append(e.Groups, g)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		tb.Fatal(err)
	}
	jobs := min(max(n/10, 2), 8)
	night := &Night{Epic: e, Graph: g, Running: true, Caps: limits.Caps{Run: limits.Cap{USD: float64(n)}}}
	l.start(e, jobs, float64(n))
	night.Now = l.made(e, g, jobs)
	night.Events = l.ended()
	return night
}

// made adds the attempts of a night that follows a rule, and returns when it is looked at: the last tenth is still to do.
func (l *log) made(e *epic.Epic, g *epic.Graph, jobs int) (now time.Time) {
	free, landed, agents := make([]time.Time, jobs), make([]time.Time, g.Len()), []string{"claude", "codex", "gemini"}
	for i := range free {
		free[i] = began().Add(time.Duration(i) * time.Second)
	}
	tries := map[int][]*try{}
	for i := range e.Tasks {
		job := slices.Index(free, slices.MinFunc(free, time.Time.Compare))
		t := &try{
			task: e.Tasks[i].ID, agent: agents[i%3], number: 1, from: free[job], how: "landed",
			added: 10 + i%90, deleted: i % 40, usd: 0.1 + float64(i%9)/10,
		}
		for _, d := range g.Deps(i) {
			if landed[d].IsZero() {
				t.how = "waits"
			} else if landed[d].After(t.from) {
				t.from = landed[d]
			}
		}
		if t.to = t.from.Add(time.Duration(4+i*7%31) * minute); t.how == "waits" || i >= g.Len()*9/10 && i >= 3 {
			continue
		}
		switch i % 30 {
		case 17:
			t.how, t.said = "failed", "ERROR: extension \"pg_trgm\" is not available"
			again := *t
			again.from, again.number, again.how = t.to, 2, "gated"
			again.to = again.from.Add(6 * minute)
			tries[i] = append(tries[i], &again)
		case 24:
			t.how, t.said = "look", "its checks pass too with code.go emptied: they prove nothing of this work"
		case 28:
			t.how, t.said = "asks", "Keep the old endpoint? A) until 2.0 or B) for good"
		}
		if tries[i] = append(tries[i], t); t.how == "landed" || t.how == "look" {
			landed[i] = t.to
		}
		free[job] = slices.MaxFunc(tries[i], func(a, b *try) int { return a.to.Compare(b.to) }).to
	}
	now = slices.MaxFunc(free, time.Time.Compare).Add(-2 * minute)
	l.until(now, tries)
	return now
}

// until adds those attempts that have begun at a time, in the order of their tasks.
func (l *log) until(now time.Time, tries map[int][]*try) {
	for _, i := range slices.Sorted(maps.Keys(tries)) {
		slices.SortFunc(tries[i], func(a, b *try) int { return cmp.Compare(a.number, b.number) })
		for _, t := range tries[i] {
			if t.to.After(now) {
				t.to = time.Time{}
			}
			if t.from.Before(now) {
				l.attempt(t)
			}
		}
	}
}
