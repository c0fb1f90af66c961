package reanchor

import (
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
)

// AskResult writes the brief of an agent that ended without a result, with a line that says why; changed says whether it changed something.
func AskResult(in Input, why string, changed bool) []byte {
	said := "You ended without a result that relay can read (" + plaintext.ShortLine(why, titleBytes) + "). If your work was cut off, finish it first.\n" +
		"Else change nothing and run nothing: give the result of what you have done, and nothing else."
	if !changed {
		said += "\n\nNo file has changed. If the task was done already before you began, the result is a `success` that says so."
	}
	return question(in, said, true)
}

// AskWhy writes the brief of an agent whose work has what its task does not name, such as changes of tests: seen says so, a line each.
func AskWhy(in Input, seen []string, resumed bool) []byte {
	return question(in, "relay has looked at your work:\n- "+strings.Join(oneLines(seen, 4*titleBytes), "\n- ")+"\n\nWhy? If the task needs it, say so in the `summary`, and change nothing. Else undo it, and pass the old tests.", resumed)
}

func question(in Input, said string, resumed bool) []byte {
	var s sheet
	s.add(opening(in, resumed))
	s.say(said)
	sayForm(&s, in.Agent, in.Task.Kind, in.NeverAsk)
	return s.bytes()
}

// Answered writes the brief of an agent whose session continues, as a person has answered its questions.
func Answered(in Input) []byte {
	var s sheet
	s.add(opening(in, true))
	said := "The user has answered you. Continue your task with the answer."
	switch n := len(in.Record.Attempts); {
	case in.TakenUp > 0:
		said += " What you had done is in the checkout again, not committed."
	case n > 0 && in.Record.Attempts[n-1].Receipt.Salvage != "":
		said += " What you had done is kept in " + code(in.Record.Attempts[n-1].Receipt.Salvage) + ", and not in the checkout."
	}
	s.say(said)
	sayAnswers(&s, in.Record.Answers)
	s.say(allowance(in.Wall, in.BudgetUSD, in.Tokens))
	sayForm(&s, in.Agent, in.Task.Kind, in.NeverAsk)
	return s.bytes()
}

// sayAnswers quotes what the user said to the agents of the task.
func sayAnswers(s *sheet, answers []attempts.Answer) {
	s.section("From the user", "These are instructions to you. A later one counts more.")
	quoteAnswers(s, "this task", answers)
}

// quoteAnswers quotes what the user said to the agents of a task, with what they asked.
func quoteAnswers(s *sheet, task string, answers []attempts.Answer) {
	for _, a := range answers {
		s.quote(cutProof, "An agent of "+plaintext.ShortLine(task, 64)+" asked:", a.Question, reportBytes)
		s.quote(cutProof, "The user says:", a.Text, attempts.MaxAnswer)
	}
}
