package plaintext

import "testing"

func TestLacks(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"./a.go:3:2: undefined: Parse":                                              true,
		"a.go:4:7: cfg.Name undefined (type Config has no field or method Name)":    true,
		"Error: Cannot find module './limits'":                                      true,
		"ReferenceError: parse is not defined":                                      true,
		"ModuleNotFoundError: No module named 'app.limits'":                         true,
		"AttributeError: module 'app' has no attribute 'limit'":                     true,
		"error[E0432]: unresolved import `crate::limits`":                           true,
		"error[E0425]: cannot find function `limit` in this scope":                  true,
		"A.java:3: error: cannot find symbol":                                       true,
		"a.c:1:10: fatal error: limits.h: No such file or directory":                true,
		"src/a.ts(1,10): error TS2305: Module '\"./b\"' has no exported member 'B'": true,
		"--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3, want 4":               false,
		"AssertionError: expected 200, got 404":                                     false,
		"exit status 1":                                                             false,
	} {
		if got := LacksSomething(said); got != want {
			t.Errorf("%q: got %v", said, got)
		}
	}
}
