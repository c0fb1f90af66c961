package gemini_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/gemini"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// geminiEnded is the report of a run that ended with the exit status, after the lines.
func geminiEnded(t *testing.T, exit int, lines ...string) runners.Report {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("transcript.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := gemini.New(process.Ended(process.Exit{Code: exit}), gemini.Options{
		Now: func() time.Time { return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC) },
	})
	return runnertest.Run(t, r, runners.Request{
		Mark: "run/T1/1", Dir: dir, Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), Ended: true,
	})
}

// TestGeminiFaults fails when somebody else pays for a fault than who has it.
func TestGeminiFaults(t *testing.T) {
	t.Parallel()
	google := func(code, text string) string { return `{"error":{"code":` + code + `,"message":` + text + `}}` }
	for _, c := range []struct {
		message string // inside [API Error: …]
		exit    int
		want    runners.Outcome
		detail  string
		until   string
	}{
		{google("400", `"Request payload size exceeds the limit: 20971520 bytes."`), 144, runners.ContextExhausted, "400 Request payload size exceeds the limit: 20971520 bytes.", ""},
		{google("400", `"{\"error\":{\"code\":401,\"message\":\"who?\"}}"`), 144, runners.Auth, "401 who?", ""},
		{google("7", `"what?"`), 147, runners.Auth, "403 what?", ""},
		{"Incomplete JSON segment at the end", 1, runners.Truncated, "the request failed: Incomplete JSON segment at the end", ""},
		{"Premature close", 1, runners.Truncated, "the request failed: Premature close", ""},
		{"socket hang up", 1, runners.Network, "the request failed: socket hang up", ""},
		{"read ECONNRESET", 1, runners.Network, "the request failed: read ECONNRESET", ""},
		{"[] is not a function", 1, runners.Failed, "the request failed: [] is not a function", ""},
		{"Too many requests.", 429, runners.RateLimited, "429 Too many requests.", ""}, // Windows
		{"The capacity exceeded.", 173, runners.Overloaded, "429 The capacity exceeded.", ""},
		{"Your quota will reset after 1h0m10s.", 173, runners.Quota, "429 Your quota will reset after 1h0m10s.", "2026-11-22T03:00:10Z"},
		{"Your quota will reset after 99999h.", 173, runners.RateLimited, "429 Your quota will reset after 99999h.", ""},
		{"Please retry in 2.5s.", 173, runners.RateLimited, "429 Please retry in 2.5s.", ""},
		{"Quota exceeded, limit: 0.5, model: m", 173, runners.RateLimited, "429 Quota exceeded, limit: 0.5, model: m", ""},
		{"Quota exceeded, limit: 0, model: m", 173, runners.Auth, "429 Quota exceeded, limit: 0, model: m", ""},
	} {
		message, _ := json.Marshal("[API Error: " + c.message + "]\nPlease wait and try again later.")
		r := geminiEnded(t, c.exit, geminiInit, geminiPrompt,
			`{"type":"result","timestamp":"2026-11-22T02:00:00.5Z","status":"error","error":{"type":"unknown","message":`+string(message)+`}}`)
		until := ""
		if !r.ResetAt.IsZero() {
			until = r.ResetAt.Format(time.RFC3339)
		}
		if r.Outcome != c.want || r.Detail != c.detail || until != c.until {
			t.Errorf("%s: got %q until %q (%s), want %q until %q (%s)", c.message, r.Outcome, until, r.Detail, c.want, c.until, c.detail)
		}
	}
	for fault, want := range map[string]runners.Outcome{
		"The model response was blocked due to recitation/copyright filters.": runners.Refused,
		"The model response was blocked due to other policy settings.":        runners.Refused,
		"Model stream ended with malformed function call.":                    runners.Provider,
	} {
		r := geminiEnded(t, 0, geminiInit, geminiPrompt, `{"type":"error","severity":"error","message":"`+fault+`"}`, `{"type":"result","status":"error"}`)
		if r.Outcome != want || r.Detail != fault {
			t.Errorf("%s: got %q (%s), want %q", fault, r.Outcome, r.Detail, want)
		}
	}
}
