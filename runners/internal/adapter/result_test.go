package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/runners"
)

func TestFencedResult(t *testing.T) {
	t.Parallel()
	const good = `{"status":"success","summary":"s"}`
	for _, c := range []struct {
		name, text string
		found, ok  bool
	}{
		{"block", "Done.\n```relay-result\n" + good + "\n```\nBye.", true, true},
		{"CRLF and more words", "```relay-result json\r\n" + good + "\r\n```\r\n", true, true},
		{"tildes", "~~~~ relay-result\n" + good + "\n~~~~", true, true},
		{"the last counts", "```relay-result\n{}\n```\n```relay-result\n" + good + "\n```", true, true},
		{"the last counts, bad", "```relay-result\n" + good + "\n```\n```relay-result\n{}\n```", true, false},
		{"no end", "```relay-result\n" + good, true, false},
		{"other block", "```json\n" + good + "\n```", false, false},
		{"no block", good, false, false},
		{"inline", "use ```relay-result``` blocks", false, false},
		{"empty", "", false, false},
	} {
		r, found, err := FencedResult(c.text)
		if found != c.found || (err == nil && r.Status == runners.StatusSuccess) != c.ok {
			t.Errorf("%s: got %+v, %v, %v", c.name, r, found, err)
		}
		if want := "the relay-result block has no end"; c.name == "no end" && err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What is plainly a result counts without relay's mark; what is none, or is not the last block, does not.
func TestLooseResult(t *testing.T) {
	t.Parallel()
	const good, other = `{"status":"success","summary":"s"}`, `{"status":"failure","summary":"t"}`
	for name, c := range map[string]struct{ text, want string }{
		"json":                 {"Done.\n```json\n" + good + "\n```\nBye.", "s"},
		"JSON, indented":       {"  ~~~ JSON\n" + good + "\n  ~~~", "s"},
		"no language":          {"```\n" + good + "\n```", "s"},
		"the whole message":    {" \n" + good + "\n", "s"},
		"the last block":       {"```json\n" + other + "\n```\n```json\n" + good + "\n```", "s"},
		"another block last":   {"```json\n" + good + "\n```\n```go\nfunc main() {}\n```", ""},
		"another object":       {"```json\n{\"status\":\"ok\",\"summary\":\"s\"}\n```", ""},
		"no summary":           {"```json\n{\"status\":\"success\"}\n```", ""},
		"no end":               {"```json\n" + good, ""},
		"in a block of others": {"````markdown\n```json\n" + good + "\n```\n````", ""},
		"in a sentence":        {"It says " + good + ".", ""},
		"empty":                {"", ""},
	} {
		r, ok := looseResult(c.text)
		if ok != (c.want != "") || ok && (r.Summary != c.want || !r.Loose) {
			t.Errorf("%s: got %+v, %v; want %q", name, r, ok, c.want)
		}
	}
}

func TestClaimOrder(t *testing.T) {
	t.Parallel()
	say := func(s string) string { return `{"status":"success","summary":"` + s + `"}` }
	fence := func(s string) string { return "```relay-result\n" + s + "\n```" }
	for _, c := range []struct{ name, structured, file, text, want, wantErr string }{
		{"structured first", say("a"), say("b"), fence(say("c")), "a", ""},
		{"file second", "", say("b"), fence(say("c")), "b", ""},
		{"fence last", "", "", fence(say("c")), "c", ""},
		{"a bad one is passed over", `{"status":"done"}`, say("b"), "", "b", ""},
		{"a loose one", "", "junk", "```json\n" + say("d") + "\n```", "d", ""},
		{"a loose one is the last", "", "", "```json\n" + say("d") + "\n```\n" + fence(say("c")), "c", ""},
		{"first error is told", `{"status":"done"}`, "junk", "", "", "structured output"},
		{"error of the file", "", "junk", "no block", "", "result file"},
		{"nothing", "", "", "no block", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "result.json")
		if c.file != "" {
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := FindResult([]byte(c.structured), path, c.text)
		got := ""
		if r != nil {
			got = r.Summary
		}
		if got != c.want || (c.wantErr == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %q, %v; want %q, %q", c.name, got, err, c.want, c.wantErr)
		}
	}
}
