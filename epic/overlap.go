package epic

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Covers reports whether a glob or a path of an epic is about the file p: it matches p, or a folder that p is in.
func Covers(glob, p string) bool {
	glob = oneSpelling(glob)
	if glob == "." {
		return true
	}
	if plain := bracketless(glob); plain != glob && Covers(plain, p) {
		return true // as in app/[id]/page.tsx
	}
	for ; p != "." && p != "/"; p = path.Dir(p) {
		if ok, _ := doublestar.Match(glob, p); ok || p == glob {
			return true
		}
	}
	return false
}

// bracketless is a glob in which brackets stand for themselves, as they do in many a file's name.
func bracketless(glob string) string {
	if !strings.Contains(glob, "[") {
		return glob
	}
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case glob[i] == '[':
			b.WriteByte('\\')
		case glob[i] == '\\' && i+1 < len(glob):
			b.WriteByte(glob[i])
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

func oneSpelling(glob string) string { return CleanPath(strings.TrimSuffix(glob, "/")) }

// Overlap reports whether a file can exist that both lists of globs and paths cover. Where that would take long to find
// out it says yes: to say no of files that two tasks share costs somebody's work, to say yes costs a wait.
func Overlap(a, b []string) bool { return NewLease(a).Overlaps(NewLease(b)) }

// Lease is a list of globs and paths, ready to be compared with many others.
type Lease []leased

// leased is one glob or path.
type leased struct {
	text    string
	prefix  string // what every path below it begins with
	literal bool   // there is nothing but the prefix
}

// special are the characters of a glob that do not stand for themselves.
const special = `*?[{\`

// NewLease makes a lease of the files a task declares.
func NewLease(files []string) Lease {
	if len(files) == 0 {
		return nil
	}
	l := make(Lease, 0, len(files))
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
		if folder, whole := strings.CutSuffix(text, "/**"); whole && !strings.ContainsAny(folder, special) {
			text = folder // it is what is in it
		}
		e := leased{text: text, prefix: text, literal: true}
		if k := strings.IndexAny(text, special); k >= 0 {
			e.prefix, e.literal = text[:k], false
		}
		l = append(l, e)
	}
	return l
}

// mostPairs bounds how long two leases are compared, in pairs of places.
const mostPairs = 1 << 20

// Overlaps is Overlap.
func (l Lease) Overlaps(m Lease) bool {
	left := mostPairs
	for i := range l {
		for j := range m {
			if l[i].meets(&m[j], &left) {
				return true
			}
		}
	}
	return false
}

// meets compares two globs; left is how much work it may still take.
func (e *leased) meets(f *leased, left *int) bool {
	short := min(len(e.prefix), len(f.prefix))
	switch {
	case e.prefix[:short] != f.prefix[:short]:
		return false
	case e.text == f.text:
		return true
	case e.literal && f.literal:
		longer := e.text
		if len(f.text) > len(longer) {
			longer = f.text
		}
		return longer[short] == '/'
	}
	as, ok := e.automata(left)
	bs, also := f.automata(left)
	if !ok || !also {
		return true
	}
	for _, a := range as {
		for _, b := range bs {
			if intersect(a, b, left) {
				return true
			}
		}
	}
	return false
}

// automata gives the ways a path can be covered by a glob. Not ok: there are too many of them.
func (e *leased) automata(left *int) (all []automaton, ok bool) {
	all = append(all, literally(e.text)) // [id].js is the name of a file, too
	if e.literal {
		return all, true
	}
	todo := []string{e.text}
	if plain := bracketless(e.text); plain != e.text {
		todo = append(todo, plain)
	}
	for len(todo) > 0 {
		glob := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if *left -= len(glob); *left < 0 {
			return nil, false
		}
		choices, split := alternatives(glob)
		if split {
			todo = append(todo, choices...)
		} else if a, good := parse(strings.TrimRight(glob, "/")); good {
			all = append(all, a)
		}
	}
	return all, true
}

// alternatives writes the first {a,b} of a glob out. That is a matter of text, as for doublestar: {*,a}* is ** or a*.
func alternatives(glob string) (choices []string, split bool) {
	open := first(glob, 0, '{')
	if open == len(glob) {
		return nil, false
	}
	depth, from := 1, open+1
	var inner []string
	for i := from; ; i++ {
		i = first(glob, i, '{', ',', '}')
		switch {
		case i == len(glob):
			return nil, true // it is not closed, and matches nothing
		case glob[i] == '{':
			depth++
		case glob[i] == ',' && depth == 1:
			inner, from = append(inner, glob[from:i]), i+1
		case glob[i] == '}':
			depth--
		}
		if depth == 0 {
			for _, text := range append(inner, glob[from:i]) {
				choices = append(choices, glob[:open]+text+glob[i+1:])
			}
			return choices, true
		}
	}
}

// first is where one of some characters stands for the first time from i on, outside classes and without a backslash;
// the end when it does not.
func first(glob string, i int, of ...byte) int {
	for ; i < len(glob); i++ {
		for _, c := range of {
			if glob[i] == c {
				return i
			}
		}
		switch glob[i] {
		case '\\':
			i++
		case '[':
			i = bracket(glob, i+1)
		}
	}
	return len(glob)
}

// bracket is where the class ends whose inside begins at i.
func bracket(glob string, i int) int {
	for ; i < len(glob) && glob[i] != ']'; i++ {
		if glob[i] == '\\' {
			i++
		}
	}
	return i
}
