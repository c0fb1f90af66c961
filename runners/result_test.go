package runners

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"relay/runners/internal/cleantext"
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
			"learning":"l","pattern_tags":["p"],"discovered":[{"title":"t","why":"w"},{"why":"no title"}],"decisions":{"k":"v"},"questions":["q"],"confident":true}`,
			Result{
				Status: "failure", Summary: "s", FilesChanged: []string{"a", "b"}, ErrorCategory: "the disk is full", ErrorSummary: "e",
				Suggestion: "g", Learning: "l", PatternTags: []string{"p"}, Discovered: []Discovery{{"t", "w"}},
				Decisions: map[string]string{"k": "v"}, Questions: []string{"q"}, Confident: &yes,
			},
			"",
		},
		{
			"unknown fields and wrong types are kept apart",
			`{"status":"success","summary":"s","implementation":{"files":["x\u001b[0m"]},"files_changed":"a.txt","learning":null}`,
			Result{Status: "success", Summary: "s", Extra: map[string]json.RawMessage{
				"implementation": json.RawMessage(`{"files":["x"]}`), "files_changed": json.RawMessage(`"a.txt"`),
			}},
			"",
		},
		{"empty", "", Result{}, "result is empty"},
		{"text", "done", Result{}, "result is not a JSON object: invalid character 'd'"},
		{"list", "[]", Result{}, "not a JSON object"},
		{"null", "null", Result{}, "result is null"},
		{"two objects", `{"status":"success","summary":"s"}{}`, Result{}, "result has more after its JSON object"},
		{"torn", `{"status":"success","sum`, Result{}, "not a JSON object"},
		{"no status", `{"summary":"s"}`, Result{}, `result has no text "status"`},
		{"other status", `{"status":"done","summary":"s"}`, Result{}, `result has status "done", not success or failure`},
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
	data, err := json.Marshal(map[string]any{
		"status": "success", "summary": long, "files_changed": make([]int, 0), "questions": strings.Split(strings.Repeat("q ", 500), " "),
		"x1": long, "x2": strings.Split(strings.Repeat("v ", 500), " "), "x3": map[string]any{"deep": []any{[]any{long}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseResult(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Summary) > cleantext.MaxString || !utf8.ValidString(r.Summary) || !strings.HasSuffix(r.Summary, cleantext.CutMark) {
		t.Errorf("summary has %d bytes", len(r.Summary))
	}
	if len(r.Questions) > maxList {
		t.Errorf("%d questions", len(r.Questions))
	}
	size := 0
	for _, raw := range r.Extra {
		size += len(raw)
	}
	if size > maxExtra || len(r.Extra["x1"]) > cleantext.MaxString+2 || bytes.Count(r.Extra["x2"], []byte(",")) >= maxList {
		t.Errorf("extra has %d bytes", size)
	}
}

func FuzzParseResult(f *testing.F) {
	for _, s := range []string{
		`{"status":"success","summary":"did it","x":[1,{"y":"\u0000"}],"decisions":{"a":"b"},"discovered":[{"title":"t"}]}`,
		"{\"status\":\"failure\",\"summary\":\"\x1b\x1b[31m[31m\xff\"}", `{"status":1}`, "null", "{", `{"status":"success","summary":"s","confident":null,"\u202e":1e999}`,
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
		again, err := ParseResult(stored)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("read back %+v, %v; want %+v", again, err, r)
		}
	})
}
