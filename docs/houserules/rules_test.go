package houserules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTypeSizesCountPromotedMethods(t *testing.T) {
	t.Parallel()
	have := typeSizes(t, tree{
		"a/base.go":        "package a\ntype Base struct{}\nfunc (Base) One() {}\n",
		"a/base_linux.go":  "package a\nfunc (*Base) Two() {}\n",
		"a/base_darwin.go": "package a\nfunc (*Base) Two() {}\n",
		"a/more.go":        "package a\nfunc (*Base) Three() {}\ntype Asker interface{ Ask(); Say() }\n",
		"a/base_test.go":   "package a\nfunc (*Base) Four() {}\n",
		"b/b.go":           "package b\nimport other \"relay/a\"\ntype List[T any] struct { *other.Base; other.Asker; named other.Base }\nfunc (l *List[T]) Five() {}\n",
	})
	for name, want := range map[string][]int{"a.Base": {3, 2}, "a.Asker": {2, 1}, "b.List": {6, 1}} {
		if got := have[name]; !slices.Equal(got, want) {
			t.Errorf("%s has %v methods and files, want %v", name, got, want)
		}
	}
}

func TestPackageSizesLeaveOutTests(t *testing.T) {
	t.Parallel()
	have := packageSizes(tree{"a/a.go": "package a\n\n", "a/b.go": "package a\n", "a/a_test.go": "package a\n", "a/a.md": "a\n"})
	if got, want := fmt.Sprint(have), "map[a:[3 2]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCheckCompares(t *testing.T) {
	t.Parallel()
	rows := types.read("# a comment 30 3\na.Large 30 1\na.Lower 40 4 why\na.Small 26 2\na.Gone 50 3\n")
	wrong, hints := types.check(rows, map[string][]int{"a.Large": {31, 2}, "a.Lower": {35, 4}, "a.Small": {25, 2}, "a.New": {1, 3}})
	want := []string{
		"a.Large has 31 methods and may have 30",
		"a.New has 3 files and may have 2",
		".ci/types has a line for a.Gone, which does not exist: remove it",
		"a.Small is within the limits now: remove its line from .ci/types",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(wrong, "\n"), strings.Join(want, "\n"))
	}
	if len(hints) != 1 || !strings.HasPrefix(hints[0], "a.Lower has [35 4]") {
		t.Errorf("hints: %q", hints)
	}
}

func TestRewriteLowers(t *testing.T) {
	t.Parallel()
	got := sizes.rewrite("# a comment\na 3000 30 why not\nb 2600 10 why\nc 2700 26 why\n", map[string][]int{"a": {2801, 31}, "b": {2000, 10}})
	if want := "# a comment\na 2850 30 why not\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRaised(t *testing.T) {
	t.Parallel()
	const before = "a.Large 40 4\na.Moved 60 3\n"
	for now, want := range map[string]int{
		before:                            0,
		"a.Large 39 4\nb.Moved 60 3\n":    0,
		"a.Large 41 4\na.Moved 60 3\n":    1,
		"a.Large 40 5\na.Moved 60 3\n":    1,
		"a.Large 40 4\nb.Moved 61 3\n":    1,
		before + "a.New 26 1\n":           1,
		"b.One 60 3\nb.Two 60 3\n":        1, // each line moves to one name
		"b.Large 30 4\nb.Moved 50 3\n":    0,
		"a.Large 40 4\na.Within 25 2 x\n": 0,
	} {
		if got := types.raised(types.read(before), types.read(now)); len(got) != want {
			t.Errorf("%q raises %d ceilings, want %d: %q", now, len(got), want, got)
		}
	}
	if got := english.raised(english.read("told 9\n"), english.read("told 9\nnobody 4\n")); len(got) > 0 {
		t.Errorf("a phrase that is new in the list is a raised ceiling: %q", got)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"// The agent is\n// told.\npackage a\n":             "told:2",
		"package a\n// f does it.\n// What it does is good.": "what:3",
		"package a\nvar s = \"a task is no epic\"":           "is-no:2",
		"package a\nvar s = \"the task is no longer here\"":  "",
		"package a\nvar s = \"is told\"":                     "", // two words: a key, not a sentence
		"package a\nvar s = `one\ntwo, once more`":           "anew:3",
	} {
		var got []string
		for _, f := range findings(t, "a/a.go", text) {
			got = append(got, fmt.Sprintf("%s:%d", f.phrase, f.line))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
	if got := findings(t, "docs/a.md", "Nobody knows."); len(got) != 1 {
		t.Errorf("a page has %d findings, want 1", len(got))
	}
	if got := findings(t, "CHANGELOG.md", "Nobody knows."); len(got) != 0 {
		t.Errorf("the changelog has %d findings, want none", len(got))
	}
}

func TestNewFindingsLeaveOutMovedText(t *testing.T) {
	t.Parallel()
	before := tree{"a.md": "The task is told. Then nobody asks about it.\n", "b.md": "Nobody asks.\n"}
	now := tree{"c.md": "The task is\ntold. Then nobody asks about it, and nobody answers.\n", "b.md": "Nobody asks.\n"}
	got := newFindings(t, before, now)
	if len(got) != 1 || got[0].phrase != "nobody" || got[0].line != 2 || !strings.Contains(got[0].words, "nobody answers") {
		t.Errorf("got %v, want the last phrase alone", got)
	}
}
