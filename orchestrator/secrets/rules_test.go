package secrets

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// Every rule finds what it describes, and gitleaks still has about as many.
func TestRules(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rules := known().rules
	if len(rules) < 200 {
		t.Errorf("got %d rules", len(rules))
	}
	for i := range rules {
		r := &rules[i]
		re, err := syntax.Parse(r.expression().String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for n := 0; n < 99 && !found; n++ {
			text := wordFor(re, random) + " " + strings.ToUpper(r.Keywords[0])
			found = slices.ContainsFunc(shapes(text), func(at span) bool { return at.name == r.ID })
		}
		if !found {
			t.Errorf("rule %d, %s, is not found in its own words", i, r.ID)
		}
	}
}

// wordFor makes up a text that an expression matches, but for what it says of its surroundings.
func wordFor(re *syntax.Regexp, random *rand.Rand) string {
	var b strings.Builder
	times := func(least, most int) {
		if most < 0 || most > least+40 {
			most = least + 40
		}
		for range least + random.IntN(most-least+1) {
			b.WriteString(wordFor(re.Sub[0], random))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var in []rune
		for r := ' '; r <= '~'; r++ {
			for i := 0; i < len(re.Rune); i += 2 {
				if re.Rune[i] <= r && r <= re.Rune[i+1] {
					in = append(in, r)
				}
			}
		}
		if len(in) > 0 {
			b.WriteRune(in[random.IntN(len(in))])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + random.IntN(26)))
	case syntax.OpCapture:
		b.WriteString(wordFor(re.Sub[0], random))
	case syntax.OpStar:
		times(0, 6)
	case syntax.OpPlus:
		times(1, 6)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	case syntax.OpConcat:
		for _, part := range re.Sub {
			b.WriteString(wordFor(part, random))
		}
	case syntax.OpAlternate:
		b.WriteString(wordFor(re.Sub[random.IntN(len(re.Sub))], random))
	default: // the others match nothing or the empty text
	}
	return b.String()
}
