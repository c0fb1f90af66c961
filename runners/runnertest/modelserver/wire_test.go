package modelserver

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the goldens")

// api is one form of request, begun; more of the conversation is to be put in for the marks.
type api struct {
	path  string
	begin string // %s: tools, history
	tools string
	used  string // history after one tool call
}

var apis = map[string]api{
	"messages": {
		path:  "v1/messages",
		begin: `{"model":"m","stream":true,"tools":[%s],"messages":[{"role":"user","content":"do it"}%s]}`,
		tools: `{"name":"Bash","input_schema":{"properties":{"command":{},"description":{}},"required":["command"]}},
{"name":"Write","input_schema":{"properties":{"file_path":{},"content":{}},"required":["file_path","content"]}}`,
		used: `,{"role":"assistant","content":[{"type":"text","text":"I"},{"type":"tool_use","id":"t","name":"Write","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}`,
	},
	"responses": {
		path:  "v1/responses",
		begin: `{"model":"m","stream":true,"tools":[%s],"input":[{"type":"message","role":"user","content":[]}%s]}`,
		tools: `{"type":"function","name":"exec_command","parameters":{"properties":{"cmd":{}}}},{"type":"custom","name":"apply_patch"}`,
		used:  `,{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":""},{"type":"custom_tool_call_output","call_id":"c","output":""}`,
	},
	"responses-grouped": {
		path: "v1/responses",
		begin: `{"model":"m","stream":true,"input":[{"type":"additional_tools","tools":[{"name":"functions","tools":[%s]}]},
{"type":"message","role":"user","content":[]}%s]}`,
		tools: `{"type":"custom","name":"exec"},{"type":"function","name":"wait"}`,
		used:  `,{"type":"custom_tool_call","call_id":"c","name":"exec","input":""},{"type":"custom_tool_call_output","call_id":"c","output":""}`,
	},
	"chat": {
		path:  "v1/chat/completions",
		begin: `{"model":"m","stream":true,"tools":[%s],"messages":[{"role":"system","content":"s"},{"role":"user","content":"do it"}%s]}`,
		tools: `{"type":"function","function":{"name":"write","parameters":{"properties":{"filePath":{},"content":{}}}}},
{"type":"function","function":{"name":"bash","parameters":{"properties":{"command":{},"timeout":{"type":"number"}},"required":["command","timeout"]}}}`,
		used: `,{"role":"assistant","content":"","tool_calls":[{"id":"c"}]},{"role":"tool","tool_call_id":"c","content":"ok"}`,
	},
	"gemini": {
		path:  "v1beta/models/m:streamGenerateContent",
		begin: `{"tools":[{"functionDeclarations":[%s]}],"contents":[{"role":"user","parts":[{"text":"do it"}]}%s]}`,
		tools: `{"name":"write_file","parametersJsonSchema":{"properties":{"file_path":{},"content":{}}}},
{"name":"run_shell_command","parameters":{"properties":{"command":{},"is_background":{"type":"boolean"}},"required":["command","is_background"]}}`,
		used: `,{"role":"model","parts":[{"functionCall":{"name":"write_file"}}]},{"role":"user","parts":[{"functionResponse":{"name":"write_file"}}]}`,
	},
}

func (a api) body(tools, history string) string { return fmt.Sprintf(a.begin, tools, history) }

// asked is a request's answer as it came over the wire, and how it ended.
func asked(t *testing.T, url, body string) (status int, text string, err error) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	return r.StatusCode, string(data), err
}

// What goes over the wire in each API: a file that is written, a command, a claim, in stream and plain.
func TestWire(t *testing.T) {
	t.Parallel()
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(t)
			s.Play("c", Step{Write: "a.txt", Text: "one\ntwo\n"}, Step{Claim: "Wrote it."})
			s.Play("sh", Step{Shell: "echo 'hi' | cat"})
			url := func(client string) string { return s.URL(client) + "/" + a.path }
			var got bytes.Buffer
			for _, q := range []struct{ title, url, body string }{
				{"write a file", url("c"), a.body(a.tools, "")},
				{"claim", url("c"), a.body(a.tools, a.used)},
				{"run a command, plain", strings.Replace(url("sh"), "streamG", "g", 1), strings.Replace(a.body(a.tools, ""), `"stream":true`, `"stream":false`, 1)},
			} {
				status, text, err := asked(t, q.url, q.body)
				if err != nil || status != http.StatusOK {
					t.Fatalf("%s: status %d, %v", q.title, status, err)
				}
				fmt.Fprintf(&got, "== %s\n%s\n", q.title, text)
			}
			golden(t, name, got.Bytes())
			if got := s.Asked("c"); !slices.Equal(got, []string{"write", "claim"}) {
				t.Errorf("the server counts %v", got)
			}
		})
	}
}

