package review

import (
	"fmt"
	"strings"

	"relay/epic/each"
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
func ReadMarkdown(text string) []Finding {
	return finish(each.Of(markdownFinding.FindAllStringSubmatch(text, -1), func(m []string) Finding {
		return Finding{Issue: m[1], Severity: severityOf(m[2]), File: m[3], Criterion: m[4], Fix: m[5]}
	}))
}

// markdownFinding matches one finding as Markdown writes it: issue, severity, file, criterion and fix.
var markdownFinding = pattern.New(`## Finding [0-9]+: (.*)\n\*\*Severity:\*\* (.*)(?:\n\*\*File:\*\* (.*))?(?:\n\*\*Criterion:\*\* (.*))?(?:\n\*\*Fix:\*\* (.*))?`)
