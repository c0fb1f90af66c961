package runnertest

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

// VoiceVariable makes a test binary whose TestMain is [Main] a fake agent: its value names the voice.
const VoiceVariable = "RUNNERTEST_VOICE"

// lines is the voice that [Prints] asks for.
const lines = "lines"

// Main is the TestMain of a package that tests a runner. It makes the test binary its own fake agents, by their voices, and its own
// guardian.
func Main(m *testing.M, voices map[string]Voice) {
	name := os.Getenv(VoiceVariable)
	if voice, ok := voices[name]; ok {
		os.Exit(Play(voice))
	}
	if name == lines {
		os.Exit(playLines())
	}
	if len(os.Args) == 2 && os.Args[1] == "__guardian" {
		if err := process.ServeGuardian(os.Stdin, os.Stdout); err != nil {
			os.Exit(97)
		}
		os.Exit(0)
	}
	os.Setenv(LeakVariable, "1")
	os.Exit(m.Run())
}

// playLines prints the lines of the file STREAM names, and ends as EXIT says. With STAYS it makes [ReadyFile] and hangs.
func playLines() int {
	os.WriteFile("argv", []byte(strings.Join(os.Args[1:], "\n")), 0o600)
	data, err := os.ReadFile(os.Getenv("STREAM"))
	if err != nil {
		return 98
	}
	if prompt, err := io.ReadAll(os.Stdin); err == nil {
		os.WriteFile("stdin", prompt, 0o600)
	}
	os.Stderr.WriteString(os.Getenv("STDERR"))
	os.Stdout.Write(data)
	if os.Getenv("STAYS") != "" {
		os.WriteFile(ReadyFile, nil, 0o600)
		<-time.After(time.Minute)
	}
	code, _ := strconv.Atoi(os.Getenv("EXIT"))
	return code
}

// Event prints one line of a stream, with "type" not the first key: json sorts them.
func Event(w io.Writer, e map[string]any) {
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(e); err != nil {
		panic(err)
	}
	w.Write(line.Bytes())
}

// Self returns the path of the test binary.
func Self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// Program returns the program that plays an act: the test binary, or for [Missing] a path with nothing there.
func Program(t *testing.T, act Act) string {
	t.Helper()
	if act == Missing {
		return filepath.Join(t.TempDir(), "no-such-agent")
	}
	return Self(t)
}

// Request returns a request in folders of its own.
func Request(tb testing.TB, env ...string) runners.Request {
	tb.Helper()
	work, records := tb.TempDir(), tb.TempDir()
	in := func(name string) string { return filepath.Join(records, name) }
	if err := os.WriteFile(in("brief.md"), []byte("do the thing\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return runners.Request{
		Mark: "run/T1/2", Dir: work, Prompt: in("brief.md"), Result: in("result.json"), Transcript: in("transcript.jsonl"),
		Stderr: in("stderr.log"), End: in("end.json"), Env: append([]string{"PATH=" + os.Getenv("PATH")}, env...),
		Limits: runners.Limits{Wall: 5 * time.Minute, StopGrace: time.Minute},
	}
}

// Prints returns a request for a fake CLI that prints the lines: its program is [Self], with [Main] as TestMain. More of what it does
// is said in the request's environment: see playLines.
func Prints(t *testing.T, text ...string) runners.Request {
	t.Helper()
	stream := filepath.Join(t.TempDir(), "stream.jsonl")
	WriteFile(t, stream, []byte(strings.Join(text, "\n")))
	return Request(t, VoiceVariable+"="+lines, "STREAM="+stream)
}

// Local returns the supervisor for a request. The limits of an agent that stays count once it has printed everything.
func Local(req runners.Request) process.Supervisor {
	if slices.Contains(req.Env, "STAYS=1") {
		return WhenReady{Supervisor: process.NewLocal()}
	}
	return process.NewLocal()
}

// Run runs a request; an error ends the test.
func Run(t *testing.T, r runners.Runner, req runners.Request) runners.Report {
	t.Helper()
	report, err := r.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// WriteFile writes a file and the folders above it.
func WriteFile(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// Guardian starts a guardian for the test. The package's TestMain is [Main].
func Guardian(tb testing.TB) *process.Guardian {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	g, err := process.StartGuardian([]string{exe, "__guardian"}, []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Errorf("close the guardian: %v", err)
		}
	})
	return g
}
