package gemini_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/runners"
	"relay/runners/gemini"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// What Gemini CLI keeps of a session that was resumed: a message is put in the place of itself, and all of them are written again.
const keptSession = `{"sessionId":"` + validSession + `","startTime":"then","kind":"main"}
{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]}]}}
{"id":"u1","type":"user","content":[{"text":"Write it.\n"}]}
{"id":"m1","type":"gemini","content":"I run a command."}
{"id":"m1","type":"gemini","content":"I run a command.","toolCalls":[{"name":"run_shell_command"}]}
{"id":"u2","type":"user","content":[{"functionResponse":{"name":"run_shell_command","response":{"output":"Fix it."}}}]}
{"id":"m2","type":"gemini","content":"I wr
{"id":"m2","type":"gemini","content":"I wrote it."}
{"$set":{"lastUpdated":"later","messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]},` +
	`{"id":"u1","type":"user","content":[{"text":"Write it.\n"}]},{"id":"m1","type":"gemini","content":"I run a command.","toolCalls":[{"name":"run_shell_command"}]},` +
	`{"id":"u2","type":"user","content":[{"functionResponse":{}}]},{"id":"m2","type":"gemini","content":"I wrote it."}]}}
{"id":"u3","type":"user","content":[{"text":"In what follows every @ is written \\@, so that your CLI takes no word for the name of a file to read out to you.\nRead \\@ as @, and write a plain @ yourself.\n\nAsk \\@ada."}]}
{"id":"m3","type":"gemini","content":"Asked."}
`

// lastArgument reads the file that is the last argument of what it starts.
type lastArgument struct {
	process.Supervisor
	text *[]byte
}

func (l lastArgument) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	*l.text, _ = os.ReadFile(cmd.Argv[len(cmd.Argv)-1])
	return l.Supervisor.Start(ctx, cmd)
}

// The CLI is given a copy of the session that ends before the place, or is not started.
func TestGeminiForks(t *testing.T) {
	t.Parallel()
	const gone = "its CLI has the session no more"
	kept := map[string]string{"tmp/a/chats/session-2026-" + validSession[:8] + ".jsonl": keptSession}
	for name, c := range map[string]struct {
		f     runners.Fork
		files map[string]string
		want  string // the copy, or why there is none
	}{
		"found": {runners.Fork{Session: validSession, Asked: "Ask @ada.", Of: 1}, kept, `{"kind":"main","lastUpdated":"later","messages":[` +
			`{"id":"c","type":"user","content":[{"text":"\u003csession_context\u003e\nThis is the Gemini CLI."}]},{"id":"u1","type":"user","content":[{"text":"Write it.\n"}]},` +
			`{"id":"m1","type":"gemini","content":"I run a command.","toolCalls":[{"name":"run_shell_command"}]},{"id":"u2","type":"user","content":[{"functionResponse":{}}]},` +
			`{"id":"m2","type":"gemini","content":"I wrote it."}],"sessionId":"` + validSession + `","startTime":"then"}`},
		"the first":       {runners.Fork{Session: validSession, Asked: "Write it.", Of: 1}, kept, "nothing was said before that in its session"},
		"not asked":       {runners.Fork{Session: validSession, Asked: "Fix it.", Of: 1}, kept, "what its CLI has of the session is not what was recorded"},
		"no session":      {runners.Fork{Session: "latest", Asked: "Ask @ada.", Of: 1}, kept, gone},
		"another session": {runners.Fork{Session: validSession[:35] + "f", Asked: "Ask @ada.", Of: 1}, kept, gone},
		"no files":        {runners.Fork{Session: validSession, Asked: "Ask @ada.", Of: 1}, nil, gone},
	} {
		home := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(home, ".gemini", filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			runnertest.WriteFile(t, path, []byte(text))
		}
		req := geminiPrints(t, geminiInit, geminiPrompt, geminiClaim, geminiDone)
		req.Fork = &c.f
		var text []byte
		got := runnertest.Run(t, fakeGeminiOf(t, lastArgument{process.NewLocal(), &text}, gemini.Options{Env: []string{"GEMINI_CLI_HOME=" + home}}), req)
		argv, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			if got.Outcome != runners.NoSession || got.Detail != c.want {
				t.Errorf("%s: %s (%s), want %s", name, got.Outcome, got.Detail, c.want)
			}
			continue
		}
		copied := req.Prompt + ".session.json"
		if said := string(argv); !strings.HasSuffix(said, "--session-file\n"+copied) || strings.Contains(said, "--session-id") {
			t.Errorf("%s: the arguments are %q", name, said)
		}
		if string(text) != c.want {
			t.Errorf("%s: the copy is %s\nwant %s", name, text, c.want)
		}
		if _, err := os.Stat(copied); err == nil {
			t.Errorf("%s: the copy stays", name)
		}
	}
}
