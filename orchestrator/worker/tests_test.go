package worker

import (
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

func TestTestFilesByName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a_test.go": true, "pkg/test_models.py": true, "src/app.test.tsx": true, "src/app.spec.ts": true, "lib/user_spec.rb": true,
		"src/UserTest.java": true, "tests/data.json": true, "web/__tests__/a.js": true, "conftest.py": true, "spec/a.rb": true,
		"contest.go": false, "latest.txt": false, "attestation.go": false, "src/testing_ground.md": false, "inspect.go": false, "protest/a.go": false,
	} {
		if got := isTest(path); got != want {
			t.Errorf("isTest(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestWeakerTests(t *testing.T) {
	t.Parallel()
	const head = "--- a/x_test.go\n+++ b/x_test.go\n@@ -1,2 +1,2 @@\n"
	const less, other = "asserts less than before: ", "asserts something else than before: 1 assertions changed"
	for name, c := range map[string]struct{ diff, want string }{
		"an assertion less":       {"-\tt.Error(\"x\")\n+\t_ = got\n", less + "1 fewer assertions"},
		"one for another":         {"-\tassert a == 1\n+\tassert a == 2\n", other},
		"skipped":                 {"+\tt.Skip(\"later\")\n", less + "1 more skipped"},
		"skipped, in Python":      {"+@pytest.mark.skip\n", less + "1 more skipped"},
		"only one is run":         {"-it('a', () => {\n+it.only('a', () => {\n", less + "1 more skipped"},
		"both":                    {"-  expect(a).toBe(1)\n+  xit('b')\n", less + "1 fewer assertions, 1 more skipped"},
		"more":                    {"+  expect(a).toBe(1)\n", ""},
		"headers are not counted": {"", ""},
		"a wider tolerance":       {"-\tassert.InDelta(t, 1.0, got, 0.01)\n+\tassert.InDelta(t, 1.0, got, 0.5)\n", less + "tolerance widened 1 times"},
		"a narrower one":          {"-\tassert.InDelta(t, 1.0, got, 0.5)\n+\tassert.InDelta(t, 1.0, got, 0.01)\n", other},
		"another expectation":     {"-\tassert.Equal(t, 1, got)\n+\tassert.Equal(t, 9, got)\n", other},
		"fewer places":            {"-  self.assertAlmostEqual(a, b, places=7)\n+  self.assertAlmostEqual(a, b, places=1)\n", less + "tolerance widened 1 times"},
		"in exponents":            {"-    assert abs(a-b) < 1e-9 # tolerance\n+    assert abs(a-b) < 1e-2 # tolerance\n", less + "tolerance widened 1 times"},
		"fewer digits in Jest":    {"-  expect(a).toBeCloseTo(b, 5)\n+  expect(a).toBeCloseTo(b, 1)\n", less + "tolerance widened 1 times"},
		"commented out":           {"-\tassert.Equal(t, 1, got)\n+\t// assert.Equal(t, 1, got)\n", less + "1 fewer assertions"},
		"commented out, Python":   {"-    assert a == 1\n+    # assert a == 1\n", less + "1 fewer assertions"},
		"taken in again":          {"-\t// assert.Equal(t, 1, got)\n+\tassert.Equal(t, 1, got)\n", ""},
		"a build tag":             {"+//go:build never\n+\n", less + "1 more skipped"},
		"no test in Python":       {"+__test__ = False\n", less + "1 more skipped"},
		"a module skipped":        {"+pytestmark = pytest.mark.skip\n", less + "1 more skipped"},
		"to be done":              {"-it('adds', () => {\n+it.todo('adds')\n", less + "1 more skipped"},
		"focused":                 {"-it('adds', () => {\n+fit('adds', () => {\n", less + "1 more skipped"},
		"a fit that is none":      {"+    model.fit(x)\n+    submit('a')\n", ""},
		"skipped in Jest":         {"-it('adds', () => {\n+xtest('adds', () => {\n", less + "1 more skipped"},
		"assumed away":            {"-  void a() {\n+  void a() { assumeTrue(false);\n", less + "1 more skipped"},
		"not enabled in TestNG":   {"-  @Test void a() {\n+  @Test(enabled = false) void a() {\n", less + "1 more skipped"},
		"no attribute any more":   {"-    #[test]\n", less + "1 fewer tests"},
		"another name":            {"-func TestA(t *testing.T) {\n+func helperA(t *testing.T) {\n", less + "1 fewer tests"},
		"a better name":           {"-func TestA(t *testing.T) {\n+func TestAll(t *testing.T) {\n", ""},
		"true anyway":             {"-\tassert.Equal(t, 1, got)\n+\tassert.True(t, true)\n", less + "1 fewer assertions"},
		"true anyway, in Jest":    {"-  expect(a).toBe(1)\n+  expect(true).toBe(true)\n", less + "1 fewer assertions"},
		"never reached":           {"+    if False:\n", less + "1 more skipped"},
		"left out of C":           {"+#if 0\n", less + "1 more skipped"},
		"collected no more":       {"+collect_ignore_glob = ['*']\n", less + "1 more skipped"},
		"moved":                   {"-\tassert a == 1\n@@ -9,1 +9,1 @@\n+\t\tassert a == 1\n", ""},
		"ended before":            {"+import os; os._exit(0)\n", less + "1 more skipped"},
		"ended with a result":     {"+\tos.Exit(m.Run())\n", ""},
		"in a comment":            {"+/*\n@@ -9,0 +11,1 @@\n+*/\n", less + "1 more skipped"},
		"with a comment":          {"+/*\n+ * What it is about.\n+ */\n@@ -9,0 +11,1 @@\n+x := 1 /* one */\n", ""},
		"a longer timeout":        {"-\twaitFor(done, timeout: 5)\n+\twaitFor(done, timeout: 500)\n", less + "tolerance widened 1 times"},
	} {
		var count tally
		eachChanged(head+c.diff, count.line)
		if got := count.issue(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestDeletedTests(t *testing.T) {
	t.Parallel()
	const ruling = "is new, and can change the result of other tests"
	const allowed, fewer = "is no test any more, as the task's files allow", "asserts less than before: 1 fewer assertions"
	for name, c := range map[string]struct {
		agent string
		files []string
		want  attempts.Outcome
		note  string
	}{
		"deleted":            {"rm tests/a.txt; echo x > x", nil, attempts.Agent, ""},
		"declared":           {"rm tests/a.txt; echo x > x", []string{"tests/**"}, attempts.Success, "tests/a.txt " + allowed},
		"named":              {"rm tests/a.txt; echo x > x", []string{"./tests/a.txt"}, attempts.Success, ""},
		"moved out of sight": {"git mv tests/a.txt old.txt", nil, attempts.Agent, ""},
		"renamed":            {"git mv tests/a.txt tests/b.txt", nil, attempts.Success, ""},
		"changed":            {"echo more >> tests/a.txt", nil, attempts.Success, ""},
		"a link":             {"ln -sf ../seed.txt tests/a.txt", nil, attempts.Agent, ""},
		"a link, declared":   {"ln -sf ../seed.txt tests/a.txt", []string{"tests"}, attempts.Success, "tests/a.txt " + allowed},
		"not run by Go":      {"git mv a_test.go _a_test.go", nil, attempts.Agent, ""},
		"data for Go":        {"mkdir testdata; git mv a_test.go testdata/", nil, attempts.Agent, ""},
		"a copy":             {"git mv a_test.go a_test.go.off", nil, attempts.Agent, ""},
		"renamed, with less": {"git mv a_test.go b_test.go; sed -i '/2, 2/d' b_test.go", nil, attempts.Success, "a_test.go " + fewer},
		"in the folder":      {"sed -i '/2, 2/d' a_test.go", []string{"*.go"}, attempts.Success, "a_test.go " + fewer},
		"one of such":        {"sed -i '/2, 2/d' a_test.go", []string{"**/*_test.go"}, attempts.Success, "a_test.go " + fewer},
		"not shown":          {"echo '*_test.go -diff' > .gitattributes; sed -i '/2, 2/d' a_test.go", nil, attempts.Success, "a_test.go " + fewer},
		"in a source":        {"sed -i '/4, 4/d' lib.rs", nil, attempts.Success, "lib.rs " + fewer},
		"no source of tests": {"sed -i /assert/d main.rs", nil, attempts.Success, ""},
		"not collected":      {"echo 'collect_ignore_glob = [\"*\"]' > conftest.py", nil, attempts.Success, "conftest.py " + ruling},
		"all pass":           {"echo 'func TestMain(m *testing.M) { os.Exit(0) }' > main_test.go", nil, attempts.Success, "main_test.go " + ruling},
		"reported":           {"echo 'def pytest_runtest_makereport(item):' > conftest.py", nil, attempts.Success, "conftest.py " + ruling},
		"set up for all":     {"echo 'func TestMain(m *testing.M) { os.Exit(m.Run()) }' > main_test.go", nil, attempts.Success, ""},
		"collected no more":  {"git mv tests/test_b.py tests/b_old.py", nil, attempts.Agent, ""},
		"another result":     {"sed -i 's/1, 1/1, 7/' a_test.go", nil, attempts.Success, "a_test.go asserts something else than before: 1 assertions changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.agent)
			l.Write("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 1, 1)\n\tassert.Equal(t, 2, 2)\n\tassert.Equal(t, 3, 3)\n}\n")
			l.Write("tests/test_b.py", "def test_b():\n    assert True\n")
			l.Write("lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(3, 3);\n        assert_eq!(4, 4);\n    }\n}\n")
			l.Write("main.rs", "fn main() {\n    assert!(true_enough());\n}\n")
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "Tests")
			l.begin()
			f := l.try(epic.Task{ID: "T1", Title: "One", Files: c.files}, nil)
			if f.Outcome != c.want {
				t.Errorf("got %s (%s), want %s", f.Outcome, f.Receipt.ErrorSummary, c.want)
			}
			got := ""
			for _, n := range f.Notes {
				got += n.Text
			}
			if got != c.note || len(f.weakened) != len(f.Notes) {
				t.Errorf("notes: %q, want %q", got, c.note)
			}
		})
	}
}

// Of very many changed tests some are compared, and the others are told of.
func TestTooManyTests(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true").begin()
	f := state{Result: engine.Result{Head: "HEAD"}}
	if err := l.c.testsWeakened(t.Context(), engine.Attempt{Base: "HEAD"}, make([]reanchor.Change, maxTestsRead+7), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Notes) != 1 || f.Notes[0].Text != "7 more changed tests were not compared" {
		t.Errorf("notes: %+v", f.Notes)
	}
}
