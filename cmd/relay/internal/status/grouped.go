package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// Bounds of what is listed of a long epic, so that it fits on one screen.
const (
	shortEpic   = 50 // as many tasks have a line each without being asked for
	mostGated   = 5  // gated tasks with a line of their own
	mostRunning = 8  // running tasks with a line of their own
	mostGroups  = 12 // groups of tasks that have a line
	mostRanges  = 16 // ranges of tasks that are named in a group
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
	wide, digits := 0, 0
	for _, g := range groups {
		wide, digits = max(wide, len(g.word)), max(digits, len(strconv.Itoa(len(g.tasks))))
	}
	said := ""
	for _, g := range groups {
		word := g.word
		if word == said {
			word = ""
		}
		said = g.word
		head := fmt.Sprintf("  %s  %*d  ", terminal.Pad(word, wide), digits, len(g.tasks))
		after := ""
		if g.after != "" {
			after = ": " + g.after
		}
		shown := ranges(g.tasks, mostRanges) + after
		for most := mostRanges - 1; most > 0 && len(head)+len(shown) > l.Width; most-- {
			shown = ranges(g.tasks, most) + after
		}
		fmt.Fprintf(w, "  %s%s\n", l.mark(g.word)(word), head[2+len(word):]+shown)
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

// ranges names tasks with those that follow each other by number as one, as T1-T6, T9; at most so many, and how many more there are.
func ranges(ids []string, most int) string {
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b string) int { // as people count: T2 before T10
		beforeA, _, nA := numbered(a)
		beforeB, _, nB := numbered(b)
		return cmp.Or(cmp.Compare(beforeA, beforeB), cmp.Compare(nA, nB), cmp.Compare(a, b))
	})
	var shown []string
	for len(ids) > 0 && len(shown) < most {
		n := 1
		for n < len(ids) && follows(ids[n-1], ids[n]) {
			n++
		}
		switch dash := "-"; {
		case n < 3:
			n = 1
			shown = append(shown, ids[0])
		case strings.Contains(ids[0], dash):
			shown = append(shown, ids[0]+".."+ids[n-1])
		default:
			shown = append(shown, ids[0]+dash+ids[n-1])
		}
		ids = ids[n:]
	}
	names := strings.Join(shown, ", ")
	if len(ids) > 0 {
		names += fmt.Sprintf(" and %d more", len(ids))
	}
	return names
}

// numbered splits an id into what stands before its number and the number; -1: it has none.
func numbered(id string) (before, digits string, n int) {
	before = strings.TrimRight(id, "0123456789")
	digits = id[len(before):]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return id, "", -1
	}
	return before, digits, n
}

// follows reports whether b is the id that is counted after a.
func follows(a, b string) bool {
	before, digits, n := numbered(a)
	return n >= 0 && b == fmt.Sprintf("%s%0*d", before, len(digits), n+1)
}
