package houserules

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrases are ways to say a thing that sound translated. Say who does what, with a verb of the trade.
var phrases = []struct {
	name   string
	form   *regexp.Regexp
	except *regexp.Regexp // what the form finds and is plain English
	better string
}{
	{"told", regexp.MustCompile(`\b(is|are|was|were|be|been)\s+(also\s+)?told\b`), nil, "relay reports, warns, lists; the brief says"},
	{"nobody", regexp.MustCompile(`\b[Nn]obody\b`), nil, "name the actor, or leave it out"},
	{"goes-by", regexp.MustCompile(`\b(goes|go|went|gone)\s+by\b`), nil, "uses, follows, depends on"},
	{"rests-on", regexp.MustCompile(`\brests?\s+on\b`), nil, "depends on, uses"},
	{"what", regexp.MustCompile("(?m)(^\\s*|[\"`]|\\\\n|[.;:]\\s+|^\\s*[-*]\\s+)What\\s+\\w+"), nil, "begin with the actor"},
	{"is-no", regexp.MustCompile(`\bis\s+no\s+\w+`), regexp.MustCompile(`\bno\s+(longer|such)$`), "is not a"},
	{"anew", regexp.MustCompile(`\b(once\s+more|anew)\b`), nil, "again"},
	{"as-it-was", regexp.MustCompile(`\bas\s+(it|they)\s+(was|were)\b`), nil, "unchanged, or restore"},
}

type finding struct {
	phrase, better, path string
	line                 int
	words                string // the phrase with the words around it: the same after a text has moved or has been wrapped otherwise
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: better: %s (%s)", f.path, f.line, f.words, f.better, f.phrase)
}

// The phrases in comments, texts and pages become fewer: .ci/english has how many of each may remain.
func TestPhrases(t *testing.T) {
	t.Parallel()
	now := readNow(t)
	have := map[string][]int{}
	for _, p := range phrases {
		have[p.name] = []int{0}
	}
	for name, text := range now {
		for _, f := range findings(t, name, text) {
			have[f.phrase][0]++
		}
	}
	english.hold(t, now, have, "TestNewText lists those that this change adds.")
}

// New text has none of the phrases.
func TestNewText(t *testing.T) {
	t.Parallel()
	before, now := readBoth(t)
	for _, f := range newFindings(t, before, now) {
		t.Error(f)
	}
}

// newFindings returns the findings of files that differ, without those that were there before, in whichever file.
func newFindings(t *testing.T, before, now tree) (list []finding) {
	t.Helper()
	known := map[string]int{}
	for name, text := range before {
		if now[name] == text {
			continue
		}
		for _, f := range findings(t, name, text) {
			known[f.words]++
		}
	}
	for _, name := range sortedKeys(now) {
		if old, ok := before[name]; ok && old == now[name] {
			continue
		}
		for _, f := range findings(t, name, now[name]) {
			if known[f.words]--; known[f.words] < 0 {
				list = append(list, f)
			}
		}
	}
	return list
}

// findings looks for the phrases in the comments and texts of a Go file or in a page.
func findings(t *testing.T, name, text string) (list []finding) {
	t.Helper()
	var passages []passage
	switch {
	case production(name):
		passages = goPassages(t, name, text)
	case path.Ext(name) == ".md" && name != "CHANGELOG.md":
		passages = []passage{{1, text}}
	}
	for _, p := range passages {
		for _, phrase := range phrases {
			for _, at := range phrase.form.FindAllStringIndex(p.text, -1) {
				if phrase.except != nil && phrase.except.MatchString(p.text[at[0]:at[1]]) {
					continue
				}
				line := p.line + strings.Count(p.text[:at[1]], "\n")
				list = append(list, finding{phrase.name, phrase.better, name, line, around(p.text, at[0], at[1])})
			}
		}
	}
	return list
}

// passage is a text that is read as one, and the line it begins on.
type passage struct {
	line int
	text string
}

// slashes are the marks of comments.
var slashes = regexp.MustCompile(`(?m)^[ \t]*//`)

// goPassages returns the comments of a Go file and its string literals of more than two words.
func goPassages(t *testing.T, name, text string) (list []passage) {
	t.Helper()
	set, file := parse(t, name, text)
	for _, group := range file.Comments {
		from, to := set.Position(group.Pos()), set.Position(group.End())
		list = append(list, passage{from.Line, slashes.ReplaceAllString(text[from.Offset:to.Offset], "")})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(strings.Fields(l.Value)) > 2 {
			list = append(list, passage{set.Position(l.Pos()).Line, l.Value})
		}
		return true
	})
	return list
}

// around returns a piece of a text with two words before and behind it.
func around(text string, from, to int) string {
	words := strings.Fields(text[max(0, from-60):from])
	words = words[max(0, len(words)-2):]
	behind := strings.Fields(text[to:min(len(text), to+60)])
	words = append(words, strings.Fields(text[from:to])...)
	return strings.Join(slices.Concat(words, behind[:min(2, len(behind))]), " ")
}
