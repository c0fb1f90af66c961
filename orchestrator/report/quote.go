package report

import (
	"fmt"
	"strings"

	"relay/epic/plaintext"
)

// Bounds of quoted text.
const (
	maxBlock    = 2_000 // bytes of one block
	columnsWide = 300   // one text in a line
)

// code shows text of any origin as code in one line of markdown, at most width columns of it.
func code(text any, width ...int) string {
	most := columnsWide
	if len(width) > 0 {
		most = width[0]
	}
	s := plaintext.Fit(fmt.Sprint(text), most)
	if s == "" {
		return ""
	}
	fence := backticks(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell returns code in a table. Which bar ends a cell depends on who reads it, so that there is none: it is s broken.
func cell(text string, width ...int) string {
	return strings.ReplaceAll(code(text, width...), "|", "¦")
}

// block shows text of any origin as a block of code in markdown.
func block(s string) string {
	s = strings.Trim(plaintext.Escape(plaintext.Clip(s, maxBlock)), "\n")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	fence := backticks(s, 3)
	return "\n" + fence + "text\n" + s + "\n" + fence + "\n"
}

// backticks returns more than text has in a row, and at least so many.
func backticks(text string, least int) string {
	fence := strings.Repeat("`", least)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
