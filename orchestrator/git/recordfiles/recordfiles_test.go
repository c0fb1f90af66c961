package recordfiles

import "testing"

func TestOnce(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"a\na\nb\n":      "a\nb\n",
		"a":              "a\n",
		"b\nc\nc\n\nd\n": "b\nc\nd\n",
		"a\r\na\nb\r\n":  "a\r\nb\r\n",
	} {
		if got := string(Once([]byte(lines))); got != want {
			t.Errorf("%q: got %q", lines, got)
		}
	}
}
