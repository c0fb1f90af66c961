package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
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
		p.say("\nand %s more: `relay report --format json` has all of them\n", plaintext.Count(shown-mostTasks, "task"))
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
		p.say("\nGated %s: %s\n%s", p.timeText(t.Gate.At), t.Gate.Reason.Words(), block(t.Gate.Detail))
	}
	if t.Cap != nil {
		p.say("\nIts cap: %s\n", capText(t.Cap))
	}
	p.attempts(t)
	last := judged(t)
	if last == nil {
		writeCriteria(p, nil, t)
		return
	}
	writeVerdicts(p, last)
	writeCriteria(p, last.Proofs, t)
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
		p.say("- %s before these: `relay show %s`\n", plaintext.Count(from, "attempt"), t.ID)
	}
	for i := range t.Attempts[from:] {
		a := &t.Attempts[from+i]
		length := ", " + lasting(a.Seconds)
		switch {
		case a.Seconds == 0 && p.over: // its end is unknown
			length = ""
		case a.EndedAt.Sub(a.StartedAt).Seconds() > a.Seconds+1e-3:
			length = ", at least " + lasting(a.Seconds)
		}
		p.say("- attempt %d, %s%s: %s", a.ID, p.timeText(a.StartedAt), length, name(strings.ReplaceAll(string(a.Result), "_", " ")))
		if a.Result != attempts.ResultSuccess && a.Outcome != "" {
			p.say(" (%s, %s)", name(string(a.Outcome)), ChargeText(a.Charged))
		}
		if who := strings.TrimSpace(a.Agent + " " + a.Model); who != "" {
			p.say(" by %s", name(who))
		}
		if a.Usage != nil {
			p.say(", %s", UsageText(*a.Usage))
		}
		if a.Elsewhere {
			p.say(", in another night")
		}
		p.say("%s", plaintext.Because(code(reason(a), columnsWide)))
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

// writeCriteria writes a table of how each criterion is proved.
func writeCriteria(p *page, proofs []review.Proof, t *Task) {
	if len(proofs) == 0 {
		for _, text := range t.Unproven {
			proofs = append(proofs, review.Proof{Criterion: text, By: review.Unproven})
		}
	}
	if len(proofs) == 0 {
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
		p.say("| %d | %s | %s | %s |\n", i+1, cell(proof.Criterion, columnsWide), met, proofCell(proof, t))
	}
}

// proofCell returns the cell that says by what a criterion is proved.
func proofCell(proof review.Proof, t *Task) string {
	if proof.By == review.Unproven && len(t.CoveredBy) == 0 {
		return "nothing: write a command under the task's checks"
	}
	return cell(ProofText(proof, t.CoveredBy), columnsWide)
}

// writeVerdicts writes an attempt's checks and reviewers.
func writeVerdicts(p *page, a *Attempt) {
	if len(a.Checks) > 0 {
		p.say("\nChecks of attempt %d:\n\n", a.ID)
	}
	for i := range a.Checks {
		p.say("%s", checkRow(&a.Checks[i]))
	}
	r := a.Review
	if r == nil || r.Verdict == "" && len(r.Reviewers)+len(r.Missing) == 0 {
		return
	}
	p.say("\nReviewers of attempt %d", a.ID)
	if r.Verdict != "" {
		p.say(": %s", name(string(r.Verdict)))
	}
	if r.Rounds > 0 {
		p.say(", after %s of fixes", plaintext.Count(r.Rounds, "round"))
	}
	if r.Split {
		p.say("; they disagree")
	}
	p.say("\n")
	writePanel(p, r)
	if text := block(r.MustChange); text != "" {
		p.say("\nRequired changes:\n%s", text)
	}
}

// writePanel lists the reviewers.
func writePanel(p *page, r *Review) {
	if len(r.Reviewers)+len(r.Missing) > 0 {
		p.say("\n")
	}
	for _, one := range r.Missing {
		p.say("- %s: no opinion%s\n", name(one.Name), plaintext.Because(code(one.Why, columnsWide)))
	}
	for _, one := range r.Reviewers {
		p.say("- %s: %s, %s%s\n", name(strings.TrimSpace(one.Name+" "+one.Model)),
			name(string(one.Verdict)), findings(one.Findings), plaintext.Because(code(one.Summary, columnsWide)))
	}
}

// writeEpicReview writes the verdict on the whole epic.
func writeEpicReview(p *page, j *EpicReview) {
	if j == nil {
		return
	}
	p.say("\n## The whole epic\n\nReviewed %s at %s: %s\n", p.timeText(j.At), code(shortHash(j.Base)+".."+shortHash(j.Head), 60), code(j.Text, columnsWide))
	writePanel(p, &j.Review)
	for i := range j.Findings {
		if i == 0 {
			p.say("\nRequested changes:\n\n")
		}
		p.say("- %s", name(string(j.Findings[i].Severity)))
		writeFinding(p, &j.Findings[i])
	}
	if len(j.Added) > 0 {
		p.say("\nAdded as tasks: %s\n", code(plaintext.Some(j.Added, mostListed), columnsWide))
	}
}

// findings counts them by severity.
func findings(by map[review.Severity]int) string {
	total, parts := 0, []string(nil)
	for _, s := range []review.Severity{review.Critical, review.High, review.Medium, review.Low, review.Info} {
		if by[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[s], s))
			total += by[s]
		}
	}
	if total == 0 {
		return "no findings"
	}
	return plaintext.Count(total, "finding") + plaintext.Because(strings.Join(parts, ", "))
}

