package verdict

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// renderers lists the declarations outside this package and package attempts that may name an outcome, a cause or a next step, with the
// reason. Each renders one as text, or carries it out, and decides nothing. Decisions belong in this package.
var renderers = map[string]string{
	"orchestrator/worker/course.go:again":        "has the agent work once more when a ruling says so",
	"orchestrator/view/commands.go:Whole":        "names the command that shows best what an attempt failed by",
	"reanchor/brief_history.go:endings":          "says in a brief how an attempt ended",
	"reanchor/brief_history.go:ending":           "says in a brief how an attempt ended",
	"reanchor/brief_history.go:outside":          "shortens what a brief says of an attempt that its agent did not end",
	"reanchor/brief_history.go:byOutcome":        "says in a brief what to do differently",
	"reanchor/brief_history.go:advise":           "says in a brief what to do differently",
	"orchestrator/view/viewtest/forty.go:forty":  "makes events of a night for tests",
	"orchestrator/view/viewtest/nights.go:ended": "makes events of a night for tests",
	"reanchor/brief_kept.go:goOn":                "says in a brief what to do with work that is in the checkout",
}

// Nothing outside this package names an outcome, a cause or a next step, except the renderers.
func TestNamed(t *testing.T) {
	t.Parallel()
	repository := os.DirFS("../..")
	consts := judgedConstants(t, repository)
	for _, name := range []string{"Success", "Environment"} {
		if !consts["relay/attempts"][name] {
			t.Fatalf("%s is not found among the constants", name)
		}
	}
	needed := map[string]bool{}
	err := fs.WalkDir(repository, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != "."):
			return fs.SkipDir
		case !strings.HasSuffix(p, ".go"), strings.HasSuffix(p, "_test.go"), strings.HasPrefix(p, "attempts/"), path.Dir(p) == "orchestrator/verdict":
			return nil
		}
		for _, name := range naming(t, source(t, repository, p), consts) {
			needed[p+":"+name] = true
			if renderers[p+":"+name] == "" {
				t.Errorf("%s: %s names an outcome, a cause or a next step: decide in orchestrator/verdict, or say here why not", p, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range slices.Sorted(maps.Keys(renderers)) {
		if !needed[entry] {
			t.Errorf("%s names none of them any more: take it out of the table", entry)
		}
	}
}

func TestNaming(t *testing.T) {
	t.Parallel()
	consts := map[string]map[string]bool{"relay/attempts": {"Check": true}, "relay/orchestrator/verdict": {"Land": true}}
	for code, want := range map[string]string{
		`import "relay/attempts"; func f(o attempts.Outcome) bool { return o == attempts.Check }`:         "f",
		`import "relay/attempts"; type x int; func (x) f() any { return attempts.Check }`:                 "f",
		`import a "relay/attempts"; var list = []a.Outcome{a.Check}`:                                      "list",
		`import "relay/attempts"; const mine attempts.Outcome = "mine"`:                                   "mine",
		`import "relay/attempts"; func f() any { return attempts.Outcome("mine") }`:                       "f",
		`import "relay/orchestrator/verdict"; func f() any { return verdict.Land }`:                       "f",
		`import "relay/attempts"; func f(s string) any { return attempts.Outcome(s) }`:                    "",
		`import "relay/attempts"; func f(a attempts.Attempt) any { return a.Check }`:                      "",
		`import "relay/attempts"; func f() any { return attempts.ResultSuccess }`:                         "",
		`import "other/attempts"; func f() any { return attempts.Check }`:                                 "",
		`import "relay/attempts"; var a, b = attempts.Check, 1; func f(attempts.Outcome) {}; func g() {}`: "a",
	} {
		if got := strings.Join(naming(t, []byte("package x; "+code), consts), " "); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}

// naming returns the names of the top-level declarations of a file that name one of the constants, or make one.
func naming(t *testing.T, code []byte, consts map[string]map[string]bool) (names []string) {
	t.Helper()
	if !strings.Contains(string(code), `/attempts"`) && !strings.Contains(string(code), `/verdict"`) {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{} // by the name under which the file imports them
	for _, i := range f.Imports {
		from := strings.Trim(i.Path.Value, `"`)
		name := path.Base(from)
		if i.Name != nil {
			name = i.Name.Name
		}
		packages[name] = from
	}
	for _, d := range f.Decls {
		parts := []ast.Node{d}
		if g, ok := d.(*ast.GenDecl); ok {
			parts = nil
			for _, s := range g.Specs {
				parts = append(parts, s)
			}
		}
		for _, part := range parts {
			if mentions(part, packages, consts) {
				names = append(names, nameOf(part))
			}
		}
	}
	return names
}

// mentions reports whether code names one of the constants, declares a constant of such a type, or makes a value of one from a
// literal.
func mentions(code ast.Node, packages map[string]string, consts map[string]map[string]bool) (yes bool) {
	from := func(e ast.Expr) (pkg, name string) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", ""
		}
		id, ok := s.X.(*ast.Ident)
		if !ok {
			return "", ""
		}
		return packages[id.Name], s.Sel.Name
	}
	judged := func(e ast.Expr) bool { pkg, name := from(e); return consts[pkg] != nil && judgedType(name) }
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			pkg, name := from(n)
			yes = yes || consts[pkg][name]
		case *ast.CallExpr:
			if judged(n.Fun) && len(n.Args) == 1 {
				_, literal := n.Args[0].(*ast.BasicLit)
				yes = yes || literal
			}
		case *ast.ValueSpec:
			yes = yes || n.Type != nil && judged(n.Type) && len(n.Values) > 0
		}
		return !yes
	})
	return yes
}

func nameOf(part ast.Node) string {
	switch part := part.(type) {
	case *ast.FuncDecl:
		return part.Name.Name
	case *ast.ValueSpec:
		return part.Names[0].Name
	case *ast.TypeSpec:
		return part.Name.Name
	}
	return ""
}

func judgedType(name string) bool { return name == "Outcome" || name == "Cause" || name == "Next" }

// judgedConstants returns the constants of the types Outcome, Cause and Next, by package.
func judgedConstants(t *testing.T, repository fs.FS) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, folder := range []string{"attempts", "orchestrator/verdict"} {
		found := map[string]bool{}
		all["relay/"+folder] = found
		files, err := fs.Glob(repository, folder+"/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range files {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Base(p), source(t, repository, p), parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
					addJudged(found, g)
				}
			}
		}
	}
	return all
}

// addJudged adds the constants of one declaration that have one of the types. One without type and value has that of the one before.
func addJudged(found map[string]bool, g *ast.GenDecl) {
	of := ""
	for _, s := range g.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if id, ok := v.Type.(*ast.Ident); ok {
			of = id.Name
		} else if len(v.Values) > 0 {
			of = ""
		}
		for _, n := range v.Names {
			found[n.Name] = found[n.Name] || judgedType(of)
		}
	}
}

func source(t *testing.T, repository fs.FS, p string) []byte {
	t.Helper()
	b, err := fs.ReadFile(repository, p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
