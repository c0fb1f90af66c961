package epic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Problem is one mistake in a file that a person wrote.
type Problem struct {
	File    string // as the caller gave it to the reader
	Line    int    // from 1; 0: the place has no lines, as a variable
	Column  int    // from 1, in characters
	Message string
	Hint    string // what to type instead; may be empty
}

// Error gives the place and the message, without the hint.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems is everything wrong with one file, sorted by place.
type Problems []Problem

// Error gives one line for each problem, with its hint in parentheses.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Error())
		if p.Hint != "" {
			b.WriteString(" (" + p.Hint + ")")
		}
	}
	return b.String()
}

// Add notes a problem at a place with lines.
func (ps *Problems) Add(file string, at Place, hint, format string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: max(at.Line, 1), Column: max(at.Column, 1), Message: fmt.Sprintf(format, args...), Hint: hint})
}

// Sorted sorts problems by place, and returns them.
func (ps Problems) Sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return ps
}

// Place is a position in a file, from 1.
type Place struct{ Line, Column int }

// maxProblems bounds what a hopeless file can make relay print and remember.
const maxProblems = 1000

// problemList gathers the problems of one file.
type problemList struct {
	file  string
	found Problems
	left  int // problems beyond maxProblems
}

func (l *problemList) add(at Place, hint, format string, args ...any) {
	if len(l.found) >= maxProblems {
		l.left++
		return
	}
	l.found.Add(l.file, at, hint, format, args...)
}

// count returns how many problems there are so far.
func (l *problemList) count() int { return len(l.found) + l.left }

// err sorts the problems and returns them, or nil when there are none.
func (l *problemList) err() error {
	if len(l.found) == 0 {
		return nil
	}
	l.found = l.found.Sorted()
	if l.left > 0 {
		l.found.Add(l.file, Place{l.found[len(l.found)-1].Line, 1}, "", "and %d more problems", l.left)
		l.left = 0
	}
	return l.found
}

// didYouMean returns a hint with the candidate nearest to got, or fallback when none is near.
func (l *problemList) didYouMean(got string, candidates []string, fallback string) string {
	if l.left > 0 {
		return fallback
	}
	if near, found := Nearest(got, candidates); found {
		return fmt.Sprintf("did you mean %s?", plain(near))
	}
	return fallback
}

// Nearest finds the candidate that got is most likely a misspelling of, whatever the case of letters.
func Nearest(got string, candidates []string) (near string, found bool) {
	if len(got) > 100 {
		return "", false
	}
	got = strings.ToLower(got)
	// Short names are all near each other: T9 is one letter from T1, which is not a useful hint.
	limit := len(got) / 3
	for _, c := range candidates {
		if d := len(c) - len(got); d > limit || -d > limit {
			continue
		}
		d := levenshtein.ComputeDistance(got, strings.ToLower(c))
		if d == 2 && len(got) > 2 && sameLetters(got, strings.ToLower(c)) {
			d = 1 // two letters in the wrong order are one slip
		}
		if d <= limit {
			near, found, limit = c, true, d-1
		}
	}
	return near, found
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// listed joins the first names for a hint.
func listed(names []string) string {
	const most = 12
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most {
			b.WriteString("…")
			break
		}
		b.WriteString(plain(name))
	}
	return b.String()
}

// plain returns a name as it goes into a hint: as it is when no terminal or reader could misunderstand it, else quoted.
func plain(name string) string {
	if isWord(name) {
		return name
	}
	return Quoted(name)
}
