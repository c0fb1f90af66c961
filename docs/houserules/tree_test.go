package houserules

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "lower the numbers in .ci/sizes, .ci/types and .ci/english to what the repository has now")

const root = "../.."

// tree holds the Go files, the pages and the tables of the repository, by path. Test data and hidden folders are left out.
type tree map[string]string

// holds reports whether a file belongs in a tree.
func holds(name string) bool {
	if slices.Contains([]string{sizesFile, typesFile, englishFile}, name) {
		return true
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "testdata" || part != "." && strings.HasPrefix(part, ".") {
			return false
		}
	}
	return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".md")
}

// production reports whether a Go file is not a test.
func production(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// checkout reads the working tree once for all tests.
var checkout = sync.OnceValues(func() (tree, error) {
	t := tree{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Type().IsRegular() && holds(name):
			text, err := os.ReadFile(path.Join(root, name))
			t[name] = string(text)
			return err
		}
		return nil
	})
	return t, err
})

// earlier reads the commit that this change is compared with, or says why there is none.
var earlier = sync.OnceValues(func() (tree, error) {
	base, err := baseCommit()
	if err != nil {
		return nil, err
	}
	archive, err := git("archive", base, "--", "*.go", "*.md", ".ci")
	if err != nil {
		return nil, err
	}
	return untar(archive)
})

// baseCommit returns where this branch left origin/main or, on main itself, the commit before the last one.
func baseCommit() (string, error) {
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	if base, err := git("merge-base", "HEAD", "origin/main"); err == nil && base != head {
		return strings.TrimSpace(base), nil
	}
	base, err := git("rev-parse", "--verify", "--quiet", "HEAD~1")
	return strings.TrimSpace(base), err
}

// firstCommitted returns a file as the commit has it that added it.
func firstCommitted(name string) (string, bool) {
	added, err := git("log", "--diff-filter=A", "--format=%H", "--", name)
	commits := strings.Fields(added)
	if err != nil || len(commits) == 0 {
		return "", false
	}
	text, err := git("show", commits[len(commits)-1]+":"+name)
	return text, err == nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	return string(out), err
}

func untar(archive string) (tree, error) {
	t := tree{}
	r := tar.NewReader(strings.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg || !holds(h.Name) {
			continue
		}
		var text bytes.Buffer
		if _, err := io.Copy(&text, r); err != nil {
			return nil, err
		}
		t[h.Name] = text.String()
	}
}

// readNow returns the working tree.
func readNow(t *testing.T) tree {
	t.Helper()
	now, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// readBoth returns the tree to compare with and the working tree. Without git history it skips the test.
func readBoth(t *testing.T) (before, now tree) {
	t.Helper()
	now = readNow(t)
	before, err := earlier()
	if err != nil {
		t.Skipf("git has no earlier commit to compare with: %v", err)
	}
	return before, now
}

// parse returns the syntax tree of a Go file.
func parse(t *testing.T, name, text string) (*token.FileSet, *ast.File) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return set, file
}
