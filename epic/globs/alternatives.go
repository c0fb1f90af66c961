package globs

import "slices"

import "strings"

// bracketless returns a glob with a backslash before each bracket: in many a file's name brackets stand for themselves.
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

// first returns where one of some characters stands for the first time from i on, outside classes and without a backslash;
// the end when it does not.
func first(glob string, i int, of ...byte) int {
	for ; i < len(glob); i++ {
		if slices.Contains(of, glob[i]) {
			return i
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

// bracket returns where the class ends whose inside begins at i.
func bracket(glob string, i int) int {
	for ; i < len(glob) && glob[i] != ']'; i++ {
		if glob[i] == '\\' {
			i++
		}
	}
	return i
}