// writeDeferredFindings lists what reviewers found that did not hold a change up.
func writeDeferredFindings(p *page, r *Report) {
	written := 0
	list := func(of string, found []DeferredFinding) {
		for i := range found {
			f := &found[i]
			if written == 0 {
				p.say("\n## Deferred findings\n\n")
			}
			if written++; written > mostDeferred {
				continue
			}
			why := "below the bar"
			if f.Why == "outside" {
				why = "not about this change"
			}
			p.say("- %s, %s, %s", of, name(string(f.Severity)), why)
			writeFinding(p, &f.Raised)
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if a := judged(t); t.Touched && a != nil && a.Review != nil {
			list(t.ID, a.Review.Deferred)
		}
	}
	if r.Judged != nil {
		list("the whole epic", r.Judged.Deferred)
	}
	if written > mostDeferred {
		p.say("- and %d more: `relay show TASK --review`\n", written-mostDeferred)
	}
}

// writeFinding writes the rest of a row: where, what and by whom.
func writeFinding(p *page, f *review.Raised) {
	where := f.File
	if where != "" && f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
	}
	if where != "" {
		p.say(", %s", code(where, 200))
	}
	p.say(": %s", code(f.Issue, columnsWide))
	if f.Fix != "" {
		p.say("; fix: %s", code(f.Fix, columnsWide))
	}
	if len(f.By) > 0 {
		p.say(" (%s)", name(strings.Join(f.By, " ")))
	}
	p.say("\n")
}

// writeCosts writes who has used what, and what is left of the caps.
func writeCosts(p *page, r *Report) {
	if r.EpicUsage == (attempts.Usage{}) && len(r.Caps) == 0 {
		return
	}
	p.say("\n## Cost\n")
	if len(r.Agents) > 0 {
		p.say("\nThe usage of reviewers counts with the attempt that they reviewed.\n")
		writeShareTable(p, "agent", r.Agents)
		writeShareTable(p, "model", r.Models)
	}
	if r.EpicUsage != r.Usage {
		p.say("\nThe epic, over all its runs: %s\n", UsageText(r.EpicUsage))
	}
	if len(r.Caps) > 0 {
		p.say("\nCaps, as the configuration has them now:\n\n")
	}
	for i := range r.Caps {
		p.say("- %s: %s\n", r.Caps[i].Scope, capText(&r.Caps[i]))
	}
}

func writeShareTable(p *page, of string, list []Share) {
	p.say("\n| %s | attempts | USD | tokens in | from the cache | tokens out |\n|---|---|---|---|---|---|\n", of)
	for _, s := range list {
		who := cell(s.Name, 80)
		if who == "" {
			who = "not known"
		}
		usd := fmt.Sprintf("%.2f", s.CostUSD)
		switch {
		case !s.KnownCost():
			usd = "unknown"
		case s.EstimatedCost():
			usd += " (estimated)"
		}
		if s.Unpriced > 0 && s.KnownCost() {
			usd += fmt.Sprintf(", and %s without a price", plaintext.Count(s.Unpriced, "attempt"))
		}
		p.say("| %s | %d | %s | %s | %s | %s |\n", who, s.Attempts, usd, plaintext.Amount(s.InputTokens), plaintext.Amount(s.CachedTokens), plaintext.Amount(s.OutputTokens))
	}
}

// capText returns text that says what of a cap is gone and what remains.
func capText(c *Cap) string {
	var parts []string
	if b := c.USD; b != nil && b.Unknown {
		parts = append(parts, fmt.Sprintf("how much of %.2f USD is spent is not known", b.Cap))
	} else if b != nil {
		without := ""
		if c.Unpriced > 0 {
			without = " and " + plaintext.Count(c.Unpriced, "attempt") + " of unknown cost"
		}
		parts = append(parts, fmt.Sprintf("%.2f of %.2f USD spent%s, %.2f left%s", b.Spent, b.Cap, without, b.Left, estimated(b.Estimated)))
	}
	if b := c.Tokens; b != nil {
		parts = append(parts, fmt.Sprintf("%s of %s tokens used, %s left%s", plaintext.Amount(b.Spent), plaintext.Amount(b.Cap), plaintext.Amount(b.Left), estimated(b.Estimated)))
	}
	return strings.Join(parts, "; ")
}

func estimated(so bool) string {
	if so {
		return ", estimated"
	}
	return ""
}

// writeWaits lists when nothing could start, and who was not asked.
func writeWaits(p *page, r *Report) {
	for i, w := range r.Waits {
		switch {
		case i == 0:
			p.say("\n## Waits\n\n")
		case i == mostListed:
			p.say("- and %d more: `relay ledger log`\n", len(r.Waits)-i)
			return
		}
		p.say("- %s: %s%s\n", p.timeText(w.At), p.wait(&w), plaintext.Because(code(w.Why, columnsWide)))
	}
}

func (p *page) wait(w *Wait) string {
	who := name(w.For)
	switch w.Kind {
	case view.RunWaits:
		return "nothing could start before " + p.until(w) + ", for " + who
	case view.AgentFree:
		return who + " may be asked again"
	default:
		return who + " is not asked before " + p.until(w)
	}
}

// writeNotes lists what happened besides.
func writeNotes(p *page, title string, list []Note) {
	for i, n := range list {
		switch {
		case i == 0:
			p.say("\n## %s\n\n", title)
		case i == mostListed:
			p.say("- and %d more: `relay ledger log`\n", len(list)-i)
			return
		}
		who := ""
		if n.Task != "" {
			who = " " + name(n.Task)
		}
		if n.Attempt > 0 {
			who += fmt.Sprintf(" attempt %d", n.Attempt)
		}
		p.say("- %s%s, %s: %s\n", p.timeText(n.At), who, name(n.Kind), code(n.Text, 1000))
	}
}
