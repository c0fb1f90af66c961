package globs

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// FileClaims holds the globs and paths that a task declares, ready to be compared with those of many others.
type FileClaims []fileClaim

// fileClaim is one path, or one glob without alternatives.
type fileClaim struct {
	text   string
	prefix string // that every path below it begins with
	form   form
}

// form says how a claim is compared.
type form uint8

const (
	literal   form = iota // a path
	starred               // paths and stars only: compared segment by segment
	patterned             // with ?, classes or backslashes: compared character by character
	unbounded             // too many alternatives to look at: it covers all that has its prefix
)

// Bounds of what is compared: the bytes of one declaration's alternatives, and the pairs of places of two lists.
const (
	maxAlternatives = 1 << 16
	maxPairs        = 1 << 20
)

// NewFileClaims makes claims of the files that a task declares.
func NewFileClaims(files []string) FileClaims {
	if len(files) == 0 {
		return nil
	}
	claims := make(FileClaims, 0, len(files))
	for _, text := range files {
		if text = oneSpelling(text); text == "" {
			continue
		}
		if !utf8.ValidString(text) {
			text = string([]rune(text)) // to doublestar all that is not UTF-8 is the same
		}
		if text == "." {
			text = "**"
		}
		if folder, whole := strings.CutSuffix(text, "/**"); whole && !strings.ContainsAny(folder, `*?[{\`) {
			text = folder // it is what is in it
		}
		claims = append(claims, newFileClaims(text)...)
	}
	return claims
}

// newFileClaims makes the claims of one declaration: one for each of its alternatives, and where brackets, braces or
// backslashes could be a file's name, one for that file.
func newFileClaims(text string) FileClaims {
	first := strings.IndexAny(text, `*?[{\`)
	if first < 0 {
		return FileClaims{{text, text, literal}}
	}
	if !strings.ContainsAny(text, `?[{\`) {
		return FileClaims{{text, text[:first], starred}}
	}
	claims := FileClaims{{text, text, literal}}
	todo, left := []string{text}, maxAlternatives
	if plain := bracketless(text); plain != text {
		todo = append(todo, plain)
	}
	for len(todo) > 0 {
		glob := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if left -= len(glob); left < 0 {
			return FileClaims{{text, text[:first], unbounded}}
		}
		choices, split := alternatives(glob)
		if split {
			todo = append(todo, choices...)
			continue
		}
		glob = strings.TrimRight(glob, "/")
		switch at := strings.IndexAny(glob, `*?[{\`); {
		case at < 0:
			claims = append(claims, fileClaim{glob, glob, literal})
		case strings.ContainsAny(glob, `?[{\`):
			claims = append(claims, fileClaim{glob, glob[:at], patterned})
		default:
			claims = append(claims, fileClaim{glob, glob[:at], starred})
		}
	}
	return claims
}

// Groups returns a name for each claim. Two claims of the same name overlap.
func (c FileClaims) Groups() []string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].group()
	}
	return names
}

// group returns the text of a claim with what is between the first and the last star of a segment left out, and what is
// behind a first segment that covers any number of them: that decides no comparison with a claim of the same stars.
func (c *fileClaim) group() string {
	if c.form != starred {
		return c.text
	}
	var b strings.Builder
	for segment, rest, more := "", c.text, true; more && segment != "**"; {
		segment, rest, more = strings.Cut(rest, "/")
		if from, to := strings.IndexByte(segment, '*'), strings.LastIndexByte(segment, '*'); from < to && segment != "**" {
			segment = segment[:from] + segment[to:]
		}
		b.WriteString("/" + segment)
	}
	return b.String()
}

// OverlapsGroup reports whether every claim in the group of o's claim i overlaps one of c, as far as that is known.
func (c FileClaims) OverlapsGroup(o FileClaims, i int) bool {
	return slices.ContainsFunc(c, func(one fileClaim) bool { return one.overlapsGroup(&o[i]) })
}

func (c *fileClaim) overlapsGroup(o *fileClaim) bool {
	short := min(len(c.prefix), len(o.prefix))
	switch {
	case c.prefix[:short] != o.prefix[:short]:
		return false
	case c.text == o.text, c.form == unbounded:
		return true
	case c.form == patterned || o.form == patterned || o.form == unbounded:
		return false
	}
	return c.overlapsSegments(o, true)
}

// Overlaps reports whether a file can exist that a claim of each list covers. Where that would take long to find out it
// says yes: to say no of files that two tasks share costs somebody's work, to say yes costs a wait.
func (c FileClaims) Overlaps(others FileClaims) bool {
	left := maxPairs
	for i := range c {
		for j := range others {
			if c[i].overlaps(&others[j], &left) {
				return true
			}
		}
	}
	return false
}

// overlaps compares two claims; left is how many pairs of places may still be compared.
func (c *fileClaim) overlaps(o *fileClaim, left *int) bool {
	short := min(len(c.prefix), len(o.prefix))
	switch {
	case c.prefix[:short] != o.prefix[:short]:
		return false
	case c.text == o.text, c.form == unbounded, o.form == unbounded:
		return true
	case c.form != patterned && o.form != patterned:
		return c.overlapsSegments(o, false)
	}
	a, ok := c.steps()
	b, also := o.steps()
	return ok && also && intersect(a, b, left)
}

// steps returns the automaton of a claim. Not ok: it matches nothing.
func (c *fileClaim) steps() (globset, bool) {
	if c.form == literal {
		return literally(c.text), true
	}
	return parse(c.text)
}

// overlapsSegments compares two claims without special characters but stars. A path that ends is a folder, in which the
// other claim may go on; so is one that a double star stands for. With group it does so for all claims in the group of o.
func (c *fileClaim) overlapsSegments(o *fileClaim, group bool) bool {
	restA, restB, moreA, moreB := c.text, o.text, true, true
	for moreA && moreB {
		var a, b string
		a, restA, moreA = strings.Cut(restA, "/")
		b, restB, moreB = strings.Cut(restB, "/")
		starA, starB := c.form == starred && strings.Contains(a, "*"), o.form == starred && strings.Contains(b, "*")
		switch {
		case starA && a == "**", starB && b == "**":
			return true
		case group && starB && !starA && strings.Count(b, "*") > 1: // a group does not say what is between the stars
			return false
		case !segmentsOverlap(a, b, starA, starB):
			return false
		}
	}
	return true
}

// segmentsOverlap reports whether a name exists that two segments cover. Of each it says whether it has stars.
func segmentsOverlap(a, b string, starA, starB bool) bool {
	switch {
	case !starA && !starB:
		return a == b
	case !starB:
		ok, _ := path.Match(a, b)
		return ok
	case !starA:
		ok, _ := path.Match(b, a)
		return ok
	}
	begin := min(strings.IndexByte(a, '*'), strings.IndexByte(b, '*'))
	endA, endB := a[strings.LastIndexByte(a, '*')+1:], b[strings.LastIndexByte(b, '*')+1:]
	end := min(len(endA), len(endB))
	return a[:begin] == b[:begin] && endA[len(endA)-end:] == endB[len(endB)-end:]
}
