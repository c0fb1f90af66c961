package view

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/orchestrator/verdict"
)

// AddFlag has commands name the epic.
func AddFlag(list []Command, flag string) []Command {
	for k := range list {
		if c := &list[k]; strings.HasPrefix(c.Type, "relay ") && !strings.HasPrefix(c.Type, "relay config") {
			c.Type += flag
		}
	}
	return list
}

// forAll has the commands that decide on the task of a row decide on all that it stands for.
func forAll(r *Row) {
	list := r.Commands()
	for k := range list {
		for _, verb := range []string{"answer", "ungate", "approve", "retry"} {
			if rest, ok := strings.CutPrefix(list[k].Type, "relay "+verb+" "); ok {
				list[k].Type = "relay " + verb + " --same " + rest
				break
			}
		}
	}
	r.offer(list)
}

// remedy returns what to type for a gated task, in the order in which a careful person does.
func remedy(r *Row, g *attempts.Gate, last *attempts.Attempt) []Command {
	command := Untried(r.ID)
	if last != nil {
		command = Whole(r.ID, last.Outcome, &last.Receipt)
	}
	again := Command{"relay ungate " + r.ID, "try again"}
	switch g.Reason {
	case attempts.UserBlocked:
		if r.person {
			again = Approving(r.ID)
		}
	case attempts.AwaitsAnswer:
		return answers(r)
	case attempts.QualityGateBlocked:
		command = Command{"relay show " + r.ID + " --review", "what the reviewers said"}
	case attempts.BudgetExhausted:
		return []Command{{"relay config relay.task_budget_usd", "its cap, unless the task has a budget_usd of its own: raise it"}, again}
	case attempts.Infrastructure:
		return []Command{command, {"relay check --run", "what is wrong with the machine, its set-up or its checks"}, again}
	default: // the others are looked at and tried again
	}
	return []Command{command, again}
}

// lookCommands returns what to type for a completed task that a person has to look at.
func lookCommands(task string, looks []attempts.Look) []Command {
	return []Command{
		Showing(task, looks),
		{"relay approve " + task, "take it as it is"},
		{"relay retry " + task, "do it again; then relay work"},
	}
}

// option matches the mark of an answer that a question offers: A) or 2. or (b).
var option = pattern.New(`(?:^|[\s(])[A-Ha-h1-8][).]\s+`)

// answers returns the commands that answer the agent: one for each answer that its question offers by a letter or a number, else one that
// takes any text.
func answers(r *Row) []Command {
	said := strings.Join(r.Telling, " ")
	marks := option.FindAllIndex([]byte(said), -1)
	var list []Command
	for k, m := range marks {
		end := len(said)
		if k+1 < len(marks) {
			end = marks[k+1][0]
		}
		mark := strings.TrimLeft(said[m[0]:m[1]], " (")[:1]
		text := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(said[m[1]:end], " ,;?("), " or"), " ,;?.")
		if k > 0 && mark[0] != list[0].Type[len(list[0].Type)-1]+byte(k) { // they do not count on
			return []Command{Answering(r.ID)}
		}
		list = append(list, Command{"relay answer " + r.ID + " " + mark, text})
	}
	if r.Equal = len(list) > 1; !r.Equal {
		return []Command{Answering(r.ID)}
	}
	return list
}

// Answering returns the command that answers the agent of a task.
func Answering(task string) Command {
	return Command{"relay answer " + task + ` "TEXT"`, "answers it; then relay work continues its session"}
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
	return strings.Join(each.Of(looks, func(l attempts.Look) string { return l.Text }), "; ")
}

// Showing returns the command that shows what a person has to look at.
func Showing(task string, looks []attempts.Look) Command {
	if slices.ContainsFunc(looks, func(l attempts.Look) bool { return l.Cause == "done already" }) {
		return Command{"relay show " + task, "what its agent said, and its checks"}
	}
	return Command{"relay show " + task + " --diff", "what it changed"}
}

// Approving returns the command that completes a task of the kind person.
func Approving(task string) Command { return Command{"relay approve " + task, "when you have done it"} }

// Untried returns the command that shows a task of which nothing was tried.
func Untried(task string) Command { return Command{"relay show " + task, "what it is about"} }

// Finish reports how the work gets onto the branch that the epic began from, given by its name; "" : HEAD was detached.
func Finish(from string) Command {
	if from == "" {
		return Command{"relay finish --into BRANCH", "lands the completed tasks on a branch of yours: HEAD was detached when the epic began"}
	}
	return Command{"relay finish", "lands the completed tasks on " + from}
}
