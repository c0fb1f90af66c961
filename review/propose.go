package review

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"relay/epic"
)

// Lengths of a proposed task, in bytes.
const (
	maxTitle       = 80
	maxDescription = 4 << 10
)

// Propose makes a task of each finding of a whole epic. Its id is the first of R1, R2, … that taken does not claim. The
// task says all that is known: whoever does it has seen nothing of the review.
func Propose(findings []Raised, taken func(id string) bool) []epic.Task {
	tasks := make([]epic.Task, 0, len(findings))
	n := 0
	for _, f := range findings {
		f.Issue = cmp.Or(line(f.Issue), "the review has no words for it")
		id := ""
		for ok := false; !ok; ok = !taken(id) {
			n++
			id = fmt.Sprintf("R%d", n)
		}
		t := epic.Task{
			ID: id, Title: cut(f.Issue, maxTitle), Description: description(f),
			Kind: epic.KindBugfix, Priority: min(f.Severity.rank(), lowest),
			Criteria: []epic.Criterion{{Text: cut(cmp.Or(line(f.Criterion), "Mended: "+f.Issue), maxDescription)}},
		}
		if p := path.Clean(strings.Trim(f.File, "`\"' ")); f.File != "" && plain(p) {
			t.Files = []string{p}
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// lowest is the least of a task's priorities.
const lowest = 3

func description(f Raised) string {
	var b strings.Builder
	fmt.Fprintf(&b, "A review of the whole epic found (severity %s", f.Severity)
	if f.File != "" {
		fmt.Fprintf(&b, ", %s", f.Place())
	}
	fmt.Fprintf(&b, "): %s\n", f.Issue)
	if f.Fix != "" {
		fmt.Fprintf(&b, "\nWhat would mend it: %s\n", line(f.Fix))
	}
	if len(f.By) > 0 {
		fmt.Fprintf(&b, "\nFound by %s.\n", line(strings.Join(f.By, ", ")))
	}
	return cut(strings.TrimSpace(b.String()), maxDescription)
}

// plain reports whether a path is one of the repository's, and no pattern.
func plain(p string) bool {
	return line(p) == p && p != "." && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "*?[]{}\\:")
}
