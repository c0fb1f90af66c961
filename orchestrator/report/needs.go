package report

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/orchestrator/verdict"
)

// collectNeeds records which tasks need a person, and what is to be typed.
func (m *builder) collectNeeds() {
	r := m.r
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if len(t.Looks) > 0 {
			r.Needs = append(r.Needs, Need{Task: t.ID, Title: t.Title, Reason: LookAt, Detail: Seen(t.Looks), Type: []Command{
				Showing(t.ID, t.Looks),
				{"relay approve " + t.ID, "take it as it is"},
				{"relay retry " + t.ID, "have it done again; then relay work"},
			}})
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Status == attempts.Gated {
			r.Needs = append(r.Needs, Need{
				Task: t.ID, Title: t.Title, Reason: t.Gate.Reason, Detail: t.Gate.Detail, Blocks: m.blocks[t.ID],
				Type: remedy(t, m.Ledger.Tasks[t.ID].Attempts),
			})
		}
	}
	collectQuestions(m)
	advice(m)
	m.collectNext()
	for i := range r.Needs {
		addFlag(m, r.Needs[i].Type)
	}
	addFlag(m, r.Next)
}

// addFlag has commands name the epic.
func addFlag(m *builder, list []Command) {
	for i := range list {
		if strings.HasPrefix(list[i].Type, "relay ") && !strings.HasPrefix(list[i].Type, "relay config") {
			list[i].Type += m.Flag
		}
	}
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
	add := func(command, what string) { r.Next = append(r.Next, Command{command, what}) }
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
	offered := slices.ContainsFunc(r.Next, func(c Command) bool { return c.Type == appending })
	if found := len(briefing.Discovered(briefing.LearningsOf(m.Epic, m.Ledger))); found > 0 && !offered {
		add(appending, "offers "+plaintext.Count(found, "piece")+" of work that agents found and left as tasks")
	}
	if r.Branch != "" && r.Finished == "" && r.Counts.Completed > 0 {
		r.Next = append(r.Next, Finish(r.From))
	}
}

// appending is the command that makes tasks of what reviewers of the whole epic and agents have found.
const appending = "relay init --append"

// Finish reports how the work gets onto the branch that the epic began from, given by its name; "" : HEAD was detached.
func Finish(from string) Command {
	if from == "" {
		return Command{"relay finish --into BRANCH", "lands the completed tasks on a branch of yours: HEAD was detached when the epic began"}
	}
	return Command{"relay finish", "lands the completed tasks on the branch the epic began from"}
}

// remedy returns what to type for a gated task.
func remedy(t *Task, tried []attempts.Attempt) []Command {
	command := Untried(t.ID)
	if n := len(tried); n > 0 {
		command = Whole(t.ID, tried[n-1].Outcome, &tried[n-1].Receipt)
	}
	again := Command{"relay ungate " + t.ID, "have it tried again; then relay work"}
	switch t.Gate.Reason {
	case attempts.UserBlocked:
		if t.person {
			return []Command{command, Done(t.ID)}
		}
		return []Command{again}
	case attempts.AwaitsAnswer:
		return []Command{Answering(t.ID)}
	case attempts.QualityGateBlocked:
		command = Command{"relay show " + t.ID + " --review", "what the reviewers said"}
	case attempts.BudgetExhausted:
		return []Command{{"relay config relay.task_budget_usd", "its cap, unless the task has a budget_usd of its own: raise it"}, again}
	case attempts.Infrastructure:
		return []Command{command, {"relay check --run", "what is wrong with the machine, its set-up or its checks"}, again}
	default: // the others are looked at and tried again
	}
	if len(tried) == 0 {
		return []Command{again}
	}
	return []Command{command, again}
}

// Whole returns the command that shows the whole of what an attempt failed by.
func Whole(task string, o attempts.Outcome, r *attempts.Receipt) Command {
	show := "relay show " + task
	failed := slices.ContainsFunc(r.Checks, func(c attempts.CheckRun) bool {
		return c.ExitCode != 0 && (c.Phase != attempts.PhaseBaseline || o == attempts.Environment)
	})
	switch {
	case o == attempts.Tamper:
		return Command{show, "what it changed"}
	case r.Review != nil && (o == attempts.Review || len(r.Review.Missing) > 0):
		return Command{show + " --review", "what the reviewers said"}
	case failed:
		return Command{show + " --checks", "the whole output of what failed"}
	case verdict.ClassOf(o).InAgentLog:
		return Command{"relay logs " + task, "what its agent did"}
	}
	return Command{show, "what was tried"}
}

// Seen returns what a person has to look at, as one line.
func Seen(looks []attempts.Look) string {
	texts := make([]string, len(looks))
	for i, look := range looks {
		texts[i] = look.Text
	}
	return strings.Join(texts, "; ")
}

// Showing returns the command that shows what a person has to look at.
func Showing(task string, looks []attempts.Look) Command {
	if slices.ContainsFunc(looks, func(l attempts.Look) bool { return l.Cause == "done already" }) {
		return Command{"relay show " + task, "what its agent said, and its checks"}
	}
	return Command{"relay show " + task + " --diff", "what it changed"}
}

// Done returns the command that completes a task of the kind person.
func Done(task string) Command { return Command{"relay approve " + task, "when you have done it"} }

// Untried returns the command that shows a task of which nothing was tried.
func Untried(task string) Command { return Command{"relay show " + task, "what it is about"} }
