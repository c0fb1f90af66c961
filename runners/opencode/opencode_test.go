package opencode_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/opencode"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const opencodeSession = "ses_e03da4872ffevcjBQF23j9dHlG"

// opencodeVoice talks opencode's JSON events.
var opencodeVoice = runnertest.Voice{
	Begin: func(w io.Writer) { opencodeSays(w, "step_start", map[string]any{"type": "step-start"}) },
	Say: func(w io.Writer, text string) {
		opencodeSays(w, "text", map[string]any{"type": "text", "text": text})
	},
	End: func(w io.Writer, result string) {
		text := "That is all."
		if result != "" {
			text += "\n\n```relay-result\n" + result + "\n```\n"
		}
		opencodeSays(w, "text", map[string]any{"type": "text", "text": text})
		opencodeSays(w, "step_finish", map[string]any{"reason": "stop", "cost": 0.25, "tokens": map[string]any{"input": 10, "output": 2}})
	},
}

func opencodeSays(w io.Writer, kind string, part map[string]any) {
	runnertest.Event(w, map[string]any{"type": kind, "timestamp": 1795232350000, "sessionID": opencodeSession, "part": part})
}

func TestOpencodeConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		return runnertest.Cast{
			Runner:   newOpencode(sup, opencode.Options{Program: runnertest.Program(t, act)}),
			Env:      []string{runnertest.VoiceVariable + "=opencode"},
			Settings: []string{"OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_PERMISSION"},
		}
	})
}

// Lines of the stream.
const (
	ocStart  = `{"type":"step_start","sessionID":"` + opencodeSession + `","part":{}}`
	ocDone   = `{"type":"text","part":{"text":"All done.\n` + "```relay-result\\n" + `{\"status\":\"success\",\"summary\":\"s\"}\n` + "```" + `"}}`
	ocStop   = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":5,"output":2,"reasoning":1,"cache":{"read":3,"write":4}},"cost":0.25}}`
	ocTools  = `{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":5,"output":2},"cost":0.25}}`
	ocFree   = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":5,"output":2},"cost":0}}`
	ocDenied = `{"type":"tool_use","part":{"tool":"write","state":{"status":"error","error":"The user has specified a rule which prevents you from using this specific tool call."}}}`
	ocAsked  = `{"type":"tool_use","part":{"tool":"write","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}}`
)

// ocFault is the line of an APIError.
func ocFault(status int, headers map[string]string, body string) string {
	text, _ := json.Marshal(map[string]any{"type": "error", "timestamp": 1795232350000, "sessionID": opencodeSession, "error": map[string]any{
		"name": "APIError", "data": map[string]any{"message": "no", "statusCode": status, "responseHeaders": headers, "responseBody": body},
	}})
	return string(text)
}

// opencodePrints runs a fake opencode that prints the lines.
func opencodePrints(t *testing.T, change func(*runners.Request), lines ...string) (runners.Report, runners.Request) {
	t.Helper()
	req := runnertest.Prints(t, lines...)
	if change != nil {
		change(&req)
	}
	now := func() time.Time { return time.UnixMilli(1795232351000) }
	return runnertest.Run(t, newOpencode(runnertest.Local(req), opencode.Options{Program: runnertest.Self(t), Now: now}), req), req
}

