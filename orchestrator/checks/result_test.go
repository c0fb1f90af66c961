package checks

import (
	"testing"

	"relay/attempts"
	"relay/epic"
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

// A check that ran no test has done something else if it failed before the work, unless it only runs tests.
func TestIdle(t *testing.T) {
	t.Parallel()
	red, green := Result{Run: attempts.CheckRun{ExitCode: 1}}, Result{}
	for run, want := range map[string]bool{
		"go test ./slug/":                   true,
		"cd web && CI=1 X=y npx vitest run": true,
		"cd web && jest":                    true,
		"python3 -m pytest -q":              true,
		"pytest":                            true,
		"node --test":                       true,
		"deno test -A":                      true,
		"go test ./... && go build":         false,
		"make build":                        false,
		"npm run build":                     false,
		"just test":                         false,
		"go tests":                          false,
		"go vet ./...; go test ./...":       false,
	} {
		if got := (Result{NoTest: true}).Idle(red, Check{Check: epic.Check{Run: run}}); got != want {
			t.Errorf("%s: %t", run, got)
		}
		if !(Result{NoTest: true}).Idle(green, Check{Check: epic.Check{Run: run}}) {
			t.Errorf("%s, green before: not idle", run)
		}
	}
}
