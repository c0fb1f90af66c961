package labtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// projectsNight is the sum of the projects of a night.
type projectsNight struct {
	contestant, jobs                        string
	doable, right, wrong, lost, held, tasks int
	calls, fewest                           int
	took                                    time.Duration
	behaviours                              map[string]*behaviour
}

// behaviour is what became of the tasks of a kind, or of a project with a trait.
type behaviour struct {
	tasks, right, calls, fewest int
	others                      map[string]int // what became of those that are not right
}

func (s *projectsNight) add(n *projectNight) {
	s.took += n.took
	for _, t := range n.project.Tasks {
		calls, fewest, verdict := n.calls[t.ID], n.fewest(t), n.verdicts[t.ID]
		s.tasks++
		s.calls += calls
		s.fewest += fewest
		right := verdict == scoredRight || !t.canBeDone() && verdict == scoredOpen
		if t.canBeDone() {
			s.doable++
		}
		switch {
		case verdict == scoredWrong:
			s.wrong++
		case right && t.canBeDone():
			s.right++
		case !right && calls > 0:
			s.held++
		}
		if n.lost[t.ID] {
			s.lost++
		}
		why := ""
		if !right {
			why = n.why(t)
		}
		for _, name := range []string{t.Kind, n.project.Trait} {
			if name != "" {
				s.behaviour(name).count(right, calls, fewest, why)
			}
		}
	}
}

func (s *projectsNight) behaviour(name string) *behaviour {
	if s.behaviours[name] == nil {
		s.behaviours[name] = &behaviour{others: map[string]int{}}
	}
	return s.behaviours[name]
}

var varying = regexp.MustCompile(`\bT\d+\b|\bt\d+\b|\d+|[0-9a-f]{7,}`)

func (b *behaviour) count(right bool, calls, fewest int, why string) {
	b.tasks++
	b.calls += calls
	b.fewest += fewest
	if right {
		b.right++
		return
	}
	why = strings.ReplaceAll(varying.ReplaceAllString(why, "N"), "|", "/")
	line, _, _ := strings.Cut(why, "\n")
	if len(line) > 90 {
		line = line[:90] + "…"
	}
	b.others[line]++
}

const projectsHeader = "| contestant | seed | jobs | tasks | can be done | right | done but wrong | lost | held or flagged | calls | fewest | calls/fewest | seconds |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|"

// row is one line of the table.
func (s *projectsNight) row() string {
	return fmt.Sprintf("| %s | %d | %s | %d | %d | %d | %d | %d | %d | %d | %d | %.2f | %.0f |\n", s.contestant, *seed, s.jobs, s.tasks, s.doable, s.right, s.wrong, s.lost, s.held,
		s.calls, s.fewest, float64(s.calls)/float64(s.fewest), s.took.Seconds())
}

// table says for each behaviour how many of its tasks are right, and what became of the others.
func (s *projectsNight) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s, seed %d, %s jobs | tasks | right | calls | fewest | the others |\n|---|---|---|---|---|---|\n", s.contestant, *seed, s.jobs)
	for _, name := range slices.Sorted(maps.Keys(s.behaviours)) {
		one := s.behaviours[name]
		var others []string
		for _, why := range slices.Sorted(maps.Keys(one.others)) {
			others = append(others, fmt.Sprintf("%d %s", one.others[why], why))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name, one.tasks, one.right, one.calls, one.fewest, strings.Join(others, "; "))
	}
	return b.String()
}

// holds wants what a night of relay must reach.
func (s *projectsNight) holds(t *testing.T) {
	t.Helper()
	if s.contestant != "relay" {
		return
	}
	if s.wrong > 0 || s.lost > 0 {
		t.Errorf("%d tasks are called done and are not, %d are lost", s.wrong, s.lost)
	}
	if !*projectsHold {
		return
	}
	if share := float64(s.right) / float64(s.doable); share < projectsRight {
		t.Errorf("%.2f of the tasks are right, want %.2f", share, projectsRight)
	}
	if float64(s.calls) > projectsCalls*float64(s.fewest) {
		t.Errorf("%d calls, and %d are the fewest", s.calls, s.fewest)
	}
}
