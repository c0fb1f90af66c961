package report

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// collectNeeds records which tasks need a person, and what is to be typed, in the order in which all views have them.
func (m *builder) collectNeeds() {
	for _, row := range m.night.Night(m.Now).Needs {
		for _, id := range append([]string{row.ID}, row.Also...) {
			m.addNeed(m.night.Row(id, m.Now))
		}
	}
	collectQuestions(m)
	advice(m)
	m.collectNext()
	view.AddFlag(m.r.Next, m.Flag)
}

// addNeed records a task that needs a person. One that a person has stopped is tried again by the next run.
func (m *builder) addNeed(row *view.Row) {
	t := &m.r.Tasks[row.Place]
	need := Need{Task: t.ID, Title: t.Title, Blocks: row.FreesAll}
	switch {
	case row.State == view.Look:
		need.Reason, need.Detail = LookAt, view.Seen(t.Looks)
	case t.Gate != nil:
		need.Reason, need.Detail = t.Gate.Reason, t.Gate.Detail
	default:
		return
	}
	need.Type = row.Commands()
	m.r.Needs = append(m.r.Needs, need)
}

// advice adds what to do about a limit that has ended the run.
func advice(m *builder) {
	r := m.r
	if r.State != Stopped || r.Judged != nil {
		return
	}
	if advice := Next(decide.EndReason(r.Runs[len(r.Runs)-1].Reason)); advice != "" {
		r.Warnings = append(r.Warnings, advice)
	}
}

// collectNext records what is to be typed besides.
func (m *builder) collectNext() {
	r := m.r
	add := func(command, what string) { r.Next = append(r.Next, view.Command{Type: command, For: what}) }
	if r.State == Running {
		add("relay status --watch", "follows the run")
		return
	}
	for i := range r.Refused {
		add(r.Refused[i].Type, "as "+r.Refused[i].What)
	}
	switch c, j := r.Counts, r.Judged; {
	case c.Pending+c.InProgress > 0:
		add("relay work", "continues with pending tasks")
	case j == nil || c.Completed < c.Total:
	case j.Verdict == "" || len(j.Added) > 0:
		add("relay work", "asks the reviewers of the whole epic again")
	case len(j.Findings) > 0:
		add(appending, "adds what the reviewers of the whole epic found as tasks; then relay work")
	}
	offered := slices.ContainsFunc(r.Next, func(c view.Command) bool { return c.Type == appending })
	if found := len(briefing.Discovered(briefing.LearningsOf(m.Epic, m.Ledger))); found > 0 && !offered {
		add(appending, "offers "+plaintext.Count(found, "piece")+" of work that agents found and left as tasks")
	}
	if r.Branch != "" && r.Finished == "" && r.Counts.Completed > 0 {
		r.Next = append(r.Next, view.Finish(r.From))
	}
}

// appending is the command that makes tasks of what reviewers of the whole epic and agents have found.
const appending = "relay init --append"

// collectQuestions records the open questions of tasks that do not wait for the answer.
func collectQuestions(m *builder) {
	for i := range m.r.Tasks {
		t := &m.r.Tasks[i]
		open := strings.Join(m.Ledger.Record(t.ID).OpenQuestions(), " ")
		if open != "" && (t.Gate == nil || t.Gate.Reason != attempts.AwaitsAnswer) {
			answer := []view.Command{{Type: view.Answering(t.ID).Type, For: "its next agent, and those that build on it, get the answer"}}
			m.r.Questions = append(m.r.Questions, clean(m, Need{
				Task: t.ID, Title: t.Title, Reason: attempts.AwaitsAnswer, Detail: open, Type: view.AddFlag(answer, m.Flag),
			}))
		}
	}
}
