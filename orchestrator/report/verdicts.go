package report

import (
	"fmt"
	"maps"
	"strings"

	"relay/orchestrator/text"
	"relay/review"
)

// verdicts writes an attempt's checks and reviewers.
func (p *page) verdicts(a *Attempt) {
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
		p.say(", after %s of fixes", text.Count(r.Rounds, "round"))
	}
	if r.Split {
		p.say("; they disagree")
	}
	p.say("\n")
	p.panel(r)
	if text := block(r.MustChange); text != "" {
		p.say("\nWhat must change:\n%s", text)
	}
}

// panel lists the reviewers.
func (p *page) panel(r *Review) {
	if len(r.Reviewers)+len(r.Missing) > 0 {
		p.say("\n")
	}
	for _, one := range r.Missing {
		p.say("- %s: no opinion%s\n", name(one.Name), text.After(code(one.Why, columnsWide)))
	}
	for _, one := range r.Reviewers {
		p.say("- %s: %s, %s%s\n", name(strings.TrimSpace(one.Name+" "+one.Model)),
			name(string(one.Verdict)), findings(one.Findings), text.After(code(one.Summary, columnsWide)))
	}
}

// epicReview writes the verdict on the whole epic.
func (p *page) epicReview(j *EpicReview) {
	if j == nil {
		return
	}
	p.say("\n## The whole epic\n\nReviewed %s at %s: %s\n", p.timeText(j.At), code(shortHash(j.Base)+".."+shortHash(j.Head), 60), code(j.Text, columnsWide))
	p.panel(&j.Review)
	for i := range j.Findings {
		if i == 0 {
			p.say("\nWhat they want changed:\n\n")
		}
		p.say("- %s", name(string(j.Findings[i].Severity)))
		p.finding(&j.Findings[i])
	}
	if len(j.Added) > 0 {
		p.say("\nAdded as tasks: %s\n", code(text.Some(j.Added, mostListed), columnsWide))
	}
}

// findings counts them by severity.
func findings(by map[review.Severity]int) string {
	total, parts := 0, []string(nil)
	for _, s := range []review.Severity{review.Critical, review.High, review.Medium, review.Low, review.Info} {
		if by[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[s], s))
		}
	}
	for n := range maps.Values(by) {
		total += n
	}
	if total == 0 {
		return "no findings"
	}
	return text.Count(total, "finding") + text.After(strings.Join(parts, ", "))
}

// deferredFindings lists what reviewers found that did not hold a change up.
func (p *page) deferredFindings(r *Report) {
	written := 0
	for i := range r.Tasks {
		t := &r.Tasks[i]
		a := judged(t)
		if !t.Touched || a == nil || a.Review == nil {
			continue
		}
		for _, f := range a.Review.Deferred {
			written = p.deferredFindingRow(t.ID, &f, written)
		}
	}
	if j := r.Judged; j != nil {
		for _, f := range j.Deferred {
			written = p.deferredFindingRow("the whole epic", &f, written)
		}
	}
	if written > mostDeferred {
		p.say("- and %d more: `relay show TASK --review`\n", written-mostDeferred)
	}
}

// deferredFindingRow writes one deferred finding unless mostDeferred were written, and returns the count with this one.
func (p *page) deferredFindingRow(of string, f *DeferredFinding, written int) int {
	switch {
	case written == 0:
		p.say("\n## Deferred findings\n\n")
	case written >= mostDeferred:
		return written + 1
	}
	why := "below the bar"
	if f.Why == "outside" {
		why = "not about this change"
	}
	p.say("- %s, %s, %s", of, name(string(f.Severity)), why)
	p.finding(&f.Raised)
	return written + 1
}

// finding writes the rest of a row: where, what and by whom.
func (p *page) finding(f *review.Raised) {
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
