package report

import (
	"strings"

	"relay/orchestrator/words"
)

// maxBlock bounds one block of text, in bytes.
const maxBlock = 2_000

// code shows text of any origin as code in one line of markdown.
func code(text string, width int) string {
	text = words.Line(text, width)
	if text == "" {
		return ""
	}
	fence := backticks(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// cell is code in a table. Which bar ends a cell depends on who reads it, so that there is none: it is shown broken.
func cell(text string, width int) string {
	return strings.ReplaceAll(code(text, width), "|", "¦")
}

// name is code for a short text: an agent's name, a word of the ledger's.
func name(text string) string { return code(text, 80) }

// block shows text of any origin as a block of code in markdown.
func block(text string) string {
	text = strings.Trim(words.Safe(words.Clip(text, maxBlock)), "\n")
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
