package main

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
)

// Limits of a pull request's text, in bytes. Hosts take 64 KiB.
const (
	maxRequest     = 60_000
	maxRequestOpen = 20_000 // of it, for what is not in the branch
	maxRequestText = 2_000  // one summary or reason
)

// requestBody is the text of a pull request, made of receipts. Everything that an agent may have written stands in code:
// there it neither formats, nor mentions anybody, nor closes issues.
func requestBody(e *epic.Epic, g *epic.Graph, l *attempts.Ledger) string {
	var landed, open []string
	for i := range e.Tasks {
		t := &e.Tasks[i]
		rec := l.Tasks[t.ID]
		if rec != nil && rec.Completed {
			landed = append(landed, landedText(t, rec))
			continue
		}
		open = append(open, openText(t, rec, l, g))
	}
	head := fmt.Sprintf("%s\n\nEpic %s: %d of %s completed. Each commit names its task (`Relay-Task`).\n",
		codeSpan(e.Title, 200), codeSpan(e.ID, 100), len(landed), count(len(e.Tasks), "task"))
	if len(e.Checks) > 0 {
		head += "\nChecks of the whole epic, run at every landing:\n\n"
		for _, c := range e.Checks {
			head += "- " + codeSpan(c.Run, 200) + "\n"
		}
	}
	rest := requestPart("Not in this branch", open, maxRequestOpen)
	return head + requestPart("Landed", landed, maxRequest-len(head)-len(rest)) + rest
}

// requestPart is a heading with as many sections as there is room for.
func requestPart(title string, sections []string, room int) string {
	if len(sections) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", title)
	for i, s := range sections {
		if b.Len()+len(s)+100 > room {
			fmt.Fprintf(&b, "\nand %s more\n", count(len(sections)-i, "task"))
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// landedText is one completed task: what its agent says it did, and what proved it.
func landedText(t *epic.Task, rec *attempts.TaskRecord) string {
	var at attempts.Attempt
	for _, a := range rec.Attempts {
		if a.Result == attempts.ResultSuccess {
			at = a
		}
	}
	text := fmt.Sprintf("\n### %s %s\n", t.ID, codeSpan(t.Title, 200))
	if n := len(rec.Attempts); n > 1 {
		text += fmt.Sprintf("\nIt took %d attempts.\n", n)
	}
	text += codeBlock(at.Receipt.Summary)
	if len(at.Receipt.Checks)+len(at.Receipt.Verdict) == 0 {
		return text + "\nUnverified: no check and no reviewer.\n"
	}
	text += "\n"
	for _, c := range at.Receipt.Checks {
		text += fmt.Sprintf("- %s: exit code %d (%s, %.1f s)", codeSpan(c.Name, 200), c.ExitCode, codeSpan(c.Phase, 20), c.Seconds)
		if c.Attribution != "" {
			text += ", " + codeSpan(string(c.Attribution), 40)
		}
		text += "\n"
	}
	if at.Receipt.Verdict != "" {
		text += "- verdict: " + codeSpan(string(at.Receipt.Verdict), 40) + "\n"
	}
	return text
}

// openText is one task that is not in the branch, with the reason.
func openText(t *epic.Task, rec *attempts.TaskRecord, l *attempts.Ledger, g *epic.Graph) string {
	why := "Not begun.\n"
	switch status := l.StatusOf(g, t.ID); {
	case status == attempts.Gated:
		why = "Gated: " + codeSpan(string(rec.Gate.Reason), 60) + "\n" + codeBlock(rec.Gate.Detail)
	case status == attempts.BlockedOn:
		why = "Waits for " + some(missing(l, g, t.ID), 8) + ".\n"
	case rec != nil && len(rec.Attempts) > 0:
		why = "Not done yet.\n" + codeBlock(rec.Attempts[len(rec.Attempts)-1].Receipt.ErrorSummary)
	}
	return fmt.Sprintf("\n### %s %s\n\n%s", t.ID, codeSpan(t.Title, 200), why)
}

// codeSpan shows text of any origin as code in one line of markdown.
func codeSpan(text string, width int) string {
	text = line(text, width)
	if text == "" {
		return ""
	}
	fence := backticks(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// codeBlock shows text of any origin as a block of code in markdown.
func codeBlock(text string) string {
	text = strings.Trim(safe(clip(text, maxRequestText)), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	fence := backticks(text, 3)
	return "\n" + fence + "text\n" + text + "\n" + fence + "\n"
}

// backticks are more than text has in a row, and at least so many.
func backticks(text string, least int) string {
	longest, run := least-1, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// clip keeps the first bytes of a text.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
