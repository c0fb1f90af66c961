package orchestrator

import (
	"testing"

	"relay/attempts"
	"relay/epic"
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
	for name, c := range map[string]struct{ diff, want string }{
		"an assertion less":       {"-\tt.Error(\"x\")\n+\t_ = got\n", "1 fewer assertions"},
		"one for another":         {"-\tassert a == 1\n+\tassert a == 2\n", ""},
		"skipped":                 {"+\tt.Skip(\"later\")\n", "1 more skipped"},
		"skipped, in Python":      {"+@pytest.mark.skip\n", "1 more skipped"},
		"only one is run":         {"-it('a', () => {\n+it.only('a', () => {\n", "1 more skipped"},
		"both":                    {"-  expect(a).toBe(1)\n+  xit('b')\n", "1 fewer assertions, 1 more skipped"},
		"more":                    {"+  expect(a).toBe(1)\n", ""},
		"headers are not counted": {"", ""},
		"a wider tolerance":       {"-\tassert.InDelta(t, 1.0, got, 0.01)\n+\tassert.InDelta(t, 1.0, got, 0.5)\n", "tolerance widened 1 times"},
		"a narrower one":          {"-\tassert.InDelta(t, 1.0, got, 0.5)\n+\tassert.InDelta(t, 1.0, got, 0.01)\n", ""},
		"another expectation":     {"-\tassert.Equal(t, 1, got)\n+\tassert.Equal(t, 9, got)\n", ""},
		"fewer places":            {"-  self.assertAlmostEqual(a, b, places=7)\n+  self.assertAlmostEqual(a, b, places=1)\n", "tolerance widened 1 times"},
		"in exponents":            {"-    assert abs(a-b) < 1e-9 # tolerance\n+    assert abs(a-b) < 1e-2 # tolerance\n", "tolerance widened 1 times"},
		"fewer digits in Jest":    {"-  expect(a).toBeCloseTo(b, 5)\n+  expect(a).toBeCloseTo(b, 1)\n", "tolerance widened 1 times"},
		"a longer timeout":        {"-\twaitFor(done, timeout: 5)\n+\twaitFor(done, timeout: 500)\n", "tolerance widened 1 times"},
	} {
		if got := weaker(head + c.diff); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestDeletedTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		files []string
		want  attempts.Outcome
	}{
		"deleted":            {"rm tests/a.txt; echo x > x", nil, attempts.Agent},
		"declared":           {"rm tests/a.txt; echo x > x", []string{"tests/**"}, attempts.Success},
		"moved out of sight": {"git mv tests/a.txt old.txt", nil, attempts.Agent},
		"renamed":            {"git mv tests/a.txt tests/b.txt", nil, attempts.Success},
		"changed":            {"echo more >> tests/a.txt", nil, attempts.Success},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, c.agent).begin()
			f := l.try(epic.Task{ID: "T1", Title: "One", Files: c.files}, nil)
			if f.Outcome != c.want {
				t.Errorf("got %s (%s), want %s", f.Outcome, f.Receipt.ErrorSummary, c.want)
			}
		})
	}
}
