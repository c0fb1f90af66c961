package attempts

import (
	"strings"
	"testing"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                        "",
		"  Exit   Status 1\n":                     "exit status 1",
		"panic at 0xc000123abc":                   "panic at <hex>",
		"commit 3f2a91c failed":                   "commit <hex> failed",
		"cases a1 and b2":                         "cases a1 and b2",
		"test_4: expected 33, got 44":             "test_4: expected 33, got 44",
		"tests/test_a.py::test_3 FAILED":          "tests/test_a.py::test_3 failed",
		"12 failed, 30 passed in 1.32s":           "12 failed, 30 passed in <time>",
		"x.go:17:24: undefined: Foo":              "x.go:17:24: undefined: foo",
		"--- FAIL: TestA (0.01s)":                 "--- fail: testa (<time>)",
		"see /tmp/go-build12/x_test.go:17:4:":     "see <path>/x_test.go:17:4:",
		"in /home/me/repo/worktrees/3":            "in <path>",
		"/tmp/tmp8xk2ab/out and ~/x/y.txt":        "<path>/out and <path>/y.txt",
		"/usr/bin/python3: No module":             "<path>/python3: no module",
		`C:\Users\me\x.go broke`:                  "<path>/x.go broke",
		"GET http://127.0.0.1:43211/a/b":          "get http://<address>/a/b",
		"see https://example.com/a and/or b":      "see https://example.com/a and/or b",
		"localhost:4321, [::1]:80, port 8080":     "<address>, <address>, <address>",
		"goroutine 17 [running], pid 4711":        "goroutine <n> [running], pid <n>",
		"2026-01-11T22:00:01.5Z: no":              "<time>: no",
		"/a/2026-01-11T22_00_01_038Z-debug-0.log": "<path>/<time>-debug-0.log", // of npm
		"took 1.32s, then 350 ms":                 "took <time>, then <time>",
		"at 22:01:07 it broke":                    "at <time> it broke",
		"dead beef faced a facade":                "dead beef faced a facade",
		"id 123e4567-e89b-12d3-a456-426614174000": "id <hex>",
		"got 3 of 12.5":                           "got 3 of 12.5",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := Normalise(strings.Repeat("x y ", 1<<20)); len(got) > maxNormalised {
		t.Errorf("got %d bytes", len(got))
	}
}

// What relay itself says of how something ended is no cause; what was printed is.
func TestCause(t *testing.T) {
	t.Parallel()
	red := func(name, tail string) CheckRun { return CheckRun{Name: name, ExitCode: 1, Tail: tail, Phase: "task"} }
	for name, c := range map[string]struct {
		r    Receipt
		want string
	}{
		"nothing":              {Receipt{}, ""},
		"nothing has changed":  {Receipt{ErrorCategory: NoChange, ErrorSummary: "the agent claims success, but nothing has changed"}, ""},
		"exit status":          {Receipt{ErrorCategory: NoResult, ErrorSummary: "exit status 1"}, ""},
		"more of it":           {Receipt{ErrorCategory: NoResult, ErrorSummary: "exit status 137: something in it was killed by signal KILL, as the system does when memory runs out; it left 2 processes running"}, ""},
		"killed":               {Receipt{ErrorCategory: CodeError, ErrorSummary: "killed by signal KILL, as the system does when memory runs out"}, ""},
		"relay's words":        {Receipt{ErrorCategory: CodeError, ErrorSummary: "the agent's result cannot be read"}, ""},
		"out of time":          {Receipt{ErrorCategory: TimedOut, ErrorSummary: "no output for 10m0s"}, ""},
		"with the last words":  {Receipt{ErrorCategory: CodeError, ErrorSummary: "exit status 1: cannot find dictionary"}, "code_error\nexit status 1: cannot find dictionary"},
		"an agent's words":     {Receipt{ErrorCategory: CodeError, ErrorSummary: "no such file: dictionary"}, "code_error\nno such file: dictionary"},
		"findings":             {Receipt{ErrorCategory: QualityGate, ErrorSummary: "needs changes", Findings: "- x"}, "quality_gate\n- x\nneeds changes"},
		"a silent check":       {Receipt{ErrorCategory: TestFailure, ErrorSummary: "unit: exit status 1", Checks: []CheckRun{red("unit", " \n")}}, ""},
		"a check":              {Receipt{ErrorCategory: TestFailure, ErrorSummary: "unit: exit status 1", Checks: []CheckRun{red("unit", "no disk")}}, "test_failure\nunit\nno disk"},
		"before the work only": {Receipt{ErrorCategory: CodeError, ErrorSummary: "no luck", Checks: []CheckRun{{Name: "unit", ExitCode: 1, Tail: "no disk", Phase: "baseline"}}}, "code_error\nno luck"},
	} {
		if got := Cause(c.r); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestFewerFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now TestCount
		fewer, more bool
	}{
		{TestCount{12, 0}, TestCount{1, 0}, true, false},
		{TestCount{12, 40}, TestCount{1, 41}, true, false},
		{TestCount{12, 40}, TestCount{1, 5}, false, false}, // most did not run
		{TestCount{1, 40}, TestCount{2, 40}, false, true},
		{TestCount{1, 40}, TestCount{1, 40}, false, false},
		{TestCount{}, TestCount{1, 40}, false, false},
		{TestCount{12, 40}, TestCount{}, false, false},
	} {
		if fewer, more := c.now.FewerFailed(c.before), c.now.MoreFailed(c.before); fewer != c.fewer || more != c.more {
			t.Errorf("%+v after %+v: fewer %t, more %t", c.now, c.before, fewer, more)
		}
	}
}
