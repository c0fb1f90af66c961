package report

import (
	"cmp"
	"math"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
	"relay/orchestrator/view"
	"relay/review"
)

// addTask records the task with an index in the plan.
func (m *builder) addTask(i int) {
	t, r := &m.Epic.Tasks[i], m.r
	rec := m.Ledger.Record(t.ID)
	one := &r.Tasks[i]
	*one = Task{
		ID: t.ID, Title: t.Title, Status: m.Ledger.StatusOf(m.Graph, t.ID), Max: cmp.Or(max(t.MaxAttempts, 0), m.MaxAttempts),
		Tries: len(rec.Attempts), Charged: rec.Charges(), Uncharged: verdict.Uncharged(*rec), Looks: rec.Looks(),
	}
	if rec.Gate != nil && one.Status == attempts.Gated {
		one.Gate = &attempts.Gate{Reason: rec.Gate.Reason, Detail: rec.Gate.Detail, At: rec.Gate.At}
	}
	if one.Status == attempts.BlockedOn {
		one.RootCauses, one.WaitsFor = m.night.Row(t.ID, m.Now).BlockedBy, m.Ledger.WaitsFor(m.Graph, t.ID)
	}
	m.addAttempts(one, t, rec)
	*one = clean(m, *one)
}

// addAttempts records a task's attempts, if it has been touched in these runs or needs a person.
func (m *builder) addAttempts(one *Task, t *epic.Task, rec *attempts.TaskRecord) {
	for k := range rec.Attempts {
		a := &rec.Attempts[k]
		if a.Result == attempts.ResultSuccess && rec.Completed {
			one.Base, one.Head, one.Landed = a.Base, a.Head, a.Landed
			one.Already = a.Receipt.AlreadyDone
			one.NoProof = verdict.Unproved(a.Receipt)
			one.Unverified = one.NoProof != ""
		}
		if m.inTheseRuns(a) {
			one.Touched = true
			m.countAttempt(one, a)
		}
	}
	if !one.Touched && one.Gate == nil {
		return
	}
	one.Cap = view.CapOf(limits.ScopeTask, m.Caps.TaskCap(t), rec.UsedSince(), len(rec.Attempts) > rec.CountFrom)
	one.Attempts = make([]Attempt, len(rec.Attempts))
	for k := range rec.Attempts {
		one.Attempts[k] = m.attempt(&rec.Attempts[k])
	}
	if len(t.Criteria) > 0 {
		one.CoveredBy = CheckNames(t.Checks)
	}
	if last := judged(one); last != nil && len(last.Proofs) > 0 {
		m.r.Criteria.add(last.Proofs)
		return
	}
	one.Unproven = each.Of(t.Criteria, func(c epic.Criterion) string { return c.Text })
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

// judged returns the attempt whose checks, verdicts and proofs the report shows: the last that has any.
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
	one.Usage = cmp.Or(one.Usage, &attempts.Usage{})
	one.Usage.Add(*a.Usage)
}

// attemptSeconds returns how many seconds an attempt took, or has taken so far.
func (m *builder) attemptSeconds(a *attempts.Attempt) float64 {
	if a.Result == attempts.ResultInProgress && m.Running {
		return view.Seconds(a.StartedAt, m.Now)
	}
	end := a.EndedAt
	for i := range m.Journal.Session { // a run that was killed has told no end: the one that found the attempt came later
		if s := &m.Journal.Session[i]; s.ID == a.Run && s.StoppedAt.IsZero() && end.After(s.Seen) {
			end = s.Seen
		}
	}
	return view.Seconds(a.StartedAt, end)
}

func (m *builder) attempt(a *attempts.Attempt) Attempt {
	in := &a.Receipt
	out := Attempt{
		ID: a.ID, Run: a.Run, Elsewhere: !m.inTheseRuns(a), StartedAt: a.StartedAt, EndedAt: a.EndedAt,
		Seconds: m.attemptSeconds(a), Agent: a.Runner, Model: a.Model, Host: in.Host,
		Result: a.Result, Outcome: a.Outcome, Charged: a.Charged, Category: in.ErrorCategory,
		Error: in.ErrorSummary, Summary: in.Summary, Suggestion: in.Suggestion, Learning: in.Learning, Statement: in.Statement,
		ResultFrom: in.ResultFrom, Files: in.FilesChanged, Base: a.Base, Head: a.Head, Landed: a.Landed, Kept: in.Salvage, Usage: a.Usage,
		Checks: slices.Clone(in.Checks), Review: reviewOf(in.Verdict, in.Review),
	}
	if out.Review != nil {
		out.Review.MustChange = in.Findings
	}
	for i := range out.Checks {
		out.Checks[i].Tail = ""
	}
	if in.Review != nil {
		out.Proofs = in.Review.Proofs
	}
	return out
}

func clean[T any](m *builder, part T) T { return Clean(m.Redact, part) }

// Clean returns a copy of a part of a report with all that it quotes cleaned. With no redactor only what has the shape of a
// secret is taken out.
func Clean[T any](redact *secrets.Redactor, part T) T {
	r := secrets.Cleaner{Redactor: cmp.Or(redact, secrets.New(nil))}
	return plaintext.CleanAll(plaintext.Cleaner{Line: r.Line, Block: r.Block, Own: r.Line, Most: math.MaxInt}, part)
}

// reviewOf returns the opinions of reviewers on an attempt; nil without any.
func reviewOf(verdict review.Decision, in *attempts.Reviewed) *Review {
	in = cmp.Or(in, &attempts.Reviewed{})
	if verdict == "" && len(in.Opinions)+len(in.Missing)+len(in.Deferred)+len(in.Noted) == 0 {
		return nil
	}
	out := &Review{Verdict: verdict, Rounds: in.Rounds, Split: in.Split}
	for _, s := range in.Opinions {
		one := Reviewer{Name: s.Reviewer, Model: s.Model, Verdict: s.Decision, Summary: s.Verdict.Summary}
		for _, f := range s.Verdict.Findings {
			if one.Findings == nil {
				one.Findings = map[review.Severity]int{}
			}
			one.Findings[f.Severity]++
		}
		out.Reviewers = append(out.Reviewers, one)
	}
	for _, s := range in.Missing {
		out.Missing = append(out.Missing, Missing{s.Reviewer, s.Why})
	}
	for i, list := range [][]review.Raised{in.Deferred, in.Noted} {
		for _, f := range list {
			out.Deferred = append(out.Deferred, DeferredFinding{[]string{"minor", "outside"}[i], f})
		}
	}
	return out
}

// epicReviews records the result of the newest review of the whole epic.
func (m *builder) epicReviews() {
	last := m.Ledger.LastEpicReview()
	if last == nil {
		return
	}
	judged := EpicReview{
		At: last.At, Run: last.Run, Base: last.Base, Head: last.Head, Text: decide.EpicVerdict(last),
		Findings: last.Findings, Added: last.Added, Usage: last.Usage,
	}
	if all := reviewOf(last.Decision, &last.Reviewed); all != nil {
		judged.Review = *all
	}
	m.r.Judged = clean(m, &judged)
}
