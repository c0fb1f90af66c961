package blueprint

import (
	"slices"
	"strings"

	"relay/epic/blueprint/inline"
	"relay/epic/each"
)

// prose is a section beside the tasks, which becomes a part of the epic's description.
type prose struct {
	level int
	rank  int
	text  []string // its heading first
	line  int      // 0: it has fields of the epic
	// checks: commands in code are offered as checks of the epic.
	checks bool
}

// proseSections are the sections beside the tasks.
type proseSections struct {
	all  []prose
	open bool // the last one goes on
}

// begin begins a section, or goes on with one that a deeper heading belongs to.
func (s *proseSections) begin(b *block) {
	if last := s.last(); s.open && last != nil && b.level > last.level {
		last.text = append(last.text, b.raw)
		last.checks = last.checks || namesChecks(b.text)
		return
	}
	s.all, s.open = append(s.all, prose{
		level: b.level, rank: rankOf(b.text), text: []string{b.raw}, line: b.line, checks: namesChecks(b.text),
	}), true
}

func (s *proseSections) last() *prose {
	if len(s.all) == 0 {
		return nil
	}
	return &s.all[len(s.all)-1]
}

// described returns the sections that say something, in the order of their use, and the lines of those that say nothing.
func (s *proseSections) described() (texts []string, empty []int) {
	slices.SortStableFunc(s.all, func(a, b prose) int { return a.rank - b.rank })
	for _, section := range s.all {
		if len(section.text) > 1 {
			texts = append(texts, trimmed(section.text)...)
		} else if section.line > 0 {
			empty = append(empty, section.line)
		}
	}
	return texts, empty
}

// proseRanks are the places of sections in the description, of which a brief includes the beginning: the sections that agents need most
// come first, those without any of these words in their heading last. The first that fits counts: a heading with non-goals has goal in it.
var proseRanks = []struct {
	rank  int
	words []string
}{
	{0, []string{"context", "background", "overview", "summary", "problem", "motivation", "why"}},
	{2, []string{"non-goal", "non goal", "out of scope", "not in scope"}},
	{1, []string{"goal", "objective", "scope", "outcome"}},
	{3, []string{"constraint", "requirement", "rule", "guardrail", "never", "must"}},
	{4, []string{"technical", "architecture", "design", "approach", "implementation", "notes", "decision"}},
	{5, []string{"verification", "validation", "checks", "testing", "acceptance"}},
}

func rankOf(heading string) int {
	heading = strings.ToLower(inline.Plain(heading))
	for _, r := range proseRanks {
		if slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(heading, w) }) {
			return r.rank
		}
	}
	return len(proseRanks)
}

// addProse adds a block to a section beside the tasks.
func addProse(p *parser, b *block) {
	last := p.prose.last()
	if p.ofEpic(b, true) {
		last.line = 0
		return
	}
	last.text = append(last.text, b.raw)
	if last.checks {
		offer(p, b)
	}
}

func trimmed(texts []string) []string {
	return each.Where(texts, func(t string) (string, bool) { return strings.Trim(t, "\n"), strings.TrimSpace(t) != "" })
}
