package changes

import "testing"

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
		var count AssertionDiff
		EachChangedLine(head+c.diff, count.Line)
		if got := count.Issue(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
