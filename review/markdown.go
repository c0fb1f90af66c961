package review

import (
	"fmt"
	"strings"

	"relay/epic/pattern"
)

// Markdown writes findings in the form of a receipt's quality_gate_findings.
func Markdown(findings []Raised) string {
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## Finding %d: %s\n", i+1, line(f.Issue))
		fmt.Fprintf(&b, "**Severity:** %s\n", strings.ToUpper(string(f.Severity)))
		if f.File != "" {
			fmt.Fprintf(&b, "**File:** %s\n", f.place())
		}
		if f.Criterion != "" {
			fmt.Fprintf(&b, "**Criterion:** %s\n", line(f.Criterion))
		}
		if f.Fix != "" {
			fmt.Fprintf(&b, "**Fix:** %s\n", line(f.Fix))
		}
		if len(f.By) > 1 {
			fmt.Fprintf(&b, "**Raised by:** %s\n", line(strings.Join(f.By, ", ")))
		}
	}
	return b.String()
}

var (
	verdictLine = pattern.New(`(?i)^[#*\- ]*(?:overall |final )?verdict[* ]*(?::(.*))?$`)
	headingLine = pattern.New(`(?i)^#{1,6} +(?:finding +\d+ *[:.)-] *)?(.*)$`)
	findingLine = pattern.New(`(?i)^#{1,6} +finding\b`)
	fieldLine   = pattern.New(`(?i)^[-* ]*\*\*(severity|file|fix|issue|criterion|raised by)(?::\*\*|\*\*:)(.*)$`)
)

// draft is a verdict being read from markdown, line by line.
type draft struct {
	verdict  Verdict
	awaiting bool // a heading "Verdict" was seen; its word comes next
	finding  *Finding
	field    *string // continued by lines that are no field
	severity string
	fence    string // of the code block we are in: nothing in one is a heading, field or verdict
}

// markdown reads the seed's form: "## Finding 1: …" with **Severity:**, **File:** and **Fix:** lines, and a
// "Verdict:" line. Without the latter the decision is empty; with two that differ, or an unknown word, it is an error.
func markdown(text string) (Verdict, error) {
	var d draft
	for raw := range strings.Lines(text) {
		l := strings.TrimSpace(raw)
		if d.inFence(l) || l == "" {
			continue
		}
		if err := d.take(l); err != nil {
			return Verdict{}, err
		}
	}
	if d.awaiting {
		return Verdict{}, noVerdict("the answer ends before its verdict")
	}
	d.endFinding()
	d.verdict.Findings = finish(d.verdict.Findings)
	return d.verdict, nil
}

func (d *draft) inFence(l string) bool {
	mark := ""
	if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
		mark = l[:len(l)-len(strings.TrimLeft(l, l[:1]))]
	}
	switch {
	case d.fence == "":
		d.fence = mark
		return mark != ""
	case mark == l && strings.HasPrefix(mark, d.fence):
		d.fence = ""
	}
	return true
}

func (d *draft) take(l string) error {
	if d.awaiting {
		d.awaiting = false
		return d.decide(l)
	}
	if m := verdictLine.FindStringSubmatch(l); m != nil {
		d.endFinding()
		if strings.Trim(m[1], "* ") == "" {
			d.awaiting = true
			return nil
		}
		return d.decide(m[1])
	}
	switch m := fieldLine.FindStringSubmatch(l); {
	case findingLine.MatchString(l):
		d.endFinding()
		d.finding = &Finding{Issue: headingLine.FindStringSubmatch(l)[1]}
	case strings.HasPrefix(l, "#"):
		d.endFinding()
	case d.finding == nil:
	case m != nil:
		d.setField(strings.ToLower(m[1]), strings.TrimSpace(m[2]))
	case d.field != nil:
		*d.field += " " + l
	default:
		d.finding.Issue += " " + l
	}
	return nil
}

func (d *draft) setField(name, value string) {
	d.field = nil
	switch name {
	case "severity":
		d.severity = value
		return
	case "file":
		d.finding.File = strings.Trim(value, "` ")
		return
	case "fix":
		d.field = &d.finding.Fix
	case "issue":
		d.field = &d.finding.Issue
		value = strings.TrimSpace(d.finding.Issue + " " + value)
	case "criterion":
		d.field = &d.finding.Criterion
	default: // who raised it is relay's to say
		return
	}
	*d.field = value
}

func (d *draft) decide(word string) error {
	decision, ok := decisionOf(strings.TrimLeft(strings.TrimSpace(word), "#- "))
	if !ok {
		return noVerdict("%q is not a verdict", cut(line(word), 60))
	}
	if d.verdict.Decision != "" && d.verdict.Decision != decision {
		return noVerdict("the answer says both %s and %s", d.verdict.Decision, decision)
	}
	d.verdict.Decision = decision
	return nil
}

func (d *draft) endFinding() {
	if d.finding != nil {
		d.finding.Severity = severityOf(d.severity)
		d.verdict.Findings = append(d.verdict.Findings, *d.finding)
	}
	d.finding, d.field, d.severity = nil, nil, ""
}
