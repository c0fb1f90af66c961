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
	mostGroups  = 8  // groups of tasks that wait for the same
	mostRanges  = 16 // ranges of tasks that are named in a group
	mostHolders = 3  // tasks that are named of what a group waits for
)

// group is a set of tasks of a long epic that have one line together.
type group struct {
	word  string // what they are
	tasks []string
	after string // what follows their names
	gated bool   // they wait for a gated task
}

// long reports whether a report is of so many tasks that they are listed in groups.
func (l Printer) long(s *Report) bool { return !l.Verbose && !l.All && len(s.Tasks) > shortEpic }

// grouped lists the tasks of a long epic: those that run or need a person one by one, but no more than a screen takes, and the others
// by what they wait for.
func (l Printer) grouped(w io.Writer, s *Report, completed bool) {
	l.brief = true
	own := ownLine(s)
	l.rows(w, own)
	var groups []group
	for _, g := range s.states(own) {
		if completed || g.word != string(attempts.Completed) {
			groups = append(groups, g)
		}
	}
	waiting := s.waiting()
	if len(own) > 0 && len(groups)+len(waiting) > 0 {
		fmt.Fprintln(w)
	}
	l.groups(w, append(groups, waiting[:min(len(waiting), mostGroups)]...))
	if rest := waiting[min(len(waiting), mostGroups):]; len(rest) > 0 {
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
		shown := ranges(g.tasks, mostRanges) + g.after
		for most := mostRanges - 1; most > 0 && len(head)+len(shown) > l.Width; most-- {
			shown = ranges(g.tasks, most) + g.after
		}
		fmt.Fprintf(w, "  %s%s\n", l.mark(g.word)(word), head[2+len(word):]+shown)
	}
}

// ownLine returns the tasks of a long epic that have a line each: of the gated ones those first that most tasks wait for.
func ownLine(s *Report) []*Task {
	gated := s.gatedFirst()
	running := s.pick(func(t *Task) bool { return t.Status == attempts.InProgress })
	return append(gated[:min(len(gated), mostGated)], running[:min(len(running), mostRunning)]...)
}

// gatedFirst returns the gated tasks, those first that most tasks wait for.
func (s *Report) gatedFirst() (gated []*Task) {
	place := map[string]*Task{}
	for _, t := range s.pick(func(t *Task) bool { return t.Status == attempts.Gated }) {
		place[t.ID] = t
	}
	for _, row := range s.needs {
		for _, id := range append([]string{row.ID}, row.Also...) {
			if t := place[id]; t != nil {
				t.frees = row.FreesAll
				gated = append(gated, t)
			}
		}
	}
	return gated
}

// states returns the groups of tasks that wait for no other task, but for those with a line of their own.
func (s *Report) states(own []*Task) []group {
	groups := []group{{word: "completed"}, {word: "gated"}, {word: "in progress"}, {word: "tried before"}, {word: "ready"}}
	for i := range s.Tasks {
		t, at := &s.Tasks[i], 0
		switch {
		case t.Status == attempts.BlockedOn || slices.Contains(own, t):
			continue
		case t.Status == attempts.Gated:
			at = 1
		case t.Status == attempts.InProgress:
			at = 2
		case t.Status != attempts.Completed && t.LastError != "":
			at = 3
		case t.Status != attempts.Completed:
			at = 4
		}
		groups[at].tasks = append(groups[at].tasks, t.ID)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.tasks) == 0 })
}

// waiting returns the blocked tasks by what holds them up: gated tasks wherever there are any, else what runs or can run. Groups that
// wait for a gated task come first, and the largest of them.
func (s *Report) waiting() []group {
	var groups []group
	index := map[string]int{}
	held := s.holders()
	for i := range s.Tasks {
		if s.Tasks[i].Status != attempts.BlockedOn {
			continue
		}
		key := held[i].text(s)
		at, known := index[key]
		if !known {
			at = len(groups)
			index[key] = at
			groups = append(groups, group{word: "waiting", gated: held[i].gated})
		}
		groups[at].tasks = append(groups[at].tasks, s.Tasks[i].ID)
	}
	for key, at := range index {
		groups[at].after = " " + plaintext.Verb(len(groups[at].tasks), "waits", "wait") + " for " + key
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		switch {
		case a.gated && !b.gated:
			return -1
		case b.gated && !a.gated:
			return 1
		}
		return cmp.Compare(len(b.tasks), len(a.tasks))
	})
	return groups
}

// holder is what really holds a task up, at the end of its chain of dependencies: the first of these tasks, by their index.
type holder struct {
	tasks []int
	gated bool // all of them are gated
	more  bool // there are others
}

func (h holder) text(s *Report) string {
	names := make([]string, len(h.tasks))
	for k, i := range h.tasks {
		names[k] = s.Tasks[i].ID
	}
	shown := strings.Join(names, ", ")
	if h.more {
		shown += " and others"
	}
	if h.gated {
		shown += " (gated)"
	}
	return shown
}

// holders returns of every blocked task what holds it up, in one walk over the graph.
func (s *Report) holders() []holder {
	g := s.outlook.Graph
	held := make([]holder, g.Len())
	for _, i := range g.Order() {
		if s.Tasks[i].Status != attempts.BlockedOn {
			continue
		}
		for _, d := range g.Deps(i) {
			switch s.Tasks[d].Status {
			case attempts.Completed:
			case attempts.BlockedOn:
				held[i] = held[i].join(held[d])
			default:
				held[i] = held[i].join(holder{tasks: []int{d}, gated: s.Tasks[d].Status == attempts.Gated})
			}
		}
	}
	return held
}

// join returns what holds up a task that two holders hold up. Gated ones count alone: without a person nothing else helps.
func (h holder) join(other holder) holder {
	switch {
	case len(h.tasks) == 0 || other.gated && !h.gated:
		return other
	case h.gated && !other.gated:
		return h
	}
	all := append(slices.Clone(h.tasks), other.tasks...)
	slices.Sort(all)
	all = slices.Compact(all)
	few := min(len(all), mostHolders)
	return holder{tasks: all[:few], gated: h.gated, more: h.more || other.more || len(all) > few}
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
