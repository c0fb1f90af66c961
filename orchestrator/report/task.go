package report

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/verdict"
	"relay/review"
)

// addTask records the task with an index in the plan.
func (m *builder) addTask(i int) {
	t, r := &m.Epic.Tasks[i], m.r
	rec := m.Ledger.Tasks[t.ID]
	if rec == nil {
		rec = &attempts.TaskRecord{}
	}
	one := &r.Tasks[i]
	*one = Task{
		ID: t.ID, Title: m.line(t.Title), Status: m.Ledger.StatusOf(m.Graph, t.ID), Max: m.MaxAttempts,
		Tries: len(rec.Attempts), Charged: rec.Charges(), Uncharged: verdict.Uncharged(*rec),
	}
	if t.MaxAttempts > 0 {
		one.Max = t.MaxAttempts
	}
	one.Doubtful = m.lines(slices.Clone(rec.Doubtful()))
	r.Counts.Add(one.Status)
	if rec.Gate != nil && one.Status == attempts.Gated {
		one.Gate = &attempts.Gate{Reason: rec.Gate.Reason, Detail: m.text(rec.Gate.Detail), At: rec.Gate.At}
	}
	if one.Status == attempts.BlockedOn {
		at, _ := m.Graph.Index(t.ID)
		one.RootCauses, one.WaitsFor = m.causes[at], m.Ledger.WaitsFor(m.Graph, t.ID)
		for _, id := range one.RootCauses {
			m.blocks[id]++
		}
	}
	if used := rec.Used(); used != (attempts.Usage{}) {
		r.EpicUsage.Add(used)
	}
	m.addAttempts(one, t, rec)
}

// addAttempts records a task's attempts, if it has been touched in these runs or needs a person.
func (m *builder) addAttempts(one *Task, t *epic.Task, rec *attempts.TaskRecord) {
	for k := range rec.Attempts {
		a := &rec.Attempts[k]
		if a.Result == attempts.ResultSuccess && rec.Completed {
			one.Base, one.Head, one.Landed = m.line(a.Base), m.line(a.Head), m.line(a.Landed)
			one.Already = a.Receipt.AlreadyDone
			one.Unverified = len(a.Receipt.Checks) == 0 && a.Receipt.Verdict == ""
		}
		if m.inTheseRuns(a) {
			one.Touched = true
			m.countAttempt(one, a)
		}
	}
	if !one.Touched && one.Gate == nil {
		return
	}
	one.Cap = capOf(budget.ScopeTask, m.Budget.TaskCap(t), rec.UsedSince(), len(rec.Attempts) > rec.CountFrom)
	one.Attempts = make([]Attempt, len(rec.Attempts))
	for k := range rec.Attempts {
		one.Attempts[k] = m.attempt(&rec.Attempts[k])
	}
	if len(t.Criteria) > 0 {
		one.CoveredBy = m.lines(CheckNames(t.Checks))
	}
	if last := judged(one); last != nil && len(last.Proofs) > 0 {
		m.r.Criteria.add(last.Proofs)
		return
	}
	for _, c := range t.Criteria {
		one.Unproven = append(one.Unproven, m.line(c.Text))
	}
	m.r.Criteria.Unproven += len(one.Unproven)
}

func (c *Criteria) add(proofs []review.Proof) {
	for _, p := range proofs {
		switch {
		case p.By == review.Unproven:
			c.Unproven++
		case p.Met:
			c.Met++
		default:
			c.NotMet++
		}
	}
}

// judged returns the attempt that a task's checks, verdicts and proofs are told of: the last that has any.
func judged(t *Task) *Attempt {
	for i, a := range slices.Backward(t.Attempts) {
		if len(a.Checks)+len(a.Proofs) > 0 || a.Review != nil || a.Result == attempts.ResultSuccess {
			return &t.Attempts[i]
		}
	}
	return nil
}

// inTheseRuns reports whether an attempt is of the runs that the report is about.
func (m *builder) inTheseRuns(a *attempts.Attempt) bool { return slices.Contains(m.runs, a.Run) }

