package names

import (
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
)

var (
	waiting = pattern.New(`(?i)^(.*?)\b(?:depends? on|(?:starts? )?after|waits? for|requires|blocked by|needs)\b(.*)$`)
	arrow   = pattern.New(`[ \t]*(?:[-=]+\.*-*>|→|⇒|⟶)(?:\|[^|]*\|)?[ \t]*`)
	node    = pattern.New(`\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|（[^）]*）|["|;]`)
	mark    = pattern.New(`^[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+`)
	// TableRule matches the line below the head of a table.
	TableRule = pattern.New(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$`)
	waitsCell = pattern.New(`(?i)^[^\pL\d]*(?:(?:can )?starts? after|after|waits? for|depend|block|prereq|requires|abhäng|dépend|依赖|依存|前置)`)
)

const longLine = 4096 // bytes; the time for node grows with the square of a line's length

// Drawn returns the pairs of tasks of which lines such as T1 -> T2, or T2 starts after T1, say that the first comes before the second. So
// do the rows of a table with a column for what a task waits for.
func (n *Names) Drawn(lines []string) (pairs [][2]string) {
	column := -1
	for i, text := range lines {
		if len(text) > longLine {
			continue
		}
		text = mark.ReplaceAllString(text, "")
		row := Cells(text)
		if len(row) == 1 {
			column = -1
		}
		if i+1 < len(lines) && TableRule.MatchString(lines[i+1]) {
			column = slices.IndexFunc(row, waitsCell.MatchString)
		} else if column > 0 && column < len(row) {
			if at := slices.IndexFunc(row[:column], func(cell string) bool { return len(n.Find(cell)) > 0 }); at >= 0 {
				text = row[column] + "→" + row[at]
			}
		}
		var before []string
		for part := range strings.SplitSeq(arrow.ReplaceAllString(waiting.ReplaceAllString(text, "$2→$1"), "→"), "→") {
			now := n.Find(strings.TrimSpace(node.ReplaceAllString(part, "")))
			for _, id := range now {
				for _, on := range before {
					pairs = append(pairs, [2]string{on, id})
				}
			}
			before = now
		}
	}
	return pairs
}

// Cells returns the cells of a row of a table.
func Cells(row string) []string {
	return each.Of(strings.Split(strings.Trim(row, "| \t"), "|"), strings.TrimSpace)
}
