package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// need holds what every match of an expression holds: one of these words. A text that does not meet all needs of a rule
// has no match, and finding that out costs next to nothing compared with looking for one.
type need []literal

// literal is a word, in lower case when its case does not matter.
type literal struct {
	text string
	fold bool
}

// sought is a text, and the same with all made equal that expressions take for one letter when case does not matter.
type sought struct{ text, folded string }

// folded returns a text in lower case with what else counts as a letter of ASCII then.
func folded(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ſ", "s") }

func (n need) met(text sought) bool {
	return slices.ContainsFunc(n, func(l literal) bool {
		if l.fold {
			return strings.Contains(text.folded, l.text)
		}
		return strings.Contains(text.text, l.text)
	})
}

// needsOf returns the needs of an expression; none for one that does not compile either.
func needsOf(expression string) []need {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return needsIn(re)
}

func needsIn(re *syntax.Regexp) []need {
	switch re.Op {
	case syntax.OpLiteral:
		text, fold := string(re.Rune), re.Flags&syntax.FoldCase != 0
		if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
			return nil // its other forms are not looked for here
		}
		if fold {
			text = strings.ToLower(text)
		}
		return []need{{{text, fold}}}
	case syntax.OpCapture, syntax.OpPlus:
		return needsIn(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsIn(re.Sub[0])
		}
	case syntax.OpConcat:
		var all []need
		for _, part := range re.Sub {
			all = append(all, needsIn(part)...)
		}
		return all
	case syntax.OpAlternate:
		var any need
		for _, branch := range re.Sub {
			needs := needsIn(branch)
			if len(needs) == 0 {
				return nil
			}
			any = append(any, slices.MaxFunc(needs, rarer)...)
		}
		return []need{any}
	default: // the others need nothing certain
	}
	return nil
}

// rarer orders needs by how long the shortest of their words is.
func rarer(a, b need) int {
	shortest := func(n need) int {
		least := len(n[0].text)
		for _, l := range n {
			least = min(least, len(l.text))
		}
		return least
	}
	return shortest(a) - shortest(b)
}
