package runners

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"relay/epic/plaintext"
)

func TestParseResult(t *testing.T) {
	t.Parallel()
	yes := true
	for _, c := range []struct {
		name, data string
		want       Result
		wantErr    string
	}{
		{"least", `{"status":"success","summary":"did it"}`, Result{Status: "success", Summary: "did it"}, ""},
		{"byte order mark and space", "\xef\xbb\xbf {\"status\":\" Failure \",\"summary\":\"no\"}\n", Result{Status: "failure", Summary: "no"}, ""},
		{
			"all fields",
			`{"status":"failure","summary":"s","files_changed":["a","","b"],"error_category":"the disk is full","error_summary":"e","suggestion":"g",
			"learning":"l","pattern_tags":["p"],"discovered":[{"title":"t","why":"w"},{"why":"no title"}],"decisions":{"k":"v"},"questions":["q"],"confident":true,
			"implementation":{"design_decisions":["d"],"breaking_changes":["b"]},"bugfix":{"symptom":"s","root_cause":"r","fix":"f","regression_risk":"g"},
			"review":{"scope":["a"],"findings":[{"severity":"low","location":"a:1","issue":"i","recommendation":"r"}],"overall_assessment":"o"}}`,
			Result{
				Status: "failure", Summary: "s", FilesChanged: []string{"a", "b"}, ErrorCategory: "the disk is full", ErrorSummary: "e",
				Suggestion: "g", Learning: "l", PatternTags: []string{"p"}, Statement: plaintext.Statement{
					Discovered: []plaintext.Discovery{{Title: "t", Why: "w"}},
					Decisions:  map[string]string{"k": "v"}, Questions: []string{"q"}, Confident: &yes,
					Implementation: &plaintext.Implementation{DesignDecisions: []string{"d"}, BreakingChanges: []string{"b"}},
					Bugfix:         &plaintext.Bugfix{Symptom: "s", RootCause: "r", Fix: "f", RegressionRisk: "g"},
					Inspection:     &plaintext.Inspection{Scope: []string{"a"}, Findings: []plaintext.InspectionFinding{{Severity: "low", Location: "a:1", Issue: "i", Recommendation: "r"}}, Assessment: "o"},
				},
			},
			"",
		},
		{
			"unknown fields and wrong types are dropped",
			`{"status":"success","summary":"s","payload":{"files":["x\u001b[0m"]},"files_changed":{"a.txt":1},"learning":null,"confident":"yes"}`,
			Result{Status: "success", Summary: "s"},
			"",
		},
		{
			"keys as the seed writes them",
			`{"status":"success","summary":"s","implementation":{"feature":"f","designDecisions":"d","breakingChanges":["b"],"testsAdded":["t"]},
			"bugfix":{"rootCause":"r","root_cause":"x","regressionRisk":"g"},"review":{"overallAssessment":"o","findings":[{"severity":"Major","issue":"i"},{"issue":" "},3]}}`,
			Result{
				Status: "success", Summary: "s", Statement: plaintext.Statement{
					Implementation: &plaintext.Implementation{DesignDecisions: []string{"d"}, BreakingChanges: []string{"b"}},
					Bugfix:         &plaintext.Bugfix{RootCause: "x", RegressionRisk: "g"},
					Inspection:     &plaintext.Inspection{Findings: []plaintext.InspectionFinding{{Severity: "high", Issue: "i"}}, Assessment: "o"},
				},
			},
			"",
		},
		{
			"decisions as a list, and other forms",
			`{"status":"success","summary":"s","decisions":[{"name":"a","value":"b"},"c",{"value":"no name"},4,null],"discovered":["t",{"Title":"u","why":1}],"confident":true}`,
			Result{
				Status: "success", Summary: "s", Statement: plaintext.Statement{Decisions: map[string]string{"a": "b", "c": ""}, Discovered: []plaintext.Discovery{{Title: "t"}, {Title: "u"}}, Confident: &yes},
			},
			"",
		},
		{
			"wrong types within what is known",
			`{"status":"success","summary":"s","decisions":{"a":1,"b":"\u0000x\u001b[31m","c":null,"d":{}},"implementation":{"design_decisions":7,"breaking_changes":[[],{},"k"]},
			"bugfix":{"fix":["f"]},"review":[1],"discovered":{"title":"t"},"questions":null,"confident":"perhaps"}`,
			Result{
				Status: "success", Summary: "s", Statement: plaintext.Statement{Decisions: map[string]string{"b": "x"}, Implementation: &plaintext.Implementation{BreakingChanges: []string{"k"}}},
			},
			"",
		},
		{
			"texts that stand alone",
			`{"status":"success","summary":"s","questions":"Which port?","pattern_tags":"None.","implementation":{"design_decisions":"d","breaking_changes":"n/a"}}`,
			Result{
				Status: "success", Summary: "s",
				Statement: plaintext.Statement{Questions: []string{"Which port?"}, Implementation: &plaintext.Implementation{DesignDecisions: []string{"d"}}},
			},
			"",
		},
		{"empty", "", Result{}, "result is empty"},
		{"text", "done", Result{}, "result is not a JSON object: invalid character 'd'"},
		{"list", "[]", Result{}, "not a JSON object"},
		{"null", "null", Result{}, "result is null"},
		{"two objects", `{"status":"success","summary":"s"}{}`, Result{}, "result has more after its JSON object"},
		{"torn", `{"status":"success","sum`, Result{}, "not a JSON object"},
		{"no status", `{"summary":"s"}`, Result{}, `result has no text "status"`},
		{"other status", `{"status":"done","summary":"s"}`, Result{}, `result has status "done", not success, failure or question`},
		{"other case of a key", `{"Status":"success","summary":"s"}`, Result{}, `no text "status"`},
		{"no summary", `{"status":"success"}`, Result{}, `result has no text "summary"`},
		{"summary of control characters", `{"status":"success","summary":"\u0000\u0007"}`, Result{}, `no text "summary"`},
		{"too long", `{"status":"success","summary":"` + strings.Repeat("x", MaxResult) + `"}`, Result{}, "result has 1048609 bytes, more than 1048576"},
	} {
		got, err := ParseResult([]byte(c.data))
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%s: got error %v, want %q", c.name, err, c.wantErr)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// TestResultIsBounded fails when a cap on what an agent says is taken out.
func TestResultIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 10_000)
	many, findings := map[string]string{}, []any{}
	for i := range 500 {
		many[strings.Repeat("k", 700)+strconv.Itoa(i)], many[strconv.Itoa(i)] = "x", strings.Repeat("v", 300)
		findings = append(findings, map[string]any{"severity": "low", "issue": "i"})
	}
	data, err := json.Marshal(map[string]any{
		"status": "success", "summary": long, "files_changed": make([]int, 0), "questions": strings.Split(strings.Repeat("q ", 500), " "),
		"decisions": many, "implementation": map[string]any{"design_decisions": strings.Split(strings.Repeat("q ", 500), " ")},
		"bugfix": map[string]any{"fix": long}, "review": map[string]any{"findings": findings},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseResult(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Summary) > MaxString || !utf8.ValidString(r.Summary) || !strings.HasSuffix(r.Summary, CutMark) {
		t.Errorf("summary has %d bytes", len(r.Summary))
	}
	if stored, err := json.Marshal(r); err != nil || len(stored) > MaxResult {
		t.Errorf("stored in %d bytes, %v", len(stored), err)
	}
	built, found, fix := len(r.Implementation.DesignDecisions), len(r.Inspection.Findings), len(r.Bugfix.Fix)
	if len(r.Decisions) != maxList || built != maxList || found != maxList || fix > MaxString {
		t.Errorf("%d decisions, %d design decisions, %d findings, a fix of %d bytes", len(r.Decisions), built, found, fix)
	}
	for name := range r.Decisions {
		if len(name) > MaxDetail {
			t.Errorf("a decision has a name of %d bytes", len(name))
		}
	}
	if len(r.Questions) > maxList {
		t.Errorf("%d questions", len(r.Questions))
	}
}

func FuzzParseResult(f *testing.F) {
	for _, s := range []string{
		`{"status":"success","summary":"did it","x":[1,{"y":"\u0000"}],"decisions":{"a":"b"},"discovered":[{"title":"t"}]}`,
		"{\"status\":\"failure\",\"summary\":\"\x1b\x1b[31m[31m\xff\"}", `{"status":1}`, "null", "{",
		`{"status":"success","summary":"s","decisions":[{"name":"a","value":"b"},"c"],"confident":"tr\u0000ue","discovered":["t"]}`,
		`{"status":"success","summary":"s","implementation":{"designDecisions":["d\u0000"]},"bugfix":{"fix\u0000":"x","rootCause":"r"},"learning\u0000":"l"}`,
		`{"status":"success","summary":"s","review":{"findings":[{"severity":"Blocker","issue":"i"}],"overallAssessment":"o"},"decisions":{"a":null,"b":"c"}}`,
		`{"status":"success","summary":"s","confident":null,"\u202e":1e999}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseResult(data)
		if err != nil {
			return
		}
		stored, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%+v cannot be stored: %v", r, err)
		}
		if len(stored) > 4*MaxResult || !utf8.Valid(stored) || bytes.ContainsAny(stored, "\x00\x1b") || bytes.Contains(stored, []byte(`\u001b`)) {
			t.Fatalf("stored as %q", stored)
		}
		again, err := ParseResult(bytes.Replace(stored, []byte(`"inspection":`), []byte(`"review":`), 1))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("read back %+v, %v; want %+v", again, err, r)
		}
	})
}
