// Package outline finds the lines of a plan that may begin work.
package outline

import (
	"strings"

	"relay/epic/blueprint/inline"
	"relay/epic/pattern"
)

var codedTask = pattern.New(`(?i)^[ \t]*#{2,6} (?:(?:task|story) |t-?)\d`)

// marked is a heading, an item of a list, perhaps with a box, a row of a table, or a line that begins with a number in bold.
var marked = pattern.New(`^([ \t]*)(?:(#{1,6})[ \t]|([-*+]|[0-9]{1,9}[.)])[ \t]+(\[[ xX~/-]?\])?|\||(\*\*[^*]*[0-9][^*]*\*\*))`)

// Mark is a line of a plan that may begin work.
type Mark struct {
	Line  int
	Level int // of a heading, from 1 to 6; 7 of a line in bold; that of an item or row is higher, by its margin, and by 1 without a number
	Box   bool
}

// Bold is the level of a line in bold.
const Bold = 7

// Marks returns the marks of a plan, but for those in blocks of code, and the lines of headings of tasks in such blocks. A mark begins a
// part that ends at the next one of its level or lower.
func Marks(src string) (list []Mark, coded []int) {
	fence, line := "", 0
	for text := range strings.Lines(src) {
		line++
		if fence = inline.FenceAfter(fence, text); fence != "" {
			if codedTask.MatchString(text) {
				coded = append(coded, line)
			}
			continue
		}
		if m := marked.FindStringSubmatch(text + " "); m != nil {
			level := 8 + 2*len(m[1]) + min(strings.Count("-*+", m[3]), 1)
			if m[2]+m[5] != "" {
				level = len(m[2]) + Bold*min(len(m[5]), 1)
			}
			list = append(list, Mark{line, level, m[4] != ""})
		}
	}
	return list, coded
}
