package briefing

import (
	"cmp"
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// Discovery is work that agents have found and left.
type Discovery struct {
	Title, Why string
	By         []string // whose agents found it: a task and its runner, "T1 (claude)"
}

// Says reports whether a title is that of the work, but for case, punctuation and spaces.
func (f *Discovery) Says(title string) bool { return normal(f.Title) == normal(title) }

const (
	titleBytes = 80      // of a task made of found work
	whyBytes   = 4 << 10 // of its description

	// foundBy and left enclose who has found the work that a task was made of; the whole title follows.
	foundBy, left = "Found by ", ", and left: "
)

// Discovered returns the work that attempts have found and left, in the order of the plan. It merges titles
// that differ only in case, punctuation and spaces, and leaves out the titles of tasks in the plan.
func Discovered(s LearningSource) []Discovery {
	var list []Discovery
	planned, at := planned(s.Epic), map[string]int{}
	add := func(by string, d attempts.Discovery) {
		found := s.found(d)
		words := normal(found.Title)
		if words == "" || isNothing(words) || planned[words] {
			return
		}
		k, ok := at[words]
		if !ok {
			k = len(list)
			at[words] = k
			list = append(list, Discovery{Title: found.Title})
		}
		list[k].Why = cmp.Or(list[k].Why, found.Why)
		list[k].By = each.Added(list[k].By, by)
	}
	for i := range s.Epic.Tasks {
		id := s.Epic.Tasks[i].ID
		rec := s.Record(id)
		for j := range rec.Attempts {
			for _, d := range rec.Attempts[j].Receipt.Discovered {
				add(who(id, rec.Attempts[j].Runner), d)
			}
		}
	}
	return list
}

// planned returns the titles of the tasks of a plan, and of the found work that some were made of, as normal has them.
func planned(e *epic.Epic) map[string]bool {
	titles := map[string]bool{}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		titles[normal(t.Title)] = true
		first, _, _ := strings.Cut(t.Description, "\n")
		if _, title, ok := strings.Cut(first, left); ok && strings.HasPrefix(first, foundBy) {
			titles[normal(title)] = true // whatever a person has made of its title
		}
	}
	return titles
}

// found returns what an agent says it has found, clean and without secrets.
func (s LearningSource) found(d attempts.Discovery) Discovery {
	clean := func(text string) string {
		if s.Redact != nil {
			text = s.Redact(text)
		}
		return plaintext.Line(plaintext.Clean(text))
	}
	f := Discovery{Title: line(clean(d.Title)), Why: clean(d.Why)}
	if isNothing(normal(f.Why)) {
		f.Why = ""
	}
	return f
}

// who names a task and the runner of its attempt.
func who(task, runner string) string {
	if runner == "" {
		return task
	}
	return fmt.Sprintf("%s (%s)", task, plaintext.Line(runner))
}

// DiscoveredTasks makes a task of each. Its id is the first of D1, D2, … that taken does not claim.
func DiscoveredTasks(list []Discovery, taken func(id string) bool) []epic.Task {
	tasks := make([]epic.Task, 0, len(list))
	n := 0
	for _, f := range list {
		id := ""
		for ok := false; !ok; ok = !taken(id) {
			n++
			id = fmt.Sprintf("D%d", n)
		}
		says := foundBy + strings.Join(f.By, ", ") + left + f.Title
		if f.Why != "" {
			says += "\n\nWhy: " + f.Why
		}
		tasks = append(tasks, epic.Task{
			ID: id, Title: cut(f.Title, titleBytes), Description: cut(says, whyBytes), Kind: epic.KindFeature, Priority: lowest,
			Criteria: []epic.Criterion{{Text: "Done: " + f.Title}},
		})
	}
	return tasks
}

// lowest is the least of a task's priorities.
const lowest = 3

// cut shortens a text to so many bytes at most.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.TrimRight(plaintext.Head(text, most-len("…")), " ") + "…"
}
