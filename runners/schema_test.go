package runners_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"relay/runners"
)

// TestResultSchema fails when the schema and the parser disagree about what a result is.
func TestResultSchema(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "feature", "bugfix", "review", "chore"} {
		testResultSchema(t, kind)
	}
}

func testResultSchema(t *testing.T, kind string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(runners.ResultSchema(kind))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("result.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("result.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		`{"status":"success","summary":"s"}`: true,
		`{"status":"failure","summary":"s","files_changed":["a"],"discovered":[{"title":"t"}],"decisions":{"a":"b"},"confident":false,"review":{"x":1},"more":1}`: true,
		`{"status":"success","summary":"s","implementation":{"design_decisions":["d"]},"bugfix":{"symptom":"s","root_cause":"r","fix":"f","regression_risk":"g"},
			"review":{"scope":["a"],"findings":[{"severity":"low","issue":"i"}],"overall_assessment":"o"},"questions":["q"]}`: true,
		`{"status":"done","summary":"s"}`: false,
		`{"status":"success"}`:            false,
		`[]`:                              false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != valid {
			t.Errorf("%s: the schema says %v, want valid: %v", text, err, valid)
		}
		if _, err := runners.ParseResult([]byte(text)); (err == nil) != valid {
			t.Errorf("%s: the parser says %v, want valid: %v", text, err, valid)
		}
	}
}
