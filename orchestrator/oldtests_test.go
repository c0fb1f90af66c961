package orchestrator

import "testing"

// What a check script reads in belongs to the check only where tests are; else it may be what is checked.
func TestHelpsACheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, file string
		want         bool
	}{
		{"tests/t1.sh", "tests/expect.sh", true},
		{"tests/t1.sh", "lib/t1.sh", false},
		{"tests/t1.sh", "lib/assert.sh", true},
		{"ci/check.sh", "ci/common.sh", true},
		{"check.sh", "parse.sh", false},
		{"check.sh", "spec/helper.sh", true},
	} {
		if got := helps(c.script, c.file); got != c.want {
			t.Errorf("%s of %s: got %v, want %v", c.file, c.script, got, c.want)
		}
	}
}
