package review

import (
	"fmt"
	"strings"
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
			fmt.Fprintf(&b, "**File:** %s\n", f.Place())
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

// ReadMarkdown returns the findings in a text that Markdown has written, without who raised them.
func ReadMarkdown(text string) (findings []Finding) {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, "## Finding ") {
			_, issue, _ := strings.Cut(l, ": ")
			findings = append(findings, Finding{Issue: issue})
			continue
		}
		name, value, ok := strings.Cut(l, ":** ")
		if !ok || len(findings) == 0 {
			continue
		}
		switch f := &findings[len(findings)-1]; name {
		case "**Severity":
			f.Severity = severityOf(value)
		case "**File":
			f.File = value
		case "**Criterion":
			f.Criterion = value
		case "**Fix":
			f.Fix = value
		}
	}
	return finish(findings)
}
