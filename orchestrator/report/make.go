package report

import (
	"cmp"
	"time"

	"relay/attempts/discussion"
	"relay/epic/each"
	"relay/orchestrator/decide"
	"relay/orchestrator/secrets"
	"relay/orchestrator/view"
)

// Input holds everything that a report is made from.
type Input struct {
	view.Input
	Journal     *view.Journal // of the night that the report is about
	Warnings    []string
	Now         time.Time
	Redact      *secrets.Redactor   // nil: it takes out only what has the shape of a secret
	Discussions []discussion.Thread // that are open
}

// builder holds the state while a report is made.
type builder struct {
	Input
	r     *Report
	runs  []string // ids
	night *view.Builder
}

// Make makes a report.
func Make(in Input) *Report {
	m := &builder{Input: in, night: view.New(in.Input)}
	m.Journal = cmp.Or(m.Journal, view.NewJournal(""))
	integration := in.Ledger.Integration
	m.r = &Report{
		Version: 1, MadeAt: in.Now.UTC(), Epic: Epic{in.Epic.ID, in.Epic.Title, in.Epic.Source},
		Branch: integration.Branch, From: integration.From, Finished: integration.Finished,
		Runs: []view.OneRun{}, Needs: []Need{}, Refused: in.Refused, Next: []view.Command{}, Caps: []view.Cap{}, Waits: []view.Wait{},
		Switches: []view.Note{}, Notes: []view.Note{}, Discussions: in.Discussions,
		Warnings: append(append([]string{}, in.Ledger.Regressed...), in.Warnings...),
	}
	m.collectRuns()
	*m.r = clean(m, *m.r)
	m.r.Tasks, m.r.Counts = make([]Task, len(in.Epic.Tasks)), decide.CountTasks(in.Ledger, in.Graph)
	for i := range in.Epic.Tasks {
		m.addTask(i)
	}
	m.epicReviews()
	m.sumUsage()
	m.collectNeeds()
	return m.r
}

// collectRuns records which runs these are, and what happened in them besides attempts.
func (m *builder) collectRuns() {
	j, r := m.Journal, m.r
	r.Runs = append(r.Runs, each.Of(j.Session, func(run view.Logged) view.OneRun { return run.OneRun })...)
	status := m.Ledger.Status
	if len(r.Runs) == 0 && status.State != "" { // it is known from the ledger only
		run := view.OneRun{ID: m.Ledger.Folded.Run, StartedAt: cmp.Or(status.StartedAt, m.Ledger.StartedAt)} // older ledgers say the second alone
		if status.State != string(Running) {
			run.StoppedAt, run.ExitCode, run.Reason, run.Why = status.StoppedAt, &status.LastExitCode, status.LastExitReason, m.Ledger.Why
		}
		r.Runs = append(r.Runs, run)
	}
	for i := range r.Runs {
		m.setRunEnd(i)
	}
	r.Waits, r.Switches = append(r.Waits, j.Waits...), append(r.Switches, j.Switches...)
	r.Notes = append(r.Notes, j.Notes...)
	m.setHeadline(j.Superseded())
}

// setRunEnd records how long a run took, and how it ended: one without a last event, which another followed, has crashed.
func (m *builder) setRunEnd(i int) {
	run, last := &m.r.Runs[i], i == len(m.r.Runs)-1
	m.runs = append(m.runs, run.ID)
	end := m.Now
	switch {
	case run.ExitCode != nil || !run.StoppedAt.IsZero(): // a foreign ledger does not say when
		end = run.StoppedAt
	case i < len(m.Journal.Session) && !(last && m.Running):
		end = m.Journal.Session[i].Seen
	}
	if run.StoppedAt.IsZero() && !last {
		run.Reason = string(Crashed)
	}
	run.Seconds = view.Seconds(run.StartedAt, end)
}

// setHeadline records how it ended; superseded means that another run came after these.
func (m *builder) setHeadline(superseded bool) {
	r := m.r
	if len(r.Runs) == 0 {
		r.State, r.Headline = Never, "no run yet"
		return
	}
	last := &r.Runs[len(r.Runs)-1]
	switch {
	case last.ExitCode != nil:
		looks := len(decide.TasksToLookAt(m.Graph, m.Ledger, nil))
		r.State, r.Headline = Stopped, Ended(decide.EndReason(last.Reason), *last.ExitCode, looks)
	case m.Running && !superseded:
		r.State, r.Headline = Running, "still running: this is its present state"
	default:
		r.State, r.Headline = Crashed, "was killed; nothing recorded is lost, relay work continues"
	}
}

// sumUsage records what was used by whom, and what is left of the caps.
func (m *builder) sumUsage() {
	r, used := m.r, view.MoneyOf(m.Epic, m.Ledger, m.runs, m.Caps)
	r.Usage, r.EpicUsage, r.Caps = used.Night, used.Epic, used.Caps
	r.Spenders = clean(m, used.By)
}
