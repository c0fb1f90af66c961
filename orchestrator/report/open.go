package report

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// collectQuestions records the open questions of tasks that do not wait for the answer.
func collectQuestions(m *builder) {
	for i := range m.r.Tasks {
		t := &m.r.Tasks[i]
		open := strings.Join(m.Ledger.Record(t.ID).OpenQuestions(), " ")
		if open != "" && (t.Gate == nil || t.Gate.Reason != attempts.AwaitsAnswer) {
			answer := []Command{{Type: view.Answering(t.ID).Type, For: "its next agent, and those that build on it, get the answer"}}
			addFlag(m, answer)
			m.r.Questions = append(m.r.Questions, clean(m, Need{
				Task: t.ID, Title: t.Title, Reason: attempts.AwaitsAnswer, Detail: open, Type: answer,
			}))
		}
	}
}

// writeOpen lists the open questions and the open discussions.
func writeOpen(p *page, r *Report) {
	if len(r.Questions) > 0 {
		p.say("\n## Open questions\n")
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		if i == mostListed {
			p.say("\nand %s more: `relay status --json`\n", plaintext.Count(len(r.Questions)-i, "task"))
			break
		}
		p.say("\n%s %s asks: %s\n", q.Task, code(q.Title, 120), code(q.Detail, columnsWide))
		writeCommands(p, q.Type)
	}
	if len(r.Discussions) > 0 {
		p.say("\n## Open discussions\n\n")
	}
	for i, t := range slices.Backward(r.Discussions) {
		if rest := i + 1; len(r.Discussions)-rest == mostListed {
			p.say("- and %s more: `relay discuss open`\n", plaintext.Count(rest, "discussion"))
			break
		}
		p.say("- %s, %s: %s\n", code(t.Topic, columnsWide), t.Status, code("relay discuss replay "+plaintext.ShellWord(t.ID), columnsWide))
	}
}
