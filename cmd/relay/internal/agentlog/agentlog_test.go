package agentlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/orchestrator/relayfiles"
)

// log writes the transcript of an attempt, and returns a viewer of it with what it prints.
func log(t *testing.T, text string, o Options) (v *Viewer, at Attempt, path string, out, said *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "runs", "r1", "T1", "1", relayfiles.Transcript)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said = new(bytes.Buffer), new(bytes.Buffer)
	p := &project.Project{Dir: dir, Config: &configs.Config{}}
	v = NewViewer(&cli.App{Out: terminal.NewWriter(out), Err: terminal.NewWriter(said)}, p, o)
	return v, Attempt{"T1", &attempts.Attempt{ID: 1, Run: "r1", Runner: "codex", EndedAt: time.Unix(1, 0)}}, path, out, said
}

const begins = `{"type":"thread.started","thread_id":"t"}` + "\n"

// says is a message as codex prints it.
func says(text string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":"%d","type":"agent_message","text":%q}}`+"\n", len(text), text)
}

// What one event takes is no more than the largest part that is read.
func TestLongLinesAreNotRead(t *testing.T) {
	t.Parallel()
	v, at, _, out, said := log(t, begins+says("first")+says(strings.Repeat("x", relayfiles.MaxLine))+says("last"), Options{Tail: 2})
	if err := v.Show([]Attempt{at}); err != nil {
		t.Fatal(err)
	}
	want := "T1 attempt 1, codex:\n         note     a line is too long to be read\n         says     last\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if said.String() != "relay: note: this is the end of the log; --all prints everything\n" {
		t.Errorf("said %q", said)
	}
}

// A compressed log is read as one that is not, a message that never ends as well, and a hole is told.
func TestCompressedLog(t *testing.T) {
	t.Parallel()
	text := begins + says("first") + strings.Repeat("\x00", 70<<10) + says("then") + says(strings.Repeat("é", mostSaid)) + `{"type":`
	v, at, path, out, _ := log(t, text, Options{})
	if err := v.Show([]Attempt{at}); err != nil {
		t.Fatal(err)
	}
	plain := out.String()
	if n := relayfiles.CompressTranscripts(t.Context(), filepath.Dir(path), func(string) bool { return false }); n == 0 {
		t.Fatal("it was not compressed")
	}
	for _, tail := range []int{0, 200} {
		v.options.Tail, v.source = tail, ""
		out.Reset()
		if err := v.Show([]Attempt{at}); err != nil || out.String() != plain {
			t.Errorf("last %d: got %d bytes, want %d; %v", tail, out.Len(), len(plain), err)
		}
	}
	for _, want := range []string{
		" note     71680 bytes of the log were dropped here\n", " says     then\n", "é…\n", " note     the log ends in the middle of a line\n",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// What an agent printed when it was asked for its result alone is named.
func TestSourceOfResult(t *testing.T) {
	t.Parallel()
	v, at, path, out, _ := log(t, begins, Options{})
	folder := filepath.Join(filepath.Dir(path), "result")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, relayfiles.Transcript), []byte(begins+says("last")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := v.Show([]Attempt{at}); err != nil || out.String() != "T1 attempt 1, asked for its result, codex:\n         says     last\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// FuzzEntries fails when a line of any kind makes an entry that is too long, or stops the reader.
func FuzzEntries(f *testing.F) {
	f.Add("claude", []byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":["a",1]}}]}}`))
	f.Add("codex", []byte(`{"type":"item.completed","item":{"type":"command_execution","command":"ls","aggregated_output":"a\nb","exit_code":2}}`))
	f.Add("gemini", []byte(`{"type":"tool_result","status":"error","error":{"message":"no"}}`))
	f.Add("opencode", []byte(`{"type":"tool_use","part":{"tool":"x","state":{"status":"error","input":[1]}}}`))
	f.Add("command", []byte("\x00\x00[relay: 5 bytes dropped]"))
	f.Fuzz(func(t *testing.T, kind string, line []byte) {
		s := &stream{kind: kind, open: map[string]bool{}, clean: strings.Clone}
		take := func(e Entry) {
			if len(e.Text) > mostSaid+mostLines*4*lineLength || e.Kind == "" {
				t.Errorf("%s: %d bytes", e.Kind, len(e.Text))
			}
		}
		s.line(line, int64(len(line)), true, take)
		s.flush(take)
	})
}
