package blueprint

import (
	"slices"
	"strings"
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

// The order of sections in the description, of which a brief includes the beginning: the sections that agents need most come first, those
// without any of these words in their heading last.
func proseRanks() [][]string {
	return [][]string{
		{"context", "background", "overview", "summary", "problem", "motivation", "why"},
		{"non-goal", "non goal", "out of scope", "not in scope"},
		{"goal", "objective", "scope", "outcome"},
		{"constraint", "requirement", "rule", "guardrail", "never", "must"},
		{"technical", "architecture", "design", "approach", "implementation", "notes", "decision"},
		{"verification", "validation", "checks", "testing", "acceptance"},
	}
}

// Places of the ranks in the description: goals stand before what is none of them.
func rankOf(heading string) int {
	heading = strings.ToLower(plain(heading))
	ranks := proseRanks()
	for rank, words := range ranks {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(heading, w) }) {
			continue
		}
		switch rank {
		case 1:
			return 2
		case 2:
			return 1
		}
		return rank
	}
	return len(ranks)
}

// beginProse begins a section beside the tasks, or goes on with one that a deeper heading belongs to.
func beginProse(p *parser, b *block) {
	if last := p.lastProse(); p.inProse && last != nil && b.level > last.level {
		last.text = append(last.text, b.raw)
		last.checks = last.checks || namesChecks(b.text)
		return
	}
	p.prose, p.inProse = append(p.prose, prose{
		level: b.level, rank: rankOf(b.text), text: []string{b.raw}, line: b.line, checks: namesChecks(b.text),
	}), true
}

// addProse adds a block to a section beside the tasks.
func addProse(p *parser, b *block) {
	if epicFieldsInProse(p, b) {
		return
	}
	last := p.lastProse()
	last.text = append(last.text, b.raw)
	if last.checks {
		offer(p, b)
	}
}

func (p *parser) lastProse() *prose {
	if len(p.prose) == 0 {
		return nil
	}
	return &p.prose[len(p.prose)-1]
}

// described returns the sections that say something, in the order of their use.
func described(p *parser) (texts []string) {
	slices.SortStableFunc(p.prose, func(a, b prose) int { return a.rank - b.rank })
	for _, s := range p.prose {
		if len(s.text) > 1 {
			texts = append(texts, trimmed(s.text)...)
			continue
		}
		if s.line > 0 {
			p.skip(s.line, "the section is empty")
		}
	}
	return texts
}

func trimmed(texts []string) (list []string) {
	for _, t := range texts {
		if t = strings.Trim(t, "\n"); strings.TrimSpace(t) != "" {
			list = append(list, t)
		}
	}
	return list
}

// isTitle tells the heading that is the epic's title: the first of level 1, whatever it looks like.
func (p *parser) isTitle(b *block) bool {
	return b.level == 1 && !p.titled && p.section == 0 && len(p.drafts) == 0 && p.cur == nil
}
