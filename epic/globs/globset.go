package globs

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// globset accepts the paths that a glob covers, and what is below them: it reads a path from its first step to behind its
// last one. Two globs that have a path in common also have one below it, so that nothing is lost when a/** is not taken for a
// itself, nor a/**/b for a/b.
type globset []step

// step is one place of a globset.
type step struct {
	on   runes
	loop bool // it may be taken any number of times
}

// runes is a set of characters: ranges in order that do not touch each other.
type runes []span

type span struct{ lo, hi rune }

var (
	anything = []span{{0, utf8.MaxRune}}
	segment  = []span{{0, '/' - 1}, {'/' + 1, utf8.MaxRune}}
	slash    = []span{{'/', '/'}}
)

// normal puts ranges in order and joins them.
func (s runes) normal() runes {
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var joined runes
	for _, r := range s {
		switch n := len(joined); {
		case r.lo > r.hi:
		case n > 0 && r.lo <= joined[n-1].hi+1:
			joined[n-1].hi = max(joined[n-1].hi, r.hi)
		default:
			joined = append(joined, r)
		}
	}
	return joined
}

// others returns every character that is not in s.
func (s runes) others() runes {
	var rest runes
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			rest = append(rest, span{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= utf8.MaxRune {
		rest = append(rest, span{next, utf8.MaxRune})
	}
	return rest
}

func (s runes) meets(t runes) bool {
	for i, j := 0, 0; i < len(s) && j < len(t); {
		switch {
		case s[i].hi < t[j].lo:
			i++
		case t[j].hi < s[i].lo:
			j++
		default:
			return true
		}
	}
	return false
}

// globParser reads a glob without alternatives as doublestar does.
type globParser struct {
	glob  string
	at    int
	made  globset
	spans []span // room for the steps with one character
}

func newParser(glob string) *globParser {
	return &globParser{glob: glob, made: make(globset, 0, len(glob)+2), spans: make([]span, 0, len(glob))}
}

// literally makes a globset for one path.
func literally(text string) globset {
	p := newParser(text)
	for p.at < len(text) {
		p.letter()
	}
	return p.done()
}

// parse makes a globset for what a glob covers. Not ok: it matches nothing.
func parse(glob string) (a globset, ok bool) {
	p := newParser(glob)
	for p.at < len(glob) {
		switch glob[p.at] {
		case '*':
			p.stars()
		case '?':
			p.made = append(p.made, step{on: segment})
			p.at++
		case '[':
			if !p.class() {
				return nil, false
			}
		case '\\':
			if p.at++; p.at == len(glob) {
				return nil, false
			}
			p.letter()
		default:
			p.letter()
		}
	}
	return p.done(), true
}

func (p *globParser) done() globset {
	return append(p.made, step{on: slash}, step{on: anything, loop: true})
}

func (p *globParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.glob[p.at:])
	p.at += n
	return r
}

// letter reads a character that stands for itself.
func (p *globParser) letter() {
	r := p.rune()
	p.spans = append(p.spans, span{r, r})
	n := len(p.spans)
	p.made = append(p.made, step{on: p.spans[n-1 : n : n]})
}

// stars reads what begins with a star.
func (p *globParser) stars() {
	from := p.at
	for p.at < len(p.glob) && p.glob[p.at] == '*' {
		p.at++
	}
	on := segment
	if rest := p.glob[p.at:]; p.at-from == 2 && (from == 0 || p.glob[from-1] == '/') && (rest == "" || rest[0] == '/') {
		on = anything
	}
	p.made = append(p.made, step{on: on, loop: true})
}

// class reads a character class. As for doublestar it can match a slash.
func (p *globParser) class() bool {
	p.at++
	negated := p.at < len(p.glob) && (p.glob[p.at] == '!' || p.glob[p.at] == '^')
	if negated {
		p.at++
	}
	end := bracket(p.glob, p.at)
	if end >= len(p.glob) || end == p.at {
		return false
	}
	var set runes
	for p.at < end {
		lo := p.member()
		set = append(set, span{lo, lo})
		if lo < utf8.MaxRune && p.at+1 < end && p.glob[p.at] == '-' {
			p.at++
			set = append(set, span{lo, p.member()})
		}
	}
	p.at = end + 1
	set = set.normal()
	if negated {
		set = set.others()
	}
	p.made = append(p.made, step{on: set})
	return true
}

// member reads one character of a class.
func (p *globParser) member() rune {
	if p.glob[p.at] == '\\' {
		p.at++
	}
	return p.rune()
}

// intersect reports whether a path exists that both accept. When that would take more than what is left it says yes.
func intersect(a, b globset, left *int) bool {
	width := len(b) + 1
	if *left -= (len(a) + 1) * width; *left < 0 {
		return true
	}
	seen := make([]bool, (len(a)+1)*width)
	todo := make([]int, 1, 64) // pairs of places, as place of a * width + place of b
	visit := func(i, j int) {
		if at := i*width + j; !seen[at] {
			seen[at] = true
			todo = append(todo, at)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, j := at/width, at%width
		switch {
		case i == len(a) && j == len(b):
			return true
		case i < len(a) && j < len(b) && a[i].on.meets(b[j].on):
			visit(a[i].taken(i), b[j].taken(j))
		}
		if i < len(a) && a[i].loop {
			visit(i+1, j)
		}
		if j < len(b) && b[j].loop {
			visit(i, j+1)
		}
	}
	return false
}

// taken returns where a step leads that is taken at place i.
func (s *step) taken(i int) int {
	if s.loop {
		return i
	}
	return i + 1
}
