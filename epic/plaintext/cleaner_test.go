package plaintext

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A copy is cleaned by the tags of its fields, and the original stays as it is.
func TestCleanAll(t *testing.T) {
	t.Parallel()
	type word string
	type part struct {
		Name string
		Text string `text:"block"`
		Ref  string `text:"own"`
		Word word
	}
	type record struct {
		part
		Part  *part
		Parts []part `most:"9"`
		List  []string
		Map   map[string]string `text:"block"`
		Raw   json.RawMessage
		Any   []any
		None  []string
	}
	make := func(f func(kind, s string) string) record {
		p := part{f("line", "a"), f("block", "b"), "c", "d"}
		return record{
			part: part{"a", "b", "c", "d"}, Part: &p, Parts: []part{p, p, p}, List: []string{f("line", "a"), f("line", "a")},
			Map: map[string]string{f("line", "k"): f("block", "v")}, Raw: json.RawMessage("1"), Any: []any{f("line", "a"), 1},
		}
	}
	in := make(func(_, s string) string { return s })
	in.List = append(in.List, "a")
	got := CleanAll(Cleaner{Line: func(s string) string { return "line " + s }, Block: strings.ToUpper, Most: 2}, in)
	want := make(func(kind, s string) string {
		if kind == "line" {
			return "line " + s
		}
		return strings.ToUpper(s)
	})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if in.Part.Name != "a" || in.List[0] != "a" || in.Map["k"] != "v" || in.Parts[0].Text != "b" {
		t.Errorf("the original was changed: %+v", in)
	}
}
