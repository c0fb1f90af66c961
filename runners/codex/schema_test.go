package codex

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"relay/runners"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestStrictSchema fails when a provider would refuse the strict form of a result's schema, or a result in that form.
func TestStrictSchema(t *testing.T) {
	t.Parallel()
	for kind, payload := range map[string]string{"feature": "implementation", "chore": "implementation", "bugfix": "bugfix", "review": "review"} {
		data := strictSchema(runners.ResultSchema(kind))
		var root map[string]any
		if err := json.Unmarshal(data, &root); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		closed(t, kind, root)
		for _, name := range []string{"decisions", "questions", "confident", payload} {
			if _, kept := root["properties"].(map[string]any)[name]; !kept {
				t.Errorf("%s: %s is left out", kind, name)
			}
		}
	}
	data := strictSchema(runners.ResultSchema("feature"))
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("strict.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("strict.json")
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"status":"success","summary":"s","files_changed":null,"error_category":null,"error_summary":null,"suggestion":null,
		"learning":"l","pattern_tags":["p"],"discovered":[{"title":"t","why":null}],"decisions":[{"name":"store","value":"a file: no server"}],"questions":null,
		"confident":null,"implementation":{"design_decisions":["d"],"breaking_changes":null}}`
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	r, err := runners.ParseResult([]byte(answer))
	if r.Decisions["store"] != "a file: no server" || r.Implementation == nil || r.Implementation.DesignDecisions[0] != "d" {
		t.Errorf("got %+v", r)
	}
	if err != nil || r.Learning != "l" || r.Confident != nil || len(r.Discovered) != 1 || r.Discovered[0].Why != "" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// closed checks that every object below s is closed and requires all it has.
func closed(t *testing.T, at string, s map[string]any) {
	t.Helper()
	if properties, ok := s["properties"].(map[string]any); ok {
		required, _ := s["required"].([]any)
		if s["additionalProperties"] != false || len(required) != len(properties) {
			t.Errorf("%s: not closed, or not all required: %v", at, required)
		}
		for name, child := range properties {
			if !slices.Contains(required, any(name)) {
				t.Errorf("%s.%s is not required", at, name)
			}
			closed(t, at+"."+name, child.(map[string]any))
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		closed(t, at+"[]", items)
	}
}

func TestStrictSchemaForms(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"string","enum":["x"]}}}`:                         `{"additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"enum":["x",null],"type":["string","null"]}},"required":["a","b"],"type":"object"}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"object","additionalProperties":{"type":"string"},"description":"d"}}}`: `{"additionalProperties":false,"properties":{"a":{"description":"d","items":{"additionalProperties":false,"properties":{"name":{"type":"string"},"value":{"type":"string"}},"required":["name","value"],"type":"object"},"type":"array"}},"required":["a"],"type":"object"}`,
		``: "",
	} {
		if got := string(strictSchema([]byte(schema))); got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}
