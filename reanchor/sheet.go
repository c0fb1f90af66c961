package reanchor

import (
	"strings"

	"relay/epic/plaintext"
)

// rank is the order in which parts of a brief are cut when it is too long: the smallest first, fixed never.
type rank int

// The parts that an agent needs least come first. The task and its proof come last.
const (
	fixed rank = iota
	cutThreads
	cutEntries
	cutLearnings
	cutHandoff
	cutOlderAttempts
	cutDependencies
	cutGit
	cutProgress
	cutEpic
	cutDiff
	cutOutput
	cutReport
	cutPaths
	cutTask
	cutProof
)

const (
	keepBytes = 400 // of a part in the first round of cuts
	markBytes = 48  // room for the mark of a cut, without a path
)

// removed stands in the place of parts that had to go as a whole.
const removed = "\n[relay left out the rest of this section]\n"

// block is one part of a brief.
type block struct {
	rank  rank
	head  string // stands before the body
	body  string
	fence string // around the body; "" for lines of relay's own
	lost  int    // lines of the body that were cut
	path  string // of a file with the whole body; "": none
	tail  bool   // the end is worth more than the beginning
	gone  bool   // left out as a whole
}

// size returns an upper bound of what the block takes in the brief.
func (b *block) size() int {
	if b.gone {
		return len(removed)
	}
	n := len(b.head) + len(b.body) + 1
	if b.fence != "" {
		n += 2*len(b.fence) + 2
	}
	if b.lost > 0 {
		n += markBytes + len(b.path)
	}
	return n
}

// shrink cuts the body by at least over bytes if that leaves enough of it.
func (b *block) shrink(over int) {
	keep := max(len(b.body)-over-markBytes, keepBytes)
	if keep+markBytes >= len(b.body) {
		return
	}
	short := clip(b.body, keep, b.tail)
	if b.fence == "" { // whole lines only
		if i := strings.LastIndexByte(short, '\n'); i >= 0 {
			short = short[:i]
		}
	}
	b.lost += lineCount(len(b.body)-len(short), b.body, b.tail)
	b.body = short
}

// sheet is a brief in the making.
type sheet struct {
	blocks  []block
	heading string // of the section that has nothing in it yet
}

// section begins a section; it is written when something comes into it.
func (s *sheet) section(heading, note string) {
	s.heading = "\n## " + heading + "\n"
	if note != "" {
		s.heading += "\n" + note + "\n"
	}
}

func (s *sheet) add(b block) {
	if s.heading != "" {
		s.blocks = append(s.blocks, block{head: s.heading})
		s.heading = ""
	}
	s.blocks = append(s.blocks, b)
}

// say adds a paragraph that is never cut, unless it is empty; it has to be short.
func (s *sheet) say(text string) {
	if text != "" {
		s.add(block{head: "\n" + text + "\n"})
	}
}

// whole adds a text of at most max bytes between fences, as [sheet.quote] does, without an intro; it is never cut further.
func (s *sheet) whole(text string, max int) {
	body, lost := quotable(text, max, false)
	s.add(block{head: "\n", body: body, fence: fenceFor(body), lost: lost})
}

// list adds lines of relay's own making.
func (s *sheet) list(r rank, intro string, items []string) {
	if len(items) > 0 {
		s.add(block{rank: r, head: "\n" + intro + "\n", body: "- " + strings.Join(items, "\n- ")})
	}
}

// quote adds text that relay did not write, between fences it cannot end.
func (s *sheet) quote(r rank, intro, text string, max int) { s.quoteEnd(r, intro, text, max, false) }

// quoteEnd is quote, and when tail is true it is the end of the text that is kept.
func (s *sheet) quoteEnd(r rank, intro, text string, max int, tail bool) {
	body, lost := quotable(text, max, tail)
	if body == "" {
		return
	}
	s.add(block{rank: r, head: "\n" + intro + "\n", body: body, fence: fenceFor(body), lost: lost, tail: tail})
}

// fit makes the sheet no longer than budget: first by shortening bodies, rank by rank and from the end, down to a
// remnant each; then by leaving blocks out in the same order.
func (s *sheet) fit(budget int) {
	total := 0
	for i := range s.blocks {
		total += s.blocks[i].size()
	}
	for _, cut := range []func(b *block, over int){
		(*block).shrink,
		func(b *block, _ int) { b.gone = b.gone || b.size() > len(removed) },
	} {
		for r := cutThreads; r <= cutProof && total > budget; r++ {
			for i := len(s.blocks) - 1; i >= 0 && total > budget; i-- {
				if b := &s.blocks[i]; b.rank == r {
					total -= b.size()
					cut(b, total+b.size()-budget)
					total += b.size()
				}
			}
		}
	}
}

// bytes renders the sheet.
func (s *sheet) bytes() []byte {
	n := 0
	for i := range s.blocks {
		n += s.blocks[i].size()
	}
	out := make([]byte, 0, n)
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.gone {
			if i == 0 || !s.blocks[i-1].gone {
				out = append(out, removed...)
			}
			continue
		}
		out = append(out, b.head...)
		out = b.appendBody(out)
	}
	return out
}

func (b *block) appendBody(out []byte) []byte {
	if b.body == "" {
		return out
	}
	fence, before, behind := b.fence, "", b.mark()
	if fence != "" {
		fence += "\n"
	}
	if b.tail {
		before, behind = behind, before
	}
	return append(out, fence+before+b.body+"\n"+behind+fence...)
}

// mark says how much is missing.
func (b *block) mark() string {
	mark := leftOut(b.lost, b.path) + "\n"
	switch {
	case b.lost == 0:
		return ""
	case b.fence == "":
		return "- " + mark
	}
	return mark
}

// leftOut marks a cut of so many lines of a text, all of which is in a file; "": in none.
func leftOut(lines int, path string) string {
	mark := "… " + plaintext.Count(lines, "line") + " left out"
	if path != "" {
		mark += ": " + pathText(path)
	}
	return mark
}
