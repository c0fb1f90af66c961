package durable

import (
	"testing"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, value, want string }{
		{`{"minLength":2}`, `"a"`, "minLength: got 1, want 2"},
		{`{"maxLength":1}`, `"☃☃"`, "maxLength: got 2, want 1"},
		{`{"oneOf":[{"type":"null"},{"type":"string"},{"minLength":1}]}`, `"a"`, "'oneOf' failed, subschemas 1, 2 matched"},
		{`{"enum":["a"]}`, `"b"`, "value must be 'a'"},
		{`{"items":{"minimum":0}}`, `[1,{"a":1E99999999}]`, "the number is out of range"},
		{`{"maximum":1}`, `1e-99999999`, "the number is out of range"},
		{`{"maximum":1}`, `1e400`, "maximum: got ∞, want 1"},
		{`{"required":["a","b"]}`, `{}`, "missing properties 'a', 'b'"},
	} {
		s, err := CompileSchema([]byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		value, err := DecodeJSON([]byte(test.value))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Validate(value); len(got) != 1 || got[0].Text != test.want {
			t.Errorf("%s of %s: got %v, want %q", test.value, test.schema, got, test.want)
		}
	}
	if _, err := DecodeJSON([]byte("{} {}")); err == nil || err.Error() != "invalid character after top-level value" {
		t.Errorf("got %v", err)
	}
}
