package secrets

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// plain are the rules as they are read in one go, each with its expression.
var plain = sync.OnceValue(func() (rules []*rule) {
	var file struct{ Rules []shape }
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic(err)
	}
	for _, s := range slices.Concat(further, file.Rules) {
		if own := len(rules) < len(further); own || s.Regex != "" && s.Path == "" && len(s.Keywords) > 0 && !slices.Contains(loose, s.ID) {
			rules = append(rules, &rule{shape: s, compiled: regexp.MustCompile(strings.ReplaceAll(s.Regex, strictEnd, proseEnd))})
		}
	}
	return rules
})

// plainly finds what looks like a token in the plain way: the whole text is gone through for each rule one of whose
// words is in it.
func plainly(s string) (spans []span) {
	lower := strings.ToLower(s)
	s = escapes.ReplaceAllStringFunc(s, func(e string) string { return strings.Repeat(" ", len(e)) })
	for _, r := range plain() {
		if !slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(lower, strings.ToLower(k)) }) {
			continue
		}
		for _, m := range r.compiled.FindAllStringSubmatchIndex(s, -1) {
			if from, to := r.secret(m); from < to && r.serious(s[m[0]:m[1]], s[from:to]) {
				spans = append(spans, span{from, to, r.ID})
			}
		}
	}
	return spans
}

// The rules that are read one by one are those of the file.
func TestRulesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	set, words, all := known(), map[int][]string{}, []shape{}
	for _, w := range set.words {
		words[w.rule] = append(words[w.rule], w.text)
	}
	for _, i := range slices.Sorted(maps.Keys(words)) {
		r := set.rule(i)
		if r == nil {
			continue
		}
		all = append(all, r.shape)
		keywords := slices.Sorted(slices.Values(r.Keywords))
		if got := slices.Sorted(slices.Values(words[i])); !slices.Equal(got, keywords) {
			t.Errorf("%s is looked for by %q, want %q", r.ID, got, keywords)
		}
	}
	var want []shape
	for _, r := range plain() {
		s := r.shape
		s.Regex = r.compiled.String()
		want = append(want, s)
	}
	if len(all) < 200 || !reflect.DeepEqual(all, want) {
		t.Errorf("got %d rules, want %d: %+v", len(all), len(want), all)
	}
}

// What is found quickly is what is found plainly: in words that each rule looks for, in such that nearly are, and in noise.
func TestShapesPlainly(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for i, r := range plain() {
		re, err := syntax.Parse(r.compiled.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for n := 0; n < 4 || n < 99 && !found; n++ {
			text := wordFor(re, random)
			word := " " + r.Keywords[0]
			for _, s := range []string{
				text + word, wrapped(text, random), damaged(text, random), cased(text, random) + word, cased(text+word, random),
			} {
				got, want := shapes(s), plainly(s)
				if !slices.Equal(got, want) {
					t.Fatalf("%q:\ngot  %v\nwant %v", s, got, want)
				}
				found = found || slices.ContainsFunc(got, func(at span) bool { return at.name == r.ID })
			}
		}
		if !found {
			t.Errorf("rule %d, %s, is not found in its own words", i, r.ID)
		}
	}
}

func FuzzShapes(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, r := range plain() {
		if re, err := syntax.Parse(r.compiled.String(), syntax.Perl); err == nil {
			f.Add(wrapped(wordFor(re, random), random))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := shapes(s), plainly(s); !slices.Equal(got, want) {
			t.Errorf("%q:\ngot  %v\nwant %v", s, got, want)
		}
	})
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

func wrapped(s string, random *rand.Rand) string {
	around := []string{" ", "\n", `"`, `\n`, "%20", "\x1b[31m", "secret key token password ", "ſK\xff", "task_test_ of lob, ", "sk-ant-", "ghp_", ".", "x"}
	for range 2 + random.IntN(4) {
		s = around[random.IntN(len(around))] + s + around[random.IntN(len(around))]
	}
	return s
}

func damaged(s string, random *rand.Rand) string {
	if s == "" {
		return s
	}
	b := []byte(s)
	b[random.IntN(len(b))] = byte(random.IntN(256))
	return string(b[:len(b)-random.IntN(min(len(b), 3))])
}

// cased writes letters in the other case, or as another letter that counts as the same: ſ for s and the sign K for k.
func cased(s string, random *rand.Rand) string {
	other := random.IntN(2) == 0
	return strings.Map(func(r rune) rune {
		switch {
		case other && (r == 's' || r == 'S'):
			return 'ſ'
		case other && (r == 'k' || r == 'K'):
			return '\u212a'
		case !other && random.IntN(8) == 0:
			return unicode.SimpleFold(r)
		}
		return r
	}, s)
}
