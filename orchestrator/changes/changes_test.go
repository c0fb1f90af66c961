package changes

import (
	"slices"
	"strings"
	"testing"

	"relay/epic"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

func TestTestFilesByName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a_test.go": true, "pkg/test_models.py": true, "src/app.test.tsx": true, "src/app.spec.ts": true, "lib/user_spec.rb": true,
		"src/UserTest.java": true, "tests/data.json": true, "web/__tests__/a.js": true, "conftest.py": true, "spec/a.rb": true,
		"contest.go": false, "latest.txt": false, "attestation.go": false, "src/testing_ground.md": false, "inspect.go": false, "protest/a.go": false,
	} {
		if got := IsTest(path); got != want {
			t.Errorf("IsTest(%q) = %v, want %v", path, got, want)
		}
	}
}

// What a check script reads in belongs to the check only where its name says so; else it may be what is checked.
func TestMentioned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, text, want string }{
		{"", "cd web && bash ci/run.sh", "ci/run.sh"},
		{"", "cd web && bash ci/run.sh", "web/ci/run.sh"},
		{"", "make -C sub check", "sub/Makefile"},
		{"", "npm test", "package.json"},
		{"ci/check.sh", ". ./common.sh", "ci/common.sh"},
		{"Makefile", "test:\n\tsh tools/verify.sh x\n", "tools/verify.sh"},
		{"test/run.js", "const a = require('./helper')", "test/helper.js"},
		{"tools/check.py", "import sys\nfrom compare import same", "tools/compare.py"},
	} {
		if got := mentioned(c.script, c.text); !slices.Contains(got, c.want) {
			t.Errorf("%q in %q: got %q, want %s", c.text, c.script, got, c.want)
		}
	}
	for p, want := range map[string]bool{
		"tests/expect.sh": true, "lib/t1.sh": false, "lib/assert.sh": true, "ci/common.sh": true, "parse.sh": false, "spec/helper.sh": true, "tools/x.py": true,
		"src/checkout.js": false, "checks/a/page.js": true, "check.js": true, "precheck.sh": true, "validator.py": false, "check-it/page.js": false,
	} {
		if got := IsTest(p) || ofCheck(p); got != want {
			t.Errorf("%s belongs to checks: got %v, want %v", p, got, want)
		}
	}
}

func TestProtected(t *testing.T) {
	t.Parallel()
	change := func(path, from string) []git.Change {
		return []git.Change{{Code: "M", Path: path, From: from}}
	}
	for _, c := range []struct {
		glob, path, from, want string
	}{
		{"tests/**", "tests/a.txt", "", "tests/a.txt"},
		{"tests/**", "tests/deep/a.txt", "", "tests/deep/a.txt"},
		{"tests", "tests/a.txt", "", "tests/a.txt"},
		{"tests/", "tests/deep/a.txt", "", "tests/deep/a.txt"},
		{"tests", "tests2/a.txt", "", ""},
		{"**/testdata", "pkg/x/testdata/a", "", "pkg/x/testdata/a"},
		{"test*/", "tests/a", "", "tests/a"},
		{"*_test.go", "a_test.go", "", "a_test.go"},
		{"*_test.go", "pkg/a_test.go", "", ""},
		{"**/*_test.go", "a_test.go", "", "a_test.go"},
		{"**/*_test.go", "pkg/a_test.go", "", "pkg/a_test.go"},
		{"tests/**", "elsewhere/a.txt", "tests/a.txt", "tests/a.txt"}, // renamed out of it
		{"tests/**", "tests/a.txt", "elsewhere/a.txt", "tests/a.txt"},
		{"[", "[", "", "["},
		{"a[b", "x", "", ""},
		{"go.mod", "go.mod", "", "go.mod"},
		{"go.mod", "sub/go.mod", "", ""},
		{"**", "any/thing", "", "any/thing"},
		{"sub", "sub", "", "sub"}, // a submodule
		{"", "a", "", ""},
	} {
		if got := strings.Join(ProtectedHits([]string{"no/such", c.glob}, change(c.path, c.from)), " "); got != c.want {
			t.Errorf("%q and %q (from %q): got %q, want %q", c.glob, c.path, c.from, got, c.want)
		}
	}
}

// Of very many changed tests some are compared, and the others are told of.
func TestTooManyTests(t *testing.T) {
	t.Parallel()
	r := &repotest.Repo{T: t, Root: t.TempDir()}
	r.Sh("git init -q; git commit -q --allow-empty -m Begin")
	repo, err := git.Open(t.Context(), r.Root)
	if err != nil {
		t.Fatal(err)
	}
	var f engine.Result
	d := Diff{Repo: repo, Task: &epic.Task{}, Base: "HEAD", Head: "HEAD", Result: &f}
	if err := d.testsWeakened(t.Context(), make([]git.Change, maxTestsRead+7)); err != nil {
		t.Fatal(err)
	}
	if len(f.Notes) != 1 || f.Notes[0].Text != "7 more changed tests were not compared" {
		t.Errorf("notes: %+v", f.Notes)
	}
}
