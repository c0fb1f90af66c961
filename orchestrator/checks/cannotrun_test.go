package checks

import "testing"

func TestSlip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		got, want string
		slip      bool
	}{
		{"tests/test_pasrer.py", "tests/test_parser.py", true},
		{"tests/test_paser.py", "tests/test_parser.py", true},
		{"tests/test_parsser.py", "tests/test_parser.py", true},
		{"tests/test_parsar.py", "tests/test_parser.py", true},
		{"scr/a.js", "src/a.js", true},
		{"test/a.js", "tests/a.js", true},
		{"src/parser.js", "src/parser.js", false},
		{"tests/test_parse.py", "tests/test_parser.py", false},
		{"tests/test_users.py", "tests/test_user.py", false},
		{"tests/test_a.py", "tests/test_b.py", false},
		{"src/v2/a.js", "src/v1/a.js", false},
		{"src/parser2.js", "src/parser.js", false},
		{"src/header.py", "src/reader.py", false},
		{"src/lexer.py", "src/parser.py", false},
		{"", "src", false},
	} {
		if got := slip(test.got, test.want); got != test.slip {
			t.Errorf("%s for %s: got %v", test.got, test.want, got)
		}
	}
}
