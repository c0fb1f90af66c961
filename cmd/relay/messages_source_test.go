package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sourceText is a text in the source that a user may meet: what stands in it, around what is put in at run time.
type sourceText struct {
	file  string // from the module's root, with slashes
	line  int
	decl  string // the function, type, variable or constant it stands in
	text  string // its words, with a hole for everything that is put in at run time
	said  bool   // it is a message by itself, not a part of one
	wraps bool   // it only says what was being done when the error came that it ends with
}

func (s sourceText) String() string { return strings.ReplaceAll(s.text, hole, "…") }

// Packages that only tests import: nobody meets their words.
var onlyForTests = []string{"runners/runnertest/", "runners/internal/streamtest/", "attempts/internal/durable/simdisk/", "orchestrator/repotest/", "cmd/relay/internal/claudetest/", "orchestrator/schedule/scheduletest/"}

// A single word is a text too when it is said: as an argument of these…
var sayingCalls = []string{"errors.New", "fmt.Errorf"}

// …or as one of these fields.
var sayingFields = []string{
	"message", "hint", "Message", "Hint", "Fix", "Short", "Long", "Example", "Detail", "Text", "Reason", "Summary", "ErrorSummary", "Suggestion",
}

// Words these get are looked for, not said.
var lookingFor = map[string]string{
	"strings": "HasPrefix HasSuffix Contains ContainsAny ContainsRune Cut CutPrefix CutSuffix Index IndexByte IndexAny LastIndex EqualFold Split SplitN " +
		"Count Fields Trim TrimLeft TrimRight TrimPrefix TrimSuffix NewReplacer",
	"bytes":      "HasPrefix HasSuffix Contains Cut CutPrefix Index Equal Split TrimPrefix TrimSuffix",
	"regexp":     "MustCompile Compile",
	"lazyregexp": "New",
	"template":   "Must",
}

// moduleRoot is two folders up from this one.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// goFiles lists the module's Go files, from its root, without hidden folders and test data.
func goFiles(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !d.IsDir() {
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// parseAll reads files side by side and hands each tree to visit, in the order of the names.
func parseAll(t *testing.T, root string, names []string, visit func(name string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	files, errs := make([]*ast.File, len(names)), make([]error, len(names))
	var work sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := range next {
				files[i], errs[i] = parser.ParseFile(set, filepath.Join(root, names[i]), nil, parser.SkipObjectResolution)
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	work.Wait()
	for i, name := range names {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		visit(name, set, files[i])
	}
}

// sourceTexts collects what the program can say.
func sourceTexts(t *testing.T, root string) []sourceText {
	t.Helper()
	var names []string
	for _, name := range goFiles(t, root) {
		tests := slices.ContainsFunc(onlyForTests, func(dir string) bool { return strings.HasPrefix(name, dir) })
		if !tests && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	var texts []sourceText
	parseAll(t, root, names, func(name string, set *token.FileSet, file *ast.File) {
		c := collector{name: name, set: set}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if c.inside = ok; ok {
				c.decl = f.Name.Name
			}
			c.walk(d, false)
		}
		texts = append(texts, c.texts...)
	})
	return texts
}

type collector struct {
	name   string
	decl   string // the declaration at hand
	inside bool   // it is a function
	set    *token.FileSet
	texts  []sourceText
}

// walk collects the texts below a node; said tells that a single word there is a text too.
func (c *collector) walk(n ast.Node, said bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.ValueSpec:
			if !c.inside {
				c.decl = n.Names[0].Name
			}
		case *ast.Field:
			n.Tag = nil
		case *ast.CallExpr:
			return c.call(n)
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			if !ok || !slices.Contains(sayingFields, key.Name) {
				return true
			}
			c.walk(n.Value, true)
			return false
		case *ast.BinaryExpr:
			if n.Op != token.ADD || !hasLiteral(n) {
				return true
			}
			c.take(n, said)
			for _, leaf := range leaves(n) {
				if _, literal := leaf.(*ast.BasicLit); !literal {
					c.walk(leaf, false)
				}
			}
			return false
		case *ast.BasicLit:
			c.take(n, said)
		}
		return true
	})
}

// call decides what the arguments of a call are.
func (c *collector) call(n *ast.CallExpr) bool {
	name, of := "", ""
	switch f := n.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
	}
	if name == "panic" || slices.Contains(strings.Fields(lookingFor[of]), name) {
		return false
	}
	said := slices.Contains(sayingCalls, of+"."+name)
	c.walk(n.Fun, false)
	for i, arg := range n.Args {
		c.walk(arg, said && i == 0)
	}
	return false
}

// leaves are the operands of a chain of additions.
func leaves(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return append(leaves(e.X), leaves(e.Y)...)
		}
	case *ast.ParenExpr:
		return leaves(e.X)
	}
	return []ast.Expr{e}
}

func hasLiteral(e ast.Expr) bool {
	return slices.ContainsFunc(leaves(e), func(leaf ast.Expr) bool {
		lit, ok := leaf.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING
	})
}

// hole stands for what is put in at run time.
const hole = "\x00"

var verbs = regexp.MustCompile(`%[-+#0]*(\[\d+\])?(\d+|\*)?(\.(\d+|\*))?[a-zA-Z]|\{\{.*?\}\}`)

var (
	hasWord   = regexp.MustCompile(`[a-zA-Z]{2}`)
	clockTime = regexp.MustCompile(`\b\d\d:\d\d\b`) // scripts fold every time of day
)

// gitSetting is an argument of git's, no text.
var gitSetting = regexp.MustCompile(`^\w+(\.\w+)+=|^--\w+=`)

var manyHoles = regexp.MustCompile(hole + `+`)

// wraps is the format of an error that ends with the one it was made from.
var wraps = regexp.MustCompile(`^[^%]*(%[a-z][^%]*)*: %w$`)

// literalText is an expression as text, with holes for what is no literal.
func literalText(e ast.Expr) string {
	var b strings.Builder
	for _, leaf := range leaves(e) {
		lit, ok := leaf.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			b.WriteString(hole)
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			text = lit.Value
		}
		b.WriteString(text)
	}
	return b.String()
}

// take notes an expression line by line, as far as it is a text.
func (c *collector) take(e ast.Expr, said bool) {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind != token.STRING {
		return
	}
	at := c.set.Position(e.Pos())
	text := literalText(e)
	raw := strings.HasPrefix(rawOf(e), "`")
	for i, one := range strings.Split(text, "\n") {
		one = clockTime.ReplaceAllString(one, hole)
		one = manyHoles.ReplaceAllString(strings.ReplaceAll(verbs.ReplaceAllString(one, hole), "%%", "%"), hole)
		one = strings.TrimRight(squash(one), " ")
		if gitSetting.MatchString(one) || !hasWord.MatchString(one) || !said && !strings.Contains(strings.TrimLeft(one, " "), " ") {
			continue
		}
		s := sourceText{file: c.name, decl: c.decl, line: at.Line, text: one, said: said, wraps: wraps.MatchString(text)}
		if raw {
			s.line += i
		}
		c.texts = append(c.texts, s)
	}
}

func rawOf(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok {
		return lit.Value
	}
	return ""
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// squash folds white space, so that it does not matter where a line was broken, and drops the marks that pflag drops.
func squash(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			space = true
			continue
		}
		if r == '`' {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
