package telemetry

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// tracker makes spans and counts of the events and updates of a run. The same events give the same ids.
type tracker struct {
	Run
	began  time.Time
	jobs   int
	open   map[string]*attempt // attempts under way, by task
	tasks  map[string]*span    // worked on, and neither completed nor gated since
	done   []object            // spans that nothing has taken
	sums   sums
	counts decide.Counts
}

// attempt is an attempt under way, with all that it has begun to do.
type attempt struct {
	span
	number  int
	started attempts.Started
	marks   []mark
}

// mark says what an attempt does from a time on.
type mark struct {
	at         time.Time
	name, what string
}

const agentSpan = "invoke_agent" // an operation of the GenAI conventions

// resume takes the attempts that an earlier run has left under way.
func (t *tracker) resume(l *attempts.Ledger) {
	for id, record := range l.Tasks {
		if a := record.Running(); a != nil {
			t.start(id, a.Run, a.ID, a.StartedAt, attempts.Started{Runner: a.Runner, Model: a.Model})
		}
	}
}

func (t *tracker) event(e *attempts.Event) {
	switch e.Type { //nolint:exhaustive // other events make no span
	case attempts.TypeRunStarted:
		t.began, t.jobs = e.At, e.RunStarted.Jobs
	case attempts.TypeAttemptStarted:
		t.start(e.Task, t.ID, e.Attempt, e.At, *e.Started)
	case attempts.TypeBriefed:
		t.mark(e.Task, mark{e.At, agentSpan, ""})
	case attempts.TypeAttemptEnded:
		if a := t.open[e.Task]; a != nil && a.number == e.Attempt {
			delete(t.open, e.Task)
			t.ended(e, a)
		}
	case attempts.TypeRunStopped:
		for _, one := range t.tasks {
			t.add(one)
		}
		t.add(&span{id: engine.TraceID(8, t.ID), name: "run " + t.Epic.ID, start: t.began, end: e.At, about: object{
			"relay.run": t.ID, "relay.jobs": t.jobs, "relay.run.reason": e.RunStopped.Reason, "relay.run.exit_code": e.RunStopped.ExitCode,
		}})
	}
}

// start begins an attempt, and the span of its task unless that has begun.
func (t *tracker) start(task, run string, number int, at time.Time, started attempts.Started) {
	if t.tasks[task] == nil {
		one := span{parent: engine.TraceID(8, t.ID), name: "task " + task, start: at, end: at, about: object{"relay.task": task}}
		one.id = engine.TraceID(8, t.ID, "task", task, strconv.Itoa(number))
		if of, ok := t.Epic.Task(task); ok {
			one.about["relay.task.title"] = short(of.Title)
		}
		t.tasks[task] = &one
	}
	a := &attempt{number: number, started: started}
	a.id, a.parent, a.name, a.start = engine.AttemptSpan(run, task, number), t.tasks[task].id, "attempt "+task, at
	a.about = object{"relay.task": task, "relay.attempt": number, "relay.run": run}
	t.open[task] = a
}

// update takes what the log does not say: when the parts of an attempt began.
func (t *tracker) update(u *decide.Update) {
	t.counts = u.Counts
	name, ok := map[decide.UpdateKind]string{
		decide.SettingUp: "setup", decide.Checking: "check", decide.Reviewing: "review", decide.Mending: agentSpan, decide.Verified: "landing",
	}[u.Kind]
	if ok {
		t.mark(u.Task, mark{u.At, name, u.Text})
	}
}

// mark notes what an attempt does next.
func (t *tracker) mark(task string, m mark) {
	const most = 500
	if a := t.open[task]; a != nil && len(a.marks) < most {
		a.marks = append(a.marks, m)
	}
}

// span is a time in which something was done.
type span struct {
	id, parent, name string
	start, end       time.Time
	failed, why      string // the class of the error, and what agents or programs say of it; "": there was none
	about            object
}

func (t *tracker) add(s *span) {
	made := object{
		"traceId": t.Trace, "spanId": s.id, "parentSpanId": s.parent, "name": s.name, "kind": 1, // internal
		"startTimeUnixNano": nanos(s.start), "endTimeUnixNano": nanos(s.end),
	}
	if s.failed != "" {
		s.about["error.type"] = s.failed
		made["status"] = object{"code": 2, "message": short(s.why)}
	}
	made["attributes"] = facts(s.about)
	t.done = append(t.done, made)
}

// short bounds text of agents, programs and plans.
func short(text string) string { return plaintext.ShortLine(text, 200) }

