package houserules

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A type has at most 25 methods, with those of the relay types it embeds, and it stands in one or two files, or it has a line in .ci/types.
func TestTypeSizes(t *testing.T) {
	t.Parallel()
	now := readNow(t)
	types.hold(t, now, typeSizes(t, now), "Make the parts of a type named fields with methods of their own, and keep a type with its methods in one file.")
}

// typeSizes returns methods and files of each type.
func typeSizes(t *testing.T, now tree) map[string][]int {
	t.Helper()
	all := declared{}
	for name, text := range now {
		if production(name) {
			_, file := parse(t, name, text)
			all.add(name, file)
		}
	}
	have := map[string][]int{}
	for name, d := range all {
		methods := map[string]bool{}
		all.collect(name, methods, map[string]bool{})
		have[name] = []int{len(methods), len(d.files)}
	}
	return have
}

// declaration is a type as its package declares it.
type declaration struct {
	methods map[string]bool
	files   map[string]bool
	embeds  []string
}

// declared holds types by the folder of their package and their name: attempts.Store.
type declared map[string]*declaration

func (all declared) get(name string) *declaration {
	if all[name] == nil {
		all[name] = &declaration{methods: map[string]bool{}, files: map[string]bool{}}
	}
	return all[name]
}

// system matches the end of a file for one system. The files of a type for several systems count as one.
var system = regexp.MustCompile(`_(linux|darwin|other)\.go$`)

// add collects the types and methods of a file.
func (all declared) add(name string, file *ast.File) {
	s := scope{folder: path.Dir(name), imports: importsOf(file)}
	home := system.ReplaceAllString(name, ".go")
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				continue
			}
			if receiver := s.name(decl.Recv.List[0].Type); receiver != "" {
				d := all.get(receiver)
				d.methods[decl.Name.Name] = true
				d.files[home] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					all.declare(s, spec, home)
				}
			}
		}
	}
}

func (all declared) declare(s scope, spec *ast.TypeSpec, home string) {
	d := all.get(s.folder + "." + spec.Name.Name)
	d.files[home] = true
	switch form := spec.Type.(type) {
	case *ast.StructType:
		for _, field := range form.Fields.List {
			if len(field.Names) == 0 {
				d.embeds = append(d.embeds, s.name(field.Type))
			}
		}
	case *ast.InterfaceType:
		for _, method := range form.Methods.List {
			if len(method.Names) == 0 {
				d.embeds = append(d.embeds, s.name(method.Type))
			}
			for _, n := range method.Names {
				d.methods[n.Name] = true
			}
		}
	}
}

// collect adds the methods of a type and of all that it embeds.
func (all declared) collect(name string, methods, seen map[string]bool) {
	d := all[name]
	if d == nil || seen[name] {
		return
	}
	seen[name] = true
	maps.Copy(methods, d.methods)
	for _, e := range d.embeds {
		all.collect(e, methods, seen)
	}
}

// scope is what a file needs to resolve the name of a type.
type scope struct {
	folder  string
	imports map[string]string
}

// name returns the folder and name of a type of relay, or "" for another one.
func (s scope) name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.name(e.X)
	case *ast.IndexExpr:
		return s.name(e.X)
	case *ast.IndexListExpr:
		return s.name(e.X)
	case *ast.Ident:
		return s.folder + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && s.imports[x.Name] != "" {
			return s.imports[x.Name] + "." + e.Sel.Name
		}
	}
	return ""
}

// importsOf returns the folders of the relay packages that a file imports, by the name it uses.
func importsOf(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		folder, ours := strings.CutPrefix(imported, "relay/")
		if !ours {
			continue
		}
		name := path.Base(folder)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = folder
	}
	return names
}