// What each provider says of each fault.
func TestRefusals(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var got bytes.Buffer
	for _, d := range dialects[:4] {
		for _, f := range []Fault{Throttled, UsedUp, Overloaded, Unavailable, Unauthorized} {
			r := d.refuse(Step{Fault: f, Reset: time.Hour}, now)
			fmt.Fprintf(&got, "== %s %s\n%d %s\n%s\n", d.ending, f, r.status, encode(r.header), encode(r.body))
		}
	}
	golden(t, "refusals", got.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// A fault of limited times stands before a step; what is asked beside the work meets it and does not use it up.
func TestFaultsAreCounted(t *testing.T) {
	t.Parallel()
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(t)
			s.Play("c", Step{Fault: Overloaded, Times: 2}, Step{Say: "first"}, Step{Fault: Unauthorized, Times: 1}, Step{Say: "second"})
			aside := strings.Replace(a.body("", ""), `{"name":"functions","tools":[]}`, "", 1)
			for i, q := range []struct {
				body string
				want string
			}{
				{aside, "verloaded"},
				{a.body(a.tools, ""), "verloaded"},
				{a.body(a.tools, ""), "verloaded"},
				{a.body(a.tools, ""), "first"},
				{aside, "task"},
				{a.body(a.tools, a.used), "API key|x-api-key"},
				{a.body(a.tools, a.used), "second"},
				{a.body(a.tools, a.used+a.used), "second"},
			} {
				_, text, err := asked(t, s.URL("c")+"/"+a.path, q.body)
				if err != nil || !slices.ContainsFunc(strings.Split(q.want, "|"), func(w string) bool { return strings.Contains(text, w) }) {
					t.Errorf("request %d: %v, %s, want %q", i, err, text, q.want)
				}
			}
			want := []string{"overloaded", "overloaded", "say", "unauthorized", "say", "say"}
			if got := s.Asked("c"); !slices.Equal(got, want) {
				t.Errorf("the server counts %v, want %v", got, want)
			}
		})
	}
}

// A cut leaves half an answer and a connection that is gone; a stall half an answer and one that waits; silence nothing.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(t)
			s.Play("cut", Step{Fault: Cut})
			_, text, err := asked(t, s.URL("cut")+"/"+a.path, a.body(a.tools, ""))
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(text, "This is") || strings.Contains(text, "off.") {
				t.Errorf("cut: got %q and %v, want half an answer and an unexpected end", text, err)
			}
			for _, f := range []Fault{Stalled, Silent} {
				s.Play(string(f), Step{Fault: f})
			}
			r, err := http.Post(s.URL("stalled")+"/"+a.path, "application/json", strings.NewReader(a.body(a.tools, "")))
			if err != nil {
				t.Fatal(err)
			}
			part := make([]byte, 8)
			if _, err := io.ReadFull(r.Body, part); err != nil {
				t.Errorf("stalled: %v", err)
			}
			_ = r.Body.Close()
			client := http.Client{Timeout: 50 * time.Millisecond}
			if r, err := client.Post(s.URL("silent")+"/"+a.path, "application/json", strings.NewReader(a.body(a.tools, ""))); err == nil {
				_ = r.Body.Close()
				t.Errorf("silent: status %s", r.Status)
			}
		})
	}
}

// A client that asks for a form gets its claim in it, and one without the tools it needs a plain answer.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path, body, want string
		script           Step
	}{
		"claude's tool": {
			"v1/messages", `{"tools":[{"name":"StructuredOutput","input_schema":{"required":["status","list"],"properties":{"list":{"type":"array"}}}}],"messages":[{"role":"user","content":"x"}]}`,
			`"input":{"list":[],"status":"success","summary":"Did it."}`,
			Step{Claim: "Did it."},
		},
		"a schema": {
			"v1/responses", `{"tools":[{"type":"function","name":"exec_command"}],"text":{"format":{"type":"json_schema"}},"input":"x"}`,
			`"text":"{\"status\":\"success\",\"summary\":\"Did it.\"}"`,
			Step{Claim: "Did it."},
		},
		"no tool": {"v1/messages", `{"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"x"}]}`, "There is no tool for that.", Step{Shell: "true"}},
		"only a shell": {
			"v1/responses", `{"tools":[{"type":"function","name":"exec_command"}],"input":"x"}`,
			`'it'\\\\''s\\n'`,
			Step{Write: "a", Text: "it's\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(t)
			s.Play("c", test.script)
			if _, text, err := asked(t, s.URL("c")+"/"+test.path, test.body); err != nil || !strings.Contains(text, test.want) {
				t.Errorf("got %v\n%s\nwant %s", err, text, test.want)
			}
		})
	}
}

// What a client asks besides the model: the number of tokens, the list of models, and what nobody knows.
func TestBesides(t *testing.T) {
	t.Parallel()
	s := New(t)
	for path, want := range map[string]string{"/v1/messages/count_tokens": "1000", "/v1beta/models/m:countTokens": "1000", "/other": "no such path"} {
		if _, text, err := asked(t, s.URL("c")+path, "{}"); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, %s", path, err, text)
		}
	}
	if got := s.Unknown("c"); !slices.Equal(got, []string{"POST /other"}) {
		t.Errorf("unknown requests are %v", got)
	}
	if status, text, err := asked(t, s.URL("c")+"/v1/messages", "{"); err != nil || status != http.StatusBadRequest {
		t.Errorf("a request that is no JSON: %d %s %v", status, text, err)
	}
}
