package status

import (
	"cmp"
	"fmt"
	"io"
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
	mostGroups  = 12 // groups of tasks that have a line
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

// grouped lists the tasks of a long epic: those that run or need a person one by one, but no more than a screen takes, and the others
// by what they wait for.
func (l Printer) grouped(w io.Writer, s *Report, completed bool) {
	l.brief = true
	own := ownLine(s)
	l.rows(w, own)
	groups := s.groups(own, completed)
	if len(own) > 0 && len(groups) > 0 {
		fmt.Fprintln(w)
	}
	l.groups(w, groups[:min(len(groups), mostGroups)])
	if rest := groups[min(len(groups), mostGroups):]; len(rest) > 0 {
		n := 0
		for _, g := range rest {
			n += len(g.tasks)
		}
		fmt.Fprintf(w, "  and %s in %s more\n", plaintext.Count(n, "task"), plaintext.Count(len(rest), "group"))
	}
	if len(s.Tasks) > len(own) {
		fmt.Fprintln(w, "  relay status --all lists every task")
	}
}

// groups prints a line for each group: what they are, how many, and which.
func (l Printer) groups(w io.Writer, groups []group) {
	for _, g := range groups {
		after := ""
		if g.after != "" {
			after = ": " + g.after
		}
		head := fmt.Sprintf("%-12s  %4d  ", g.word, len(g.tasks))
		most := mostNamed
		for most > 1 && len(head)+len(plaintext.Some(g.tasks, most)+after) > l.Width-2 {
			most--
		}
		fmt.Fprintf(w, "  %s%s\n", l.mark(g.word)(g.word), head[len(g.word):]+plaintext.Some(g.tasks, most)+after)
	}
}

// ownLine returns the tasks of a long epic that have a line each: of the gated ones those first that most tasks wait for.
func ownLine(s *Report) (own []*Task) {
	for _, row := range s.needs {
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
	for i := range s.Tasks {
		t, word, after := &s.Tasks[i], "ready", ""
		switch {
		case slices.Contains(own, t) || t.Status == attempts.Completed && !completed:
			continue
		case t.Status == attempts.BlockedOn:
			if word = "waiting"; len(t.RootCauses) > 0 {
				after = t.row.Why
			}
		case t.Status != attempts.Pending:
			word = strings.ReplaceAll(string(t.Status), "_", " ")
		case t.LastError != "":
			word = "tried before"
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.word == word && g.after == after })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{word: word, after: after})
		}
		groups[at].tasks = append(groups[at].tasks, t.ID)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(slices.Index(words, a.word), slices.Index(words, b.word)), cmp.Compare(len(b.tasks), len(a.tasks)))
	})
	return groups
}
