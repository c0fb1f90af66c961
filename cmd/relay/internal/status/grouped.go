package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
)

// Bounds of what is listed of a long epic, so that it fits on one screen.
const (
	shortEpic   = 50 // as many tasks have a line each without being asked for
	mostGated   = 5  // gated tasks with a line of their own
	mostRunning = 8  // running tasks with a line of their own
	mostNamed   = 16 // tasks that are named of a group
)

// group is a set of tasks of a long epic that have one line together.
type group struct {
	word  string // what they are
	after string // what follows their names
	tasks []string
}

// long reports whether a report is of so many tasks that they are listed in groups.
func (l Printer) long(s *Report) bool { return !l.Verbose && !l.All && len(s.Tasks) > shortEpic }

// listing is what is listed of the tasks.
type listing struct {
	Own    []*Task // have a line each
	Groups []group
	More   bool // some tasks have no line
}

// listed returns the tasks, those that are completed too or only the others. Of a long epic those that run or need a person have lines, but
// no more than a screen takes, and the others are grouped by what they wait for.
func (l Printer) listed(s *Report, completed bool) listing {
	if !l.long(s) {
		return listing{Own: s.pick(func(t *Task) bool { return completed || t.open() })}
	}
	own := ownLine(s)
	return listing{own, s.groups(own, completed), len(s.Tasks) > len(own)}
}

// After counts the tasks of the groups after so many.
func (l listing) After(most int) (n int) {
	for _, g := range l.Groups[most:] {
		n += len(g.tasks)
	}
	return n
}

// group returns the line of a group: what they are, how many, and which.
func (l Printer) group(g group) string {
	head, after, most := fmt.Sprintf("%-12s  %4d  ", g.word, len(g.tasks)), plaintext.Because(g.after), mostNamed
	for most > 1 && len(head)+len(plaintext.Some(g.tasks, most)+after) > l.Width-2 {
		most--
	}
	return "  " + l.mark(g.word)(g.word) + head[len(g.word):] + plaintext.Some(g.tasks, most) + after
}

// ownLine returns the tasks of a long epic that have a line each: of the gated ones those first that most tasks wait for.
func ownLine(s *Report) (own []*Task) {
	for _, row := range s.Needs {
		for _, id := range append([]string{row.ID}, row.Also...) {
			if i, _ := s.outlook.Graph.Index(id); s.Tasks[i].Status == attempts.Gated && len(own) < mostGated {
				own = append(own, &s.Tasks[i])
			}
		}
	}
	running := s.pick(func(t *Task) bool { return t.Status == attempts.InProgress })
	return append(own, running[:min(len(running), mostRunning)]...)
}

// groups returns the tasks without a line of their own by what they are, and by what needs a person before they can run. Of the blocked
// ones, the largest groups come first.
func (s *Report) groups(own []*Task, completed bool) (groups []group) {
	words := []string{"completed", "gated", "in progress", "tried before", "ready", "waiting"}
	places := map[[2]string]int{}
	for i := range s.Tasks {
		t, word, after := &s.Tasks[i], "ready", ""
		switch {
		case slices.Contains(own, t) || t.Status == attempts.Completed && !completed:
			continue
		case t.Status == attempts.BlockedOn:
			if word = "waiting"; len(t.RootCauses) > 0 {
				after = t.Row.Why
			}
		case t.Status != attempts.Pending:
			word = strings.ReplaceAll(string(t.Status), "_", " ")
		case t.LastError != "":
			word = "tried before"
		}
		at, known := places[[2]string{word, after}]
		if !known {
			at = len(groups)
			places[[2]string{word, after}], groups = at, append(groups, group{word: word, after: after})
		}
		groups[at].tasks = append(groups[at].tasks, t.ID)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(slices.Index(words, a.word), slices.Index(words, b.word)), cmp.Compare(len(b.tasks), len(a.tasks)))
	})
	return groups
}