func TestOpencodeStream(t *testing.T) {
	t.Parallel()
	failed := func(code string) func(*runners.Request) {
		return func(r *runners.Request) { r.Env = append(r.Env, "EXIT="+code) }
	}
	overflow := `{"type":"error","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}`
	named := func(name, message string) string {
		return `{"type":"error","error":{"name":"` + name + `","data":{"message":"` + message + `"}}}`
	}
	for _, c := range []struct {
		name   string
		lines  []string
		change func(*runners.Request)
		want   runners.Outcome
		detail string // "" : whatever it says
	}{
		{"success", []string{ocStart, ocDone, ocStop}, nil, runners.Claimed, ""},
		{"status 1 after a good end", []string{ocStart, ocDone, ocStop}, failed("1"), runners.Failed, ""},
		{"status 1 after a fault it got over", []string{overflow, ocStart, ocDone, ocStop}, failed("1"), runners.Claimed, ""},
		{"another status after a fault it got over", []string{overflow, ocStart, ocDone, ocStop}, failed("7"), runners.Failed, ""},
		{"a fault at the end", []string{ocStart, ocDone, ocStop, overflow}, failed("1"), runners.ContextExhausted, ""},
		{"a summary is no end", []string{ocStart, ocDone, ocStop, `{"type":"text","part":{"synthetic":true,"text":"continue"}}`}, nil, runners.Truncated, ""},
		{"broke off", []string{ocStart, ocDone}, nil, runners.Truncated, "its output broke off, though it ended with exit status 0"},
		{"broke off within a line", []string{ocStart, ocDone, ocStop[:30]}, nil, runners.Truncated, ""},
		{"an end after a tool", []string{ocStart, ocDone, ocTools}, nil, runners.NoResult, ""},
		{"a question that nobody answers", []string{ocStart, ocAsked, ocTools}, nil, runners.PermissionDenied, ""},
		{"an end after a tool, long after a question", []string{ocStart, ocAsked, ocTools, ocStart, ocTools}, nil, runners.NoResult, ""},
		{"a rule that it works around", []string{ocStart, ocDenied, ocTools, ocStart, ocDone, ocStop}, nil, runners.Claimed, ""},
		{"cut off", []string{ocStart, `{"type":"step_finish","part":{"reason":"length"}}`}, nil, runners.Failed, ""},
		{"blocked", []string{ocStart, `{"type":"step_finish","part":{"reason":"content-filter"}}`}, nil, runners.Refused, "the provider's content filter blocked the answer"},
		{"an unknown reason", []string{ocStart, `{"type":"step_finish","part":{"reason":"other"}}`}, nil, runners.Failed, "its last answer ended with other"},
		{"one field of another type", []string{ocStart, ocDone, `{"type":"step_finish","part":{"reason":"stop","tokens":[],"cost":"much"}}`}, nil, runners.Claimed, ""},
		{"nothing", nil, nil, runners.NoResult, ""},
		{"no login", []string{named("ProviderAuthError", "x")}, failed("1"), runners.Auth, ""},
		{"aborted", []string{named("MessageAbortedError", "by hand")}, failed("1"), runners.Failed, "its session was aborted: by hand"},
		{"a nameless fault", []string{ocStart, `{"type":"error","error":{}}`}, failed("1"), runners.Provider, "an error without a name"},
		{"the longest answer", []string{named("MessageOutputLengthError", "x")}, failed("1"), runners.Failed, ""},
		{"a database in use", []string{named("UnknownError", "database is locked")}, failed("1"), runners.Provider, "its database was in use: database is locked"},
		{"an error in the stream", []string{ocStart, named("UnknownError", `{\"type\":\"overloaded_error\",\"message\":\"m\"}`)}, failed("1"), runners.Overloaded, ""},
		{"no credit", []string{ocFault(429, nil, `{"error":{"type":"insufficient_quota","message":"m"}}`)}, failed("1"), runners.Auth, ""},
		{"too large", []string{ocFault(413, nil, "")}, failed("1"), runners.ContextExhausted, ""},
		{"a bad request", []string{ocFault(400, nil, `{"error":"what"}`)}, failed("1"), runners.Failed, ""},
		{"no room", []string{ocFault(503, nil, "<html>")}, failed("1"), runners.Overloaded, ""},
		{"too slow", []string{ocFault(408, nil, "")}, failed("1"), runners.Provider, ""},
		{"words of a limit in its own text", []string{ocStart, `{"type":"text","part":{"text":"database is locked. 401 rate_limit_exceeded"}}`, ocDone, ocStop}, nil, runners.Claimed, ""},
	} {
		if r, _ := opencodePrints(t, c.change, c.lines...); r.Outcome != c.want || c.detail != "" && r.Detail != c.detail {
			t.Errorf("%s: got %q (%s), want %q (%s)", c.name, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
}

func TestOpencodeResetTime(t *testing.T) {
	t.Parallel()
	failed := time.UnixMilli(1795232350000).UTC()
	for _, c := range []struct {
		name    string
		headers map[string]string
		body    string
		want    runners.Outcome
		after   time.Duration // 0: not told
	}{
		{"seconds", map[string]string{"retry-after": "3600"}, "", runners.RateLimited, time.Hour},
		{"milliseconds", map[string]string{"retry-after": "9", "retry-after-ms": "1500"}, "", runners.RateLimited, 1500 * time.Millisecond},
		{"a date", map[string]string{"retry-after": failed.Add(90 * time.Second).Format("Mon, 02 Jan 2006 15:04:05 GMT")}, "", runners.RateLimited, 90 * time.Second},
		{"a subscription", map[string]string{"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "1795239550"}, "", runners.Quota, 2 * time.Hour},
		{"a plan", nil, `{"error":{"type":"usage_limit_reached","message":"m","resets_at":1795239550}}`, runners.Quota, 2 * time.Hour},
		{"in the past", map[string]string{"anthropic-ratelimit-unified-reset": "1795232000"}, "", runners.RateLimited, 0},
		{"in a thousand years", map[string]string{"retry-after": "99999999999"}, "", runners.RateLimited, 0},
		{"next year", nil, `{"error":{"type":"usage_limit_reached","message":"m","resets_at":1826800000}}`, runners.Quota, 0},
		{"nonsense", map[string]string{"retry-after": "soon"}, "", runners.RateLimited, 0},
	} {
		r, _ := opencodePrints(t, func(r *runners.Request) { r.Env = append(r.Env, "EXIT=1") }, ocFault(429, c.headers, c.body))
		var want time.Time
		if c.after > 0 {
			want = failed.Add(c.after)
		}
		if r.Outcome != c.want || !r.ResetAt.Equal(want) {
			t.Errorf("%s: got %q until %s, want %q until %s", c.name, r.Outcome, r.ResetAt, c.want, want)
		}
	}
}

func TestOpencodeArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		o      opencode.Options
		change func(*runners.Request)
		want   []string
	}{
		{"plain", opencode.Options{}, func(*runners.Request) {}, []string{"--auto", "--title", "relay run/T1/2"}},
		{
			"everything",
			opencode.Options{Model: "p/m0", Permission: "config", Args: []string{"--agent", "build"}},
			func(r *runners.Request) { r.Session = opencodeSession },
			[]string{"-m", "p/m0", "-s", opencodeSession},
		},
		{
			"a request's model wins",
			opencode.Options{Model: "p/m0", Permission: "auto"},
			func(r *runners.Request) { r.Model = "q/m1/x" },
			[]string{"--auto", "-m", "q/m1/x", "--title", "relay run/T1/2"},
		},
	} {
		req := runnertest.Prints(t, ocStart, ocDone, ocStop)
		c.change(&req)
		c.o.Program = runnertest.Self(t)
		runnertest.Run(t, newOpencode(process.NewLocal(), c.o), req)
		data, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(string(data), "\n")
		if want := slices.Concat(c.o.Args, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"}, c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestOpencodeRefusesWhatItWouldMisread(t *testing.T) {
	t.Parallel()
	if _, err := opencode.New(nil, opencode.Options{Permission: "yolo"}); err == nil ||
		err.Error() != `opencode has no permission "yolo", only auto, config, readonly, workspace` {
		t.Errorf("permission: %v", err)
	}
	r, _ := opencodePrints(t, func(r *runners.Request) { r.Model = "sonnet" }, ocStart, ocDone, ocStop)
	if r.Outcome != runners.CannotStart || r.Detail != "opencode wants its model as provider/model, not sonnet" {
		t.Errorf("model: %q (%s)", r.Outcome, r.Detail)
	}
	r, _ = opencodePrints(t, func(r *runners.Request) { r.Session = "--share" }, ocStart, ocDone, ocStop)
	if r.Outcome != runners.NoSession || r.Detail != "cannot resume: that is not a session of opencode" {
		t.Errorf("session: %q (%s)", r.Outcome, r.Detail)
	}
}
