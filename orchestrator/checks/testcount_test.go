package checks

import (
	"strings"
	"testing"

	"relay/attempts"
)

// What test programs print at their end, as they did (go 1.26, pytest 9, jest 30, vitest 4, cargo 1.90, node 24, maven 3, …).
func TestCountTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		want   attempts.TestCount
	}{
		"go":                    {"--- FAIL: TestA (0.00s)\n    a_test.go:5: expected 33, got 44\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\trelay/x\t0.004s\nok  \trelay/y\t0.010s\nFAIL\n", attempts.TestCount{Failed: 2}},
		"go -v, subtests":       {"=== RUN   TestA\n=== RUN   TestA/one\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\n    --- PASS: TestA/two (0.00s)\n--- PASS: TestB (0.00s)\n", attempts.TestCount{Failed: 2, Ran: 4}},
		"go, does not build":    {"--- FAIL: TestA (0.00s)\n# relay/x [relay/x.test]\nFAIL\trelay/x [build failed]\n", attempts.TestCount{}},
		"go, panics":            {"--- FAIL: TestA (0.00s)\npanic: oh no [recovered]\n", attempts.TestCount{}},
		"pytest":                {"FAILED tests/test_a.py::test_3 - assert 33 == 44\n========= 2 failed, 7 passed, 1 skipped in 0.12s =========\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"pytest -q":             {"F..\n1 failed, 2 passed, 3 warnings, 1 error in 0.10s\n", attempts.TestCount{Failed: 2, Ran: 4}},
		"pytest, all":           {"12 failed in 1.02s\n", attempts.TestCount{Failed: 12}},
		"pytest, long":          {"=== 2 failed, 7 passed in 61.02s (0:01:01) ===\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"pytest, not collected": {"ERROR tests/test_a.py\n!!!!! Interrupted: 1 error during collection !!!!!\n1 error in 0.10s\n", attempts.TestCount{}},
		"pytest, passes":        {"\x1b[32m\x1b[1m9 passed\x1b[0m\x1b[32m in 0.12s\x1b[0m\n", attempts.TestCount{Ran: 9}},
		"jest":                  {"Test Suites: 1 failed, 2 passed, 3 total\nTests:       12 failed, 3 skipped, 30 passed, 45 total\nSnapshots:   0 total\nTime:        1.2 s\n", attempts.TestCount{Failed: 12, Ran: 42}},
		"jest, does not load":   {"  ● Test suite failed to run\nTest Suites: 1 failed, 1 total\nTests:       2 passed, 2 total\n", attempts.TestCount{}},
		"vitest":                {" Test Files  1 failed | 1 passed (2)\n      Tests  2 failed | 7 passed (9)\n   Duration  312ms\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"mocha":                 {"  7 passing (10ms)\n  2 failing\n\n  1) adds\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"cargo":                 {"test a ... FAILED\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\ntest result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"cargo, does not build": {"error: could not compile `x` (lib test) due to 2 previous errors\n", attempts.TestCount{}},
		"TAP":                   {"1..4\nok 1 - a\nnot ok 2 - b\n# got 44\nnot ok 3 - c # TODO later\nok 4\n", attempts.TestCount{Failed: 1, Ran: 3}},
		"node":                  {"not ok 1 - b\n# tests 9\n# pass 7\n# fail 2\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"maven":                 {"[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s <<< FAILURE!\n[ERROR] Tests run: 9, Failures: 1, Errors: 1, Skipped: 0\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"gradle":                {"45 tests completed, 12 failed\n", attempts.TestCount{Failed: 12, Ran: 45}},
		"PHPUnit":               {"FAILURES!\nTests: 5, Assertions: 9, Failures: 1.\n", attempts.TestCount{Failed: 1, Ran: 5}},
		"rspec":                 {"9 examples, 1 failure\n", attempts.TestCount{Failed: 1, Ran: 9}},
		"minitest":              {"9 runs, 12 assertions, 1 failures, 1 errors, 0 skips\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"dotnet":                {"Failed!  - Failed:     1, Passed:     8, Skipped:     0, Total:     9, Duration: 12 ms - a.dll (net9.0)\n", attempts.TestCount{Failed: 1, Ran: 9}},
		"ctest":                 {"89% tests passed, 1 tests failed out of 9\n", attempts.TestCount{Failed: 1, Ran: 9}},
		"unittest":              {"Ran 9 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n", attempts.TestCount{Failed: 2, Ran: 9}},
		"of":                    {"3 of 12 tests failed\n", attempts.TestCount{Failed: 3, Ran: 12}},
		"one's own":             {"suite: 3 failed, 9 passed\n", attempts.TestCount{Failed: 3, Ran: 12}},
		"the last of them":      {"12 failed\nagain\n1 failed\n", attempts.TestCount{Failed: 1}},
		"a step":                {"test 4 failed: expected 33, got 44\nattempt 2 failed\n", attempts.TestCount{}},
		"prose":                 {"expected 33, got 44\n", attempts.TestCount{}},
		"nothing":               {"", attempts.TestCount{}},
		"a long line":           {strings.Repeat("x", 2000) + ": 3 failed\n", attempts.TestCount{}},
	} {
		if got := CountTests(c.output); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func FuzzCountTests(f *testing.F) {
	f.Add("=== 2 failed, 7 passed in 0.12s ===\nnot ok 1\n--- FAIL: TestA (0.00s)\n")
	f.Fuzz(func(t *testing.T, output string) {
		if c := CountTests(output); c.Failed < 0 || c.Ran < 0 || c.Ran != 0 && c.Ran <= c.Failed {
			t.Errorf("got %+v", c)
		}
	})
}