// ended makes the spans of an attempt.
func (t *tracker) ended(e *attempts.Event, a *attempt) {
	task, end := t.tasks[e.Task], e.Ended
	task.end, a.end = e.At, e.At
	a.about = with(a.about, object{"relay.outcome": string(end.Outcome), "relay.cause": end.Cause, "relay.charged": end.Charged})
	if end.Landed != "" {
		a.about["vcs.ref.head.revision"] = end.Landed
	}
	if end.Result != attempts.ResultSuccess {
		a.failed, a.why = string(end.Outcome), end.Receipt.ErrorSummary
	}
	t.add(&a.span)
	t.parts(e, a)
	if end.Gate != nil {
		task.failed, task.why = "gated", string(end.Gate.Reason)
	}
	if end.Gate != nil || end.Result == attempts.ResultSuccess {
		delete(t.tasks, e.Task)
		t.add(task)
	}
}

// parts makes a span of each mark of an attempt, and counts the attempt. The first span of its agent says what it used, with reviewers.
func (t *tracker) parts(e *attempts.Event, a *attempt) {
	usage := cmp.Or(e.Ended.Usage, &attempts.Usage{})
	agent := identity(a.started, cmp.Or(e.Ended.Model, a.started.Model))
	t.count(e, a, usage, agent)
	used := object{
		"gen_ai.usage.input_tokens": int(usage.InputTokens), "gen_ai.usage.output_tokens": int(usage.OutputTokens),
		"gen_ai.usage.cache_read.input_tokens": int(usage.CachedTokens), "relay.cost.usd": usage.CostUSD,
	}
	if a.started.Runner != "" && !slices.ContainsFunc(a.marks, func(m mark) bool { return m.name == agentSpan }) {
		a.marks = append(a.marks, mark{a.start, agentSpan, ""})
	}
	slices.SortStableFunc(a.marks, func(one, other mark) int { return one.at.Compare(other.at) }) // the log tells later than updates
	for i, m := range a.marks {
		s := &span{id: engine.TraceID(8, a.id, strconv.Itoa(i)), parent: a.id, start: m.at, end: e.At, about: object{"relay.task": e.Task}}
		s.name = strings.TrimSpace(m.name + " " + short(m.what))
		next := slices.IndexFunc(a.marks[i+1:], func(n mark) bool { return n.name != "review" || m.name != "review" })
		if next >= 0 && m.name != "landing" {
			s.end = a.marks[i+1+next].at
		}
		switch m.name {
		case agentSpan:
			s.name += " " + a.started.Runner
			s.about = with(s.about, agent, used, object{"gen_ai.conversation.id": e.Ended.Session})
			used = nil
		case "check":
			s.checked(&e.Ended.Receipt, strings.TrimSuffix(m.what, " on the merged tree"))
		case "review":
			s.about["relay.review.decision"] = string(e.Ended.Receipt.Verdict) // of all reviewers
		}
		t.add(s)
	}
}

// checked adds what a check came to and when it ended, as far as the receipt says.
func (s *span) checked(r *attempts.Receipt, name string) {
	at := slices.IndexFunc(r.Checks, func(c attempts.CheckRun) bool { return c.Name == name && c.Phase != attempts.PhaseBaseline })
	if at < 0 {
		return
	}
	s.about["process.exit.code"] = r.Checks[at].ExitCode
	if r.Checks[at].ExitCode != 0 {
		s.failed = "check"
	}
	took := time.Duration(r.Checks[at].Seconds * float64(time.Second))
	s.end = s.start.Add(min(took, s.end.Sub(s.start)))
}

// identity describes an attempt's agent in the GenAI conventions.
func identity(s attempts.Started, model string) object {
	provider := map[string]string{"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini"}[s.CLI]
	if name, _, cut := strings.Cut(model, "/"); provider == "" && cut { // opencode names the provider before the model
		provider = name
	}
	return object{
		"gen_ai.operation.name": agentSpan, "gen_ai.agent.name": s.Runner,
		"gen_ai.provider.name": cmp.Or(provider, "_OTHER"), "gen_ai.request.model": cmp.Or(model, "_OTHER"),
	}
}

// count counts an attempt that has ended.
func (t *tracker) count(e *attempts.Event, a *attempt, u *attempts.Usage, agent object) {
	tokens := series{name: "gen_ai.client.token.usage", unit: "{token}", bounds: tokenBounds}
	if u.InputTokens+u.OutputTokens > 0 {
		t.sums.add(tokens, float64(u.InputTokens), with(agent, object{"gen_ai.token.type": "input"}))
		t.sums.add(tokens, float64(u.OutputTokens), with(agent, object{"gen_ai.token.type": "output"}))
	}
	t.sums.add(series{name: "relay.cost", unit: "{USD}"}, u.CostUSD, agent)
	took := series{name: "relay.attempt.duration", unit: "s", bounds: secondBounds}
	t.sums.add(took, e.At.Sub(a.start).Seconds(), with(agent, object{"relay.outcome": string(e.Ended.Outcome)}))
}
