package markdown

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/pattern"
)

var (
	priorityWords = pattern.New(`(?i)\bp(?:riority\s*)?:?\s*([0-4])\b|\b(critical|urgent|high|medium|low)\b[ -]*(?:priority\b|\W*$)|\bpriority\W*(critical|high|medium|low)\b`)
	statusLine    = pattern.New(`(?i)^[-*\s]*\**status\**\s*:\**\W*(?:completed?|done|shipped|implemented|closed|fixed|resolved)\b`)
)

// PriorityIn returns the priority that a text names, else another one.
func PriorityIn(text string, other int) int {
	if m := priorityWords.FindStringSubmatch(text); m != nil {
		return Urgency(cmp.Or(m[2], m[3], "p"+m[1]))
	}
	return other
}

// IsComplete reports whether a section says that its work is done: **Status:** ✅ Complete.
func IsComplete(list []Line) bool {
	return slices.ContainsFunc(list, func(l Line) bool { return l.Kind != Code && statusLine.MatchString(l.Text) })
}

// Points splits a text that is a list into its points.
func Points(texts []string) (list []string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				list = append(list, line)
			}
		}
	}
	return list
}

// Urgency returns the priority that a word means, of 0 to 3.
func Urgency(word string) int {
	switch strings.ToLower(word) {
	case "critical", "urgent", "highest", "p0":
		return 0
	case "high", "p1":
		return 1
	case "low", "lowest", "p3", "p4":
		return 3
	}
	return 2
}
