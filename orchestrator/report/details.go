package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/orchestrator/text"
	"relay/review"
)

// tasks writes each task that was touched or needs a person.
func (p *page) tasks(r *Report) {
	shown := 0
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if !t.Touched && t.Gate == nil {
			continue
		}
		if shown++; shown <= mostTasks {
			p.task(t)
		}
	}
	if shown > mostTasks {
		p.say("\nand %s more: `relay report --format json` has all of them\n", text.Count(shown-mostTasks, "task"))
	}
}

func (p *page) task(t *Task) {
	p.say("\n### %s %s\n\n%s; attempts: %s", t.ID, code(t.Title, 200), p.state(t), counted(t))
	if t.Head != "" {
		p.say("; commits %s", code(shortHash(t.Base)+".."+shortHash(t.Head), 60))
	}
	if t.Landed != "" {
		p.say(", landed as %s", code(shortHash(t.Landed), 20))
	}
	p.say("\n")
	if t.Gate != nil {
		p.say("\nGated %s: %s\n%s", p.timeText(t.Gate.At), name(string(t.Gate.Reason)), block(t.Gate.Detail))
	}
	if t.Cap != nil {
		p.say("\nIts cap: %s\n", capText(t.Cap))
	}
	p.attempts(t)
	last := judged(t)
	if last == nil {
		p.criteria(nil, t)
		return
	}
	p.verdicts(last)
	p.criteria(last.Proofs, t)
}

// shortHash returns the begin of a commit's hash.
func shortHash(commit string) string { return fmt.Sprintf("%.12s", commit) }

// attempts writes a line for each attempt of a task.
func (p *page) attempts(t *Task) {
	if len(t.Attempts) == 0 {
		return
	}
	p.say("\n")
	from := max(len(t.Attempts)-mostTries, 0)
	if from > 0 {
		p.say("- %s before these: `relay show %s`\n", text.Count(from, "attempt"), t.ID)
	}
	for i := range t.Attempts[from:] {
		a := &t.Attempts[from+i]
		length := ", " + lasting(a.Seconds)
		if a.Seconds == 0 && p.over { // nobody knows when it came to its end
			length = ""
		}
		p.say("- attempt %d, %s%s: %s", a.ID, p.timeText(a.StartedAt), length, name(strings.ReplaceAll(string(a.Result), "_", " ")))
		if a.Result != attempts.ResultSuccess && a.Outcome != "" {
			p.say(" (%s, %s)", name(string(a.Outcome)), ChargeText(a.Charged))
		}
		if who := strings.TrimSpace(a.Agent + " " + a.Model); who != "" {
			p.say(" by %s", name(who))
		}
		if a.Usage != nil {
			p.say(", %s", text.Usage(*a.Usage))
		}
		if a.Elsewhere {
			p.say(", in another night")
		}
		p.say("%s", text.After(code(reason(a), columnsWide)))
		if a.Kept != "" {
			p.say("; kept as %s", code(a.Kept, columnsWide))
		}
		p.say("\n")
		p.say("%s", said(t.ID, "  ", &a.Statement))
	}
}

// ChargeText says whether an attempt was charged.
func ChargeText(charged bool) string {
	if charged {
		return "charged"
	}
	return "not charged"
}

// reason returns in words how an attempt ended.
func reason(a *Attempt) string {
	if a.Result == attempts.ResultSuccess || a.Error == "" {
		return a.Summary
	}
	return a.Error
}

// criteria writes a table of how each criterion is proved.
func (p *page) criteria(proofs []review.Proof, t *Task) {
	if len(proofs)+len(t.Unproven) == 0 {
		return
	}
	p.say("\n| # | criterion | met | proved by |\n|---|---|---|---|\n")
	for i, proof := range proofs {
		met := "no"
		switch {
		case proof.By == review.Unproven:
			met = "unproven"
		case proof.Met:
			met = "yes"
		}
		p.say("| %d | %s | %s | %s |\n", i+1, cell(proof.Criterion, columnsWide), met, p.proof(proof, t))
	}
	if len(proofs) > 0 {
		return
	}
	for i, text := range t.Unproven {
		p.say("| %d | %s | %s | %s |\n", i+1, cell(text, columnsWide), "unproven", p.proof(review.Proof{By: review.Unproven}, t))
	}
}

// proof returns the cell that says by what a criterion is proved.
func (p *page) proof(proof review.Proof, t *Task) string {
	if proof.By == review.Unproven && len(t.CoveredBy) == 0 {
		return "nothing: write a command under the task's checks"
	}
	return cell(ProofText(proof, t.CoveredBy), columnsWide)
}
