package artifact

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestTheLibraryHasTheSameFormats: what is a date or a URI, and what is said of one that is none, is as a library for schemas has it.
func TestTheLibraryHasTheSameFormats(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(string) error{"date": checkDate, "uri": checkURI} {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		document := map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "format": name}
		if err := compiler.AddResource("s.json", document); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("s.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"", "2026-01-13", "2026-1-13", "2026-02-30", "2026-01-13T15:00:00Z", "0000-01-01", "x",
			"https://example.com/a?b#c", "example.com", "/a", "//a/b", "mailto:a@b",
			"http://[::1]:80/", "http://::1/", "http://[::1%25eth0]/", "http://[12:::1]/", "http://[zz::1]/",
			"a b://c", "http://a b/", "%", "http://a/%zz", "urn:x:y", "x:", ":x", "http://a:b/", "\x00",
		} {
			ours := check(text)
			theirs := schema.Validate(text)
			if (ours == nil) != (theirs == nil) {
				t.Errorf("%s %q: got %v, the library says %v", name, text, ours, theirs)
			}
			if ours != nil && theirs != nil && !strings.HasSuffix(theirs.Error(), ": "+ours.Error()) {
				t.Errorf("%s %q: got %q, the library says %q", name, text, ours, theirs)
			}
		}
	}
}

func TestURIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://[::1%25lo0]/": "invalid ipv6 address: zone id is not a part of ipv6 address",
		"/a":                  "relative url",
	} {
		if err := checkURI(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
