package checks

import "testing"

// What ran no test is known by what test programs say of that.
func TestRanNoTest(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"?   \tx\t[no test files]\n":                       true,
		"ok  \tx\t0.002s [no tests to run]\n":              true,
		"?   \tx\t[no test files]\nok  \tx/y\t0.002s\n":    false,
		"?   \tx\t[no test files]\nok  \tx/y\t(cached)\n":  false,
		"no tests ran in 0.01s\n":                          true,
		"No tests found, exiting with code 0\n":            true,
		"\n  0 passing (1ms)\n":                            true,
		"\n  3 passing (1ms)\n":                            false,
		"# tests 0\n# pass 0\n":                            true,
		"# tests 2\n# pass 2\n":                            false,
		"test result: ok. 0 passed; 0 failed; 0 ignored\n": true,
		"test result: ok. 4 passed; 0 failed; 0 ignored\ntest result: ok. 0 passed; 0 failed; 0 ignored\n": false,
		"Ran 0 tests in 0.000s\n\nOK\n":                  true,
		"[INFO] Tests run: 0, Failures: 0, Errors: 0\n":  true,
		"[INFO] Tests run: 10, Failures: 0, Errors: 0\n": false,
		"No test is available in a.dll.\n":               true,
		"fine\n":                                         false,
		"":                                               false,
	} {
		if got := ranNoTest(output); got != want {
			t.Errorf("%q: got %v, want %v", output, got, want)
		}
	}
}
