package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"object","minProperties":1}`:       "minProperties",
		`{"properties":{"a":{"$ref":"#"}}}`:         "$ref",
		`{"type":["string","null"]}`:                "cannot unmarshal",
		`{"items":{"type":"text"}}`:                 `no type "text"`,
		`{"anyOf":[{"format":"email"}]}`:            `no format "email"`,
		`{"then":{"pattern":"("}}`:                  "missing closing",
		`{"additionalProperties":false}`:            "cannot unmarshal",
		`{"additionalProperties":{"not":{}}}`:       "not",
		`{"additionalProperties":{"type":"thing"}}`: `no type "thing"`,
		`{"minimum":1e9999999}`:                     "1e9999999 is no limit",
		`{"const":5}`:                               "cannot unmarshal",
	} {
		if _, err := Compile([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %s", text, err, want)
		}
	}
}

// TestNumbersOfAnySize: the library would end the program for them.
func TestNumbersOfAnySize(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"minimum":0,"maximum":2.5}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[json.Number]string{
		"1e99999999":  "maximum: got ∞, want 2.5",
		"-1e99999999": "minimum: got -∞, want 0",
		"1e-99999999": "", "2.5": "", "2.500000000000000000001": "maximum: got 2.5, want 2.5",
	} {
		got := ""
		for _, p := range s.Validate(number) {
			got += p.Text
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", number, got, want)
		}
	}
}

func TestValuesThatJSONDoesNotHave(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"items":{}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Validate([]any{"a", 5})
	if len(got) != 1 || got[0].Text != "invalid jsonType int" || strings.Join(got[0].Path, "/") != "1" {
		t.Errorf("got %v", got)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, value, want string }{
		{`{"minLength":2}`, `"a"`, "minLength: got 1, want 2"},
		{`{"maxLength":1}`, `"☃☃"`, "maxLength: got 2, want 1"},
		{`{"oneOf":[{"type":"null"},{"type":"string"},{"minLength":1}]}`, `"a"`, "'oneOf' failed, subschemas 1, 2 matched"},
		{`{"enum":["a"]}`, `"b"`, "value must be 'a'"},
		{`{"required":["a","b"]}`, `{}`, "missing properties 'a', 'b'"},
	} {
		s, err := Compile([]byte(test.schema), nil)
		if err != nil {
			t.Fatal(err)
		}
		value, err := Decode([]byte(test.value))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Validate(value); len(got) != 1 || got[0].Text != test.want {
			t.Errorf("%s of %s: got %v, want %q", test.value, test.schema, got, test.want)
		}
	}
	if _, err := Decode([]byte("{} {}")); err == nil || err.Error() != "invalid character after top-level value" {
		t.Errorf("got %v", err)
	}
}
