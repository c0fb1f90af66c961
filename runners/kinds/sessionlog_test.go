package kinds_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const (
	codexSaved  = "01a20496-8b6c-7783-9aab-c37cbc700d5b"
	geminiSaved = "241227da-b15c-4cbb-b453-7da1a150883b"
)

// What codex and gemini keep of a session says what was used when their stream ends in the middle; without it that is
// estimated.
func TestSessionLogs(t *testing.T) {
	t.Parallel()
	day := time.Unix(0x01a204968b6c/1000, 0).Format("2006/01/02")
	codex := "home/.codex/sessions/" + day + "/rollout-2026-11-22T18-48-24-" + codexSaved + ".jsonl"
	const gemini = "home/.gemini/tmp/w/chats/session-2026-11-22T18-48-241227da.jsonl"
	codexBegins := `{"type":"thread.started","thread_id":"` + codexSaved + `"}` + "\n" + `{"type":"turn.started"}` + "\n"
	geminiBegins := func(at string) string {
		return `{"type":"init","timestamp":"` + at + `","session_id":"` + geminiSaved + `","model":"gemini-2.5-pro"}` + "\n"
	}
	stopped := func(at string) process.Exit {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return process.Exit{Stopped: true, StoppedAt: when}
	}
	for name, c := range map[string]struct {
		cli, log, path, stream string
		end                    process.Exit
		spent                  runners.Usage
		in, cached, out        int64
		estimated              bool
	}{
		"codex, killed":                    {cli: "codex", path: codex, log: "answer 2", stream: codexBegins, end: process.Exit{Code: -1, Signal: "KILL"}, in: 2000, cached: 400, out: 100},
		"codex, killed as it waits":        {cli: "codex", path: codex, log: "output 2", stream: codexBegins, end: process.Exit{Code: -1, Signal: "KILL"}, in: 3000, cached: 600, out: 100, estimated: true},
		"codex, refused":                   {cli: "codex", path: codex, log: "output 2", stream: codexBegins + `{"type":"turn.failed","error":{"message":"Quota exceeded."}}`, end: process.Exit{Code: 1}, in: 2000, cached: 400, out: 100},
		"codex, broken off":                {cli: "codex", path: codex, log: "output 2", stream: codexBegins + `{"type":"turn.failed","error":{"message":"Transport error: x"}}`, end: process.Exit{Code: 1}, in: 3000, cached: 600, out: 100, estimated: true},
		"codex, resumed":                   {cli: "codex", path: codex, log: "", stream: codexBegins, end: process.Exit{Code: -1, Signal: "KILL"}, spent: runners.Usage{InputTokens: 3000, CachedTokens: 600, OutputTokens: 150}, in: 3000, cached: 600, out: 150},
		"codex, without a file":            {cli: "codex", path: "home/x", stream: codexBegins + `{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"I will look at it."}}`, end: process.Exit{Code: -1, Signal: "KILL"}, in: 9049, out: 5, estimated: true},
		"codex, a home of its own":         {cli: "codex", path: strings.Replace(codex, "home/.codex", "elsewhere", 1), log: "answer 1", stream: codexBegins, end: process.Exit{Code: -1, Signal: "KILL"}, in: 1000, cached: 200, out: 50},
		"gemini, killed":                   {cli: "gemini", path: gemini, log: "answer 2", stream: geminiBegins("2026-11-22T18:48:22.637Z"), end: process.Exit{Code: -1, Signal: "KILL"}, in: 2000, cached: 400, out: 100},
		"gemini, ended as it waits":        {cli: "gemini", path: gemini, log: "output 2", stream: geminiBegins("2026-11-22T18:48:22.637Z"), end: process.Exit{Stopped: true}, in: 3000, cached: 600, out: 100, estimated: true},
		"codex, ended before it asked":     {cli: "codex", path: codex, log: "output 2", stream: codexBegins, end: stopped("2026-11-22T18:48:25.200Z"), in: 2000, cached: 400, out: 100},
		"codex, ended after it asked":      {cli: "codex", path: codex, log: "output 2", stream: codexBegins, end: stopped("2026-11-22T18:48:25.400Z"), in: 3000, cached: 600, out: 100, estimated: true},
		"gemini, ended before it asked":    {cli: "gemini", path: gemini, log: "output 2", stream: geminiBegins("2026-11-22T18:48:22.637Z"), end: stopped("2026-11-22T18:48:23.150Z"), in: 2000, cached: 400, out: 100},
		"gemini, ended after it asked":     {cli: "gemini", path: gemini, log: "output 2", stream: geminiBegins("2026-11-22T18:48:22.637Z"), end: stopped("2026-11-22T18:48:23.250Z"), in: 3000, cached: 600, out: 100, estimated: true},
		"gemini, resumed":                  {cli: "gemini", path: gemini, log: "", stream: geminiBegins("2026-11-22T18:57:45.467Z"), end: process.Exit{Code: -1, Signal: "KILL"}, in: 2000, cached: 400, out: 100},
		"gemini, without a file":           {cli: "gemini", path: "home/x", stream: geminiBegins("2026-11-22T18:48:22.637Z") + `{"type":"message","role":"user","content":"do it"}` + "\n", end: process.Exit{Code: -1, Signal: "KILL"}, in: 12046, estimated: true},
		"gemini, without an answer so far": {cli: "gemini", path: gemini, log: "begin 2", stream: geminiBegins("2026-11-22T18:48:22.637Z"), end: process.Exit{Code: -1, Signal: "KILL"}, in: 12034, estimated: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			runnertest.WriteFile(t, in(c.path), upTo(t, c.cli, c.log))
			runnertest.WriteFile(t, in("transcript.jsonl"), []byte(c.stream))
			runnertest.WriteFile(t, in("brief.md"), []byte("do it"))
			req := runners.Request{
				Mark: "run/T1/1", Dir: dir, Result: in("result.json"), Ended: true, Prompt: in("brief.md"), Transcript: in("transcript.jsonl"), Stderr: in("stderr"),
				Env: []string{"HOME=" + in("home")}, Spent: c.spent,
			}
			if strings.HasPrefix(c.path, "elsewhere") {
				req.Env = append(req.Env, "CODEX_HOME="+in("elsewhere"))
			}
			r, err := kinds.New(process.Ended(c.end), kinds.Agent{Type: c.cli})
			if err != nil {
				t.Fatal(err)
			}
			report, err := r.Run(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			want := runners.Usage{InputTokens: c.in, CachedTokens: c.cached, OutputTokens: c.out, Estimated: c.estimated}
			if report.Usage != want {
				t.Errorf("got  %+v\nwant %+v", report.Usage, want)
			}
		})
	}
}

// upTo is the captured session of a CLI up to the answer, or the tool's output, of a number; "": all of it.
func upTo(t *testing.T, cli, until string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", cli, "testdata", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]map[string]string{
		"codex":  {"answer": `"token_usage_record"`, "output": `_call_output"`},
		"gemini": {"answer": `"toolCalls"`, "output": `"type": "user", "content": [{"functionResponse"`, "begin": `"type": "user"`},
	}
	kind, number, _ := strings.Cut(until, " ")
	if until == "" {
		return data
	}
	var kept []byte
	left, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		kept = append(kept, line...)
		if bytes.Contains(line, []byte(marks[cli][kind])) {
			if left--; left == 0 {
				break
			}
		}
	}
	return kept
}
