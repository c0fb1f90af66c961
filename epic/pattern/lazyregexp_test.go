package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheModulesExpressionsCompile compiles what the code of the module gives to New, which would fail at its first use only.
func TestTheModulesExpressionsCompile(t *testing.T) {
	t.Parallel()
	found := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join("../..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNew(call.Fun) {
				return true
			}
			found++
			at := files.Position(call.Pos())
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: the expression is no literal, and nothing shows before its first use that it compiles", at)
				return true
			}
			expr, err := strconv.Unquote(literal.Value)
			if err == nil {
				_, err = regexp.Compile(expr)
			}
			if err != nil {
				t.Errorf("%s: %v", at, err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 100 {
		t.Errorf("%d expressions were found in the module, and there are more", found)
	}
}

// isNew reports whether a function is New.
func isNew(fun ast.Expr) bool {
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "New" {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == "pattern"
}

func TestUse(t *testing.T) {
	t.Parallel()
	r := New(`(?P<key>\w+)=(\w+)`)
	for range 2 {
		if got := r.ReplaceAllString("a=b, c=d", "$2=$key"); got != "b=a, d=c" {
			t.Errorf("got %q", got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("what is no expression was used")
		}
	}()
	New("(").MatchString("")
}
