package checks

import (
	"testing"
)

// What fails before the work too is told of when it fails in another way, by how many tests as well.
func TestDifference(t *testing.T) {
	t.Parallel()
	const worse = ", but in another way: it may be worse than before"
	for name, c := range map[string]struct{ before, after, want string }{
		"the same":       {"FAIL a 0.01s", "FAIL a 0.02s", ""},
		"another":        {"FAIL a", "FAIL b", worse},
		"more":           {"1 of 9 failed in 0.3s", "9 of 9 failed in 0.4s", ", and with more tests: 1 failed before, 9 do now"},
		"as many":        {"1 of 9 failed in 0.3s", "1 of 9 failed in 0.4s", ""},
		"more, by JUnit": {"Tests run: 9, Failures: 1, Errors: 0", "Tests run: 9, Failures: 3, Errors: 0", ", and with more tests: 1 failed before, 3 do now"},
		"by pytest":      {"= 1 failed, 8 passed in 0.12s =", "= 2 failed, 7 passed in 0.10s =", ", and with more tests: 1 failed before, 2 do now"},
		"fewer":          {"= 2 failed, 7 passed in 0.12s =", "= 1 failed, 8 passed in 0.10s =", ""},
		"silent":         {"", "", ""},
		"one test more":  {"--- FAIL: TestA (0.01s)\nFAIL\tx\t0.1s", "--- FAIL: TestA (0.03s)\n--- FAIL: TestB (0.00s)\nFAIL\tx\t0.2s", ", and with more tests: 1 failed before, 2 do now"},
		"other tests":    {"not ok 3 - a # time=1ms", "not ok 2 - b # time=1ms", ", and with other tests: b"},
		"the same tests": {"FAILED a.py::one - assert 1 == 2\n= 1 failed in 0.1s =", "x.py:3: note\nFAILED a.py::one - assert 1 == 3\n= 1 failed in 0.2s =", ""},
	} {
		before, after := Result{}, Result{}
		before.Run.Tail, after.Run.Tail = c.before, c.after
		for _, s := range []*Result{&before, &after} {
			count := CountTests(s.Run.Tail)
			s.Run.FailedTests, s.Run.RanTests = count.Failed, count.Ran
		}
		if got := Difference(before, after); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
