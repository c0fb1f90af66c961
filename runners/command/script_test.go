package command_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func TestScriptMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"", "s.yml: script is empty"},
		{strings.Repeat("#", 1<<20+1), "s.yml: script has 1048577 bytes, more than 1048576"},
		{"- a", "s.yml: yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq"},
		{"session:\n  T1: []", "line 1: field session not found"},
		{"sessions:\n  T1:\n    - write: {path: a, text: b}", "line 3: cannot unmarshal !!map into []command.step"},
		{"sessions:\n  T1:\n    - - wirte: {path: a, text: b}", `line 3: unknown step "wirte"`},
		{"sessions:\n  T1:\n    - - print: a\n        fail: b", "line 3: a step is a mapping with one key"},
		{"sessions:\n  T1:\n    - - write: {path: a, txt: b}", `line 3: write: "txt" is not one of path, text`},
		{"sessions:\n  T1:\n    - - exit: many", "line 3: exit: yaml: unmarshal errors:\n  line 3: cannot unmarshal !!str `many` into uint8"},
		{"sessions:\n  T1:\n    - - run: make", "run: yaml"},
		{"sessions:\n  T1:\n    - - sleep: long", "sleep: yaml"},
		{"sessions:\n  T1:\n    - - print: []", "print: yaml"},
		{"sessions:\n  T1:\n    - - flood: {bytes: many}", "flood: yaml"},
		{"sessions:\n  T1:\n    - - write: a", "write: yaml"},
		{"sessions:\n  T1:\n    - - hang: yes", "hang: not one of polite, stubborn"},
		{"sessions:\n  T1:\n    - []\n  T1:\n    - []", `line 4: mapping key "T1" already defined at line 2`},
		{"sessions: [", "s.yml: yaml: "},
	} {
		_, err := command.ParseScript("s.yml", []byte(c.script))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.script, err, c.want)
		}
	}
	_, err := command.ParseScript("s.yml", []byte("sessions:\n  T1:\n    - - a: 1\n      - b: 2\n"))
	if err == nil || strings.Count(err.Error(), "unknown step") != 2 {
		t.Errorf("got %v, want both mistakes", err)
	}
}

// act runs a script in a folder and returns its exit status, stdout and stderr.
func act(t *testing.T, dir, mark, prompt, text string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = command.RunScript(t.Context(), []byte(text), command.ScriptEnv{
		Name: "s.yml", Dir: dir, Stdin: strings.NewReader(prompt), Stdout: &out, Stderr: &errs,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RELAY_ATTEMPT=" + mark, "RELAY_RESULT=" + filepath.Join(dir, "result.json")},
	})
	return code, out.String(), errs.String()
}

func TestScriptSessions(t *testing.T) {
	t.Parallel()
	const text = `
sessions:
  T1:
    - - print: first
    - - print: second
  T1/review:
    - - print: looks at it
  "*":
    - - print: any task
`
	for mark, want := range map[string]string{
		"run/T1/1": "first", "run/T1/2": "second", "run/T1/7": "second", "run/T1/1/review": "looks at it",
		"run/T2/1": "any task", "run/T2/2": "any task", "run/T1": "first",
	} {
		if code, got, stderr := act(t, t.TempDir(), mark, "", text); code != 0 || got != want+"\n" {
			t.Errorf("%s: got %q, exit status %d (%s), want %q", mark, got, code, stderr, want)
		}
	}
	if code, _, stderr := act(t, t.TempDir(), "run/T2/1/review", "", text); code != 65 || !strings.Contains(stderr, "scripted agent: s.yml has no session for run/T2/1/review") {
		t.Errorf("got exit status %d, %q", code, stderr)
	}
}

func TestScriptSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := exec.Command("git", "init", "-q", dir).Run(); err != nil {
		t.Skipf("needs git: %v", err)
	}
	code, stdout, stderr := act(t, dir, "run/T1/1", "please greet", `
sessions:
  T1:
    - - expect: greet
      - reject: previous attempts
      - write: {path: sub/a.txt, text: "one\n"}
      - append: {path: sub/a.txt, text: "two\n"}
      - edit: {path: sub/a.txt, old: one, new: uno}
      - write: {path: gone.txt, text: x}
      - delete: gone.txt
      - run: [git, config, user.name, Someone]
      - commit: "T1: greet"
      - sleep: 1ms
      - flood: {bytes: 25, line: 10}
      - fence: {status: success, summary: s}
      - claim: {status: success, summary: s}
      - exit: 3
      - print: never
`)
	if code != 3 || stderr != "" {
		t.Errorf("exit status %d, %q", code, stderr)
	}
	if want := "xxxxxxxxx\nxxxxxxxxx\nxxxxx```relay-result\n{\"status\":\"success\",\"summary\":\"s\"}\n```\n"; stdout != want {
		t.Errorf("got stdout %q, want %q", stdout, want)
	}
	for name, want := range map[string]string{"sub/a.txt": "uno\ntwo\n", "result.json": `{"status":"success","summary":"s"}`} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
	log, err := exec.Command("git", "-C", dir, "log", "--format=%s by %an", "--name-only").Output()
	if want := "T1: greet by Scripted Agent\n\nsub/a.txt\n"; err != nil || string(log) != want {
		t.Errorf("got log %q, %v; want %q", log, err, want)
	}
}

func TestScriptFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step   string
		code   int
		stderr string
	}{
		{`expect: something else`, 66, `line 2: expect "something else": not so`},
		{`reject: prompt`, 66, `reject "prompt": not so`},
		{`fail: on purpose`, 1, "on purpose"},
		{`run: [sh, -c, exit 5]`, 5, "exit status 5"},
		{`run: [no-such-program]`, 67, "s.yml:2: run:"},
		{`edit: {path: none, old: a, new: b}`, 67, "s.yml:2: edit:"},
		{`write: {path: a, text: b}}, {edit: {path: a, old: c, new: d}`, 67, `s.yml:2: edit: a does not hold "c"`},
		{`bogus: 1`, 64, "unknown step"},
	} {
		code, _, stderr := act(t, t.TempDir(), "run/T1/1", "the prompt", "sessions:\n  T1: [[{"+c.step+"}]]\n")
		if code != c.code || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: got exit status %d, %q; want %d, %q", c.step, code, stderr, c.code, c.stderr)
		}
	}
}

func TestScriptWithoutResultPath(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	code := command.RunScript(t.Context(), []byte("sessions:\n  T1: [[{claim: done}]]\n"), command.ScriptEnv{
		Name: "s.yml", Stdin: strings.NewReader(""), Stdout: &errs, Stderr: &errs, Environ: []string{"RELAY_ATTEMPT=run/T1/1"},
	})
	if want := "scripted agent: s.yml:2: claim: RELAY_RESULT is not set\n"; code != 67 || errs.String() != want {
		t.Errorf("got exit status %d, %q, want %q", code, errs.String(), want)
	}
}

// TestLeftBehind fails when an agent's daemon outlives it, or nobody is told. It runs alone: beside others, whose an
// unmarked process is can be in doubt.
func TestLeftBehind(t *testing.T) { //nolint:paralleltest // beside others it is in doubt whose an unmarked process is
	if runtime.GOOS != "linux" {
		t.Skip("what leaves its session is found on Linux")
	}
	for _, step := range []string{"daemon", "stray"} {
		path := filepath.Join(t.TempDir(), "script.yml")
		text := "sessions:\n  T1:\n    - - " + step + ": [sleep, \"60\"]\n      - print: on my way\n      - claim: {status: success, summary: s}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var heard []runners.Event
		req := runnertest.Request(t)
		req.Observe = func(e runners.Event) { heard = append(heard, e) }
		r := runnertest.Run(t, command.New(process.NewLocal(), command.Options{Argv: []string{runnertest.Self(t), "__agent", path}, Final: true}), req)
		if r.Outcome != runners.Claimed || r.Exit.Strays != 1 || r.Detail != "it left a process running" {
			t.Errorf("%s: got %q (%s), %+v", step, r.Outcome, r.Detail, r.Exit)
		}
		if len(heard) != 1 || heard[0] != (runners.Event{Kind: runners.EventText, Text: "on my way"}) {
			t.Errorf("%s: heard %+v", step, heard)
		}
	}
}

func TestScriptedConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		path := filepath.Join(t.TempDir(), "script.yml")
		text := "sessions:\n  \"*\":\n    - - " + strings.Join(scripts[act], "\n      - ") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return runnertest.Cast{Runner: command.New(sup, command.Options{
			Argv: []string{runnertest.Program(t, act), "__agent", path}, Final: true,
		})}
	})
}

// deafens makes ReadyFile once the agent ignores TERM, where the system shows that.
const deafens = `daemon: [sh, -c, "while test -d /proc/$PPID && ! grep -qi '^SigIgn:.*[4-7c-f]...$' /proc/$PPID/status; do :; done; touch ready"]`

// scripts are the acts as scripts.
var scripts = map[runnertest.Act][]string{
	runnertest.Succeed:    {`claim: {status: success, summary: did it}`},
	runnertest.Fail:       {`fence: {status: failure, summary: tried, error_summary: could not do it}`},
	runnertest.SayNothing: {`print: done`},
	runnertest.Babble:     {`claim: I think it went well`},
	runnertest.BeNoisy:    {`stderr: "warning: {}"`, `print: "{not json"`, `fence: {status: success, summary: did it}`},
	runnertest.HugeLine:   {`flood: {bytes: 20000000}`, `print: ""`, `fence: {status: success, summary: did it}`},
	runnertest.Flood:      {`flood: {bytes: 64000000, line: 100}`, `fence: {status: success, summary: did it}`},
	runnertest.Garbage: {
		`print: "be\x00fore \e[31mred \u202eafter"`,
		`claim: {status: success, summary: "be\x00fore \e[31mred\e[0m \u202eafter"}`,
	},
	runnertest.Hang:       {`write: {path: ready, text: ""}`, `hang: polite`},
	runnertest.Stubborn:   {deafens, `hang: stubborn`},
	runnertest.Linger:     {`claim: {status: success, summary: did it}`, `write: {path: ready, text: ""}`, `hang: polite`},
	runnertest.Crash:      {`fail: boom`},
	runnertest.ReadPrompt: {`expect: "` + runnertest.PromptEnd + `"`, `fence: {status: success, summary: did it}`},
	runnertest.LookAround: {
		`run: [sh, -c, "tr '\\0' ' ' < /proc/$PPID/cmdline > argv; env | grep -v -e ^_= -e ^PWD= -e ^SHLVL= -e ^OLDPWD= > env"]`,
		`fence: {status: success, summary: did it}`,
	},
	runnertest.LinkResult: {`run: [sh, -c, "echo '{\"status\":\"success\",\"summary\":\"x\"}' > elsewhere.json; ln -s \"$PWD/elsewhere.json\" \"$RELAY_RESULT\""]`},
	runnertest.Missing:    {`exit: 0`},
}
