package learnings

import (
	"strings"
	"unicode"
)

// normal returns the words of a text: letters and digits in lower case, one space between two words.
func normal(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			b.WriteRune(r)
		case r == '\'' || r == '’': // don't is one word
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// isNothing reports whether an agent has only filled in a form.
func isNothing(normal string) bool {
	switch normal {
	case "none", "no", "n a", "na", "nil", "null", "nothing", "nothing new", "nothing to report", "nothing to note", "not applicable",
		"no learning", "no learnings", "no new learnings", "what agents of later tasks should know in one sentence",
		"what later tasks should know in one sentence", "work you found and left", "why it is to be done":
		return true
	}
	return false
}

// wordSet are the different words of a text, with those apart that turn its meaning round.
type wordSet struct {
	words    map[string]bool
	decisive string // negations, and what has a digit, in order
}

func wordsOf(normal string) wordSet {
	s := wordSet{words: map[string]bool{}}
	for w := range strings.FieldsSeq(normal) {
		s.words[w] = true
		if isNegation(w) || strings.ContainsFunc(w, unicode.IsDigit) {
			s.decisive += w + " "
		}
	}
	return s
}

// mostly reports whether two texts have two thirds of their words in common, with the same numbers and negations: use it and do
// not use it are no one learning.
func (s wordSet) mostly(o wordSet) bool {
	if s.decisive != o.decisive {
		return false
	}
	shared := 0
	for w := range o.words {
		if s.words[w] {
			shared++
		}
	}
	return 3*shared >= 2*max(len(s.words), len(o.words))
}

func isNegation(word string) bool {
	switch word {
	case "not", "no", "never", "without", "avoid", "cannot", "cant", "dont", "wont", "isnt", "arent", "doesnt", "didnt", "shouldnt", "mustnt":
		return true
	}
	return false
}