// countAttempt adds an attempt of these runs to the totals.
func (m *builder) countAttempt(one *Task, a *attempts.Attempt) {
	r := m.r
	r.Tries.Total++
	switch {
	case a.Result == attempts.ResultSuccess:
		r.Tries.Succeeded++
	case a.Result == attempts.ResultInProgress:
		r.Tries.Running++
	case a.Charged:
		r.Tries.Charged++
	default:
		r.Tries.Uncharged++
	}
	one.Seconds += m.attemptSeconds(a)
	if a.Usage == nil {
		return
	}
	r.Usage.Add(*a.Usage)
	if one.Usage == nil {
		one.Usage = &attempts.Usage{}
	}
	one.Usage.Add(*a.Usage)
	m.shares.Add(&attempts.Attempt{Runner: m.line(a.Runner), Model: m.line(a.Model), Usage: a.Usage})
}

// attemptSeconds returns how many seconds an attempt took, or has taken so far.
func (m *builder) attemptSeconds(a *attempts.Attempt) float64 {
	if a.Result == attempts.ResultInProgress && m.Running {
		return secondsBetween(a.StartedAt, m.Now)
	}
	return secondsBetween(a.StartedAt, a.EndedAt)
}

func (m *builder) attempt(a *attempts.Attempt) Attempt {
	in := &a.Receipt
	out := Attempt{
		ID: a.ID, Run: a.Run, Elsewhere: !m.inTheseRuns(a), StartedAt: a.StartedAt,
		Seconds: m.attemptSeconds(a), Agent: m.line(a.Runner), Model: m.line(a.Model),
		Result: a.Result, Outcome: a.Outcome, Charged: a.Charged, Category: in.ErrorCategory,
		Error: m.text(in.ErrorSummary), Summary: m.text(in.Summary),
		Suggestion: m.text(in.Suggestion), Learning: m.text(in.Learning), Statement: in.Statement.Map(m.line, m.text),
		ResultFrom: in.ResultFrom, Files: m.lines(slices.Clone(in.FilesChanged)),
		Base: m.line(a.Base), Head: m.line(a.Head), Landed: m.line(a.Landed), Kept: m.line(in.Salvage), Usage: a.Usage,
		Checks: slices.Clone(in.Checks), Review: m.reviewOf(in.Verdict, in.Review),
	}
	if out.Review != nil {
		out.Review.MustChange = m.text(in.Findings)
	}
	if !a.EndedAt.IsZero() {
		out.EndedAt = &a.EndedAt
	}
	for i := range out.Checks {
		c := &out.Checks[i]
		c.Name, c.Log, c.Phase, c.Tail = m.line(c.Name), m.line(c.Log), m.line(c.Phase), ""
	}
	if in.Review == nil {
		return out
	}
	out.Proofs = slices.Clone(in.Review.Proofs)
	for i := range out.Proofs {
		p := &out.Proofs[i]
		p.Criterion, p.Evidence, p.Reviewers = m.line(p.Criterion), m.text(p.Evidence), m.lines(slices.Clone(p.Reviewers))
		p.Check, p.Log = m.line(p.Check), m.line(p.Log)
	}
	return out
}

// Texts are cut to these lengths, in bytes.
const (
	lineCap = 500
	textCap = 4 << 10
	readCap = 256 << 10 // is looked at of one text
)

// text cleans what an agent, or anybody else, may have written. It is cleaned first: what is no part of a text may stand
// in the middle of a secret.
func (m *builder) text(s string) string {
	if s == "" {
		return ""
	}
	s = attempts.Clean(s, readCap)
	if m.Redact != nil {
		s = m.Redact(s)
	}
	return attempts.Clean(s, textCap)
}

func (m *builder) line(s string) string {
	return attempts.Clean(strings.Join(strings.Fields(m.text(s)), " "), lineCap)
}

func (m *builder) lines(list []string) []string {
	for i := range list {
		list[i] = m.line(list[i])
	}
	return list
}
