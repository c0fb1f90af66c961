package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// shownTexts is what tests have seen the program say: one line for each, white space folded.
type shownTexts struct{ all string }

// collectShown gathers what tests compare outputs with: the expectations of scripts, golden files, and the literals of test
// sources except what a failing test would say.
func collectShown(t *testing.T, root string) shownTexts {
	t.Helper()
	seen := map[string]bool{}
	add := func(text string) {
		for _, unit := range units(text) {
			seen[unit] = true
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "cmd", "relay", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		expected(archive, add)
	}
	for _, pattern := range []string{
		"*/testdata/*.golden*", "*/*/testdata/*.golden*", "*/testdata/*/*.golden*", "*/*/testdata/*/*.golden*",
		"reanchor/testdata/brief/*.md", "epic/testdata/*.t*xt", "epic/testdata/*.dot", "epic/testdata/*.m*d", "attempts/testdata/*.yml",
		"epic/blueprint/testdata/*.yml", "epic/importer/testdata/plans/*.txtar", "epic/importer/testdata/shapes/*/key",
	} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			add(string(text))
		}
	}
	var names []string
	for _, name := range goFiles(t, root) {
		if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "cmd/relay/messages_") {
			names = append(names, name)
		}
	}
	parseAll(t, root, names, func(_ string, _ *token.FileSet, file *ast.File) { testLiterals(file, add) })
	list := make([]string, 0, len(seen))
	for unit := range seen {
		list = append(list, unit)
	}
	slices.Sort(list)
	return shownTexts{"\n" + strings.Join(list, "\n") + "\n"}
}

var (
	compared = regexp.MustCompile(`(?m)^cmp(?:env)? \S+ (\S+)`)
	patterns = regexp.MustCompile(`(?m)^(?:stdout|stderr|grep|await) (?:-count=\d+ )?(?:'([^']*)'|(\S+))`)
)

// expected hands on what a script compares with: files named second in cmp, and the patterns that must match.
func expected(archive *txtar.Archive, add func(string)) {
	script := string(archive.Comment)
	for _, m := range compared.FindAllStringSubmatch(script, -1) {
		for _, f := range archive.Files {
			if f.Name == m[1] || f.Name == strings.TrimLeft(m[1], "./") {
				add(string(f.Data))
			}
		}
	}
	for _, m := range patterns.FindAllStringSubmatch(script, -1) {
		add(strings.ReplaceAll(m[1]+m[2], `\`, ""))
	}
}

// testLiterals hands on the literals of a test, but not what it says when it fails.
func testLiterals(file *ast.File, add func(string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				switch f.Sel.Name {
				case "Error", "Errorf", "Fatal", "Fatalf", "Log", "Logf", "Skip", "Skipf", "Run":
					x, ok := f.X.(*ast.Ident)
					return !ok || len(x.Name) > 2 // t, b, f, ts
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD && hasLiteral(n) {
				add(strings.ReplaceAll(literalText(n), hole, "…"))
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(literalText(n))
			}
		}
		return true
	})
}

// units are the lines of a text, and the lines with the indented ones below them in one piece: these may have been one line
// that was too long.
func units(text string) []string {
	var list, paragraph []string
	flush := func(next string) {
		if len(paragraph) > 1 {
			list = append(list, strings.Join(paragraph, " "))
		}
		if len(paragraph) > 2 {
			list = append(list, strings.Join(paragraph[1:], " "))
		}
		paragraph = []string{next}
	}
	for row := range strings.SplitSeq(text, "\n") {
		one := strings.TrimSpace(squash(row))
		if !strings.HasPrefix(row, "  ") || one == "" {
			flush(one)
		} else {
			paragraph = append(paragraph, one)
		}
		if strings.ContainsFunc(one, isLetter) {
			list = append(list, one)
		}
	}
	flush("")
	return list
}

// show finds a line that holds a text.
func (s shownTexts) show(text string, said bool) (string, bool) {
	var pieces []string
	for piece := range strings.SplitSeq(text, hole) {
		if strings.TrimSpace(piece) != "" {
			pieces = append(pieces, strings.TrimSpace(piece))
		}
	}
	longest := slices.MaxFunc(pieces, func(a, b string) int { return len(a) - len(b) })
	var form *regexp.Regexp
	for from := 0; ; {
		at := strings.Index(s.all[from:], longest)
		if at < 0 {
			return "", false
		}
		at += from
		start := strings.LastIndexByte(s.all[:at], '\n') + 1
		end := at + strings.IndexByte(s.all[at:], '\n')
		if form == nil {
			form = formOf(text, said)
		}
		if form.MatchString(s.all[start:end]) {
			return s.all[start:end], true
		}
		from = end
	}
}

// fewLetters is below how many letters a text is so short that another one may hold its words by chance.
const fewLetters = 12

// formOf turns a text into a pattern. What is put in at run time may be anything that is not too long. But a short text must
// stand by itself, at the beginning of a line or behind a mark, with a word or two put in.
func formOf(text string, said bool) *regexp.Regexp {
	rest, open := strings.CutPrefix(text, hole)
	rest, more := strings.CutSuffix(rest, hole)
	rest, goesOn := strings.CutPrefix(strings.TrimRight(rest, " "), " ")
	body, after := regexp.QuoteMeta(rest), `(?:$|[^a-zA-Z])`
	if more {
		after = ""
	}
	switch letters := len(notLetters.ReplaceAllString(text, "")); {
	case letters < fewLetters && (said || strings.Contains(text, hole)):
		put := `\S+(?: \S+){0,2}`
		if strings.HasSuffix(text, ": "+hole) {
			put = `\S+`
		}
		body = strings.ReplaceAll(body, hole, put)
		switch {
		case goesOn:
		case open:
			body = begins + `(?:relay |task )?\S+ ?` + body
		case isLetter(rune(rest[0])):
			body = begins + body
		}
		return regexp.MustCompile(body + after)
	case !open && !goesOn && isLetter(rune(rest[0])):
		body = `(?:^|[^a-zA-Z])` + body
	}
	return regexp.MustCompile(strings.ReplaceAll(body, hole, ".{0,160}?") + after)
}

// begins is what comes before a text that stands by itself: nothing, a mark, a time, or the name of what relay check looked at.
const begins = `(?:^|[:("'“;,\[|>…=] ?|TIME |^- |(?:not|wants|got) |\S*[./\]]\S* |^(?:ok|warn|fail) \S+ (?:[a-z]+ )?)`

var notLetters = regexp.MustCompile(`[^a-zA-Z]`)
