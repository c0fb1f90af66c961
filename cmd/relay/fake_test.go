package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay/cmd/relay/internal/project"
)

// fakeClaude is a stand-in for Claude Code as claude 2.1 prints stream-json: a process like the real one, which does
// what a file in $HOME/claude says. The file is the first of TASK.N, TASK, all.N and all, with ".review" behind TASK or
// all for what is asked about an attempt, or ".review-again" when that is there and the agent has mended something, and
// ".fix" when the session goes on with what reviewers found, with the round for N, and ".asked" when it is asked for its
// result. Its lines:
//
//	write PATH TEXT    delete PATH     commit MESSAGE
//	say TEXT           a message of the agent
//	spend IN OUT       a message that took so many tokens
//	cost USD           what the final event says the run has cost
//	out TEXT           err TEXT        a line as it is, on stdout or stderr
//	result JSON        the final event, with JSON as the structured answer
//	answer TEXT        the final event, with TEXT as the agent's last words
//	fault STATUS       the final event of a run that failed with an HTTP status
//	limit              the end of a run that came to its usage limit, which is lifted in an hour
//	hang               run forever     stubborn PATH: the same, ignoring INT and TERM, with PATH written
//	await PATH         wait until the file is there
//	exit N
func fakeClaude() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("2.1.329 (Claude Code)")
		return
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil || len(prompt) == 0 {
		fmt.Fprintln(os.Stderr, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
		os.Exit(1)
	}
	file, err := os.Open(scenario(string(prompt)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake claude:", err)
		os.Exit(1)
	}
	defer file.Close()
	emit(map[string]any{"type": "system", "subtype": "init", "session_id": fakeSession, "model": "claude-fake", "tools": []string{}})
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		act(name, os.Expand(rest, os.Getenv))
	}
}

const fakeSession = "c9fdff09-3dfc-4542-9a6a-7470c81c6227"

// scenario finds the file for this attempt. Who is asked for a verdict is told so in the first line.
func scenario(prompt string) string {
	parts := append(strings.SplitN(os.Getenv("RELAY_ATTEMPT"), "/", 4), "", "", "")
	role, number := "", parts[2]
	switch {
	case strings.HasPrefix(prompt, "# Review of"):
		role = ".review"
	case slices.Contains(os.Args, "--resume"):
		role = ".asked"
		if _, round, mends := strings.Cut(prompt, "Review of your work, round "); mends {
			role, number = ".fix", round[:1]
		}
	}
	dir := filepath.Join(os.Getenv("HOME"), "claude")
	if again := filepath.Join(dir, parts[1]+".review-again"); strings.Contains(prompt, "What the agent says it has done") && project.Exists(again) {
		return again
	}
	for _, who := range []string{parts[1], "all"} {
		for _, which := range []string{role + "." + number, role} {
			if path := filepath.Join(dir, who+which); project.Exists(path) {
				return path
			}
		}
	}
	return filepath.Join(dir, parts[1])
}

func act(name, rest string) {
	path, text, _ := strings.Cut(rest, " ")
	switch name {
	case "", "#":
	case "write":
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		must(os.WriteFile(path, []byte(text+"\n"), 0o644))
	case "delete":
		must(os.RemoveAll(path))
	case "commit":
		must(exec.Command("git", "add", "-A").Run())
		must(exec.Command("git", "commit", "-q", "-m", rest).Run())
	case "say":
		emit(spoken(rest))
	case "spend":
		must(os.Setenv("FAKE_SPENT", fmt.Sprint(number("FAKE_SPENT")+number(path))))
		message := spoken("I think.")
		message["message"].(map[string]any)["id"] = fmt.Sprint("msg_", time.Now().UnixNano())
		message["message"].(map[string]any)["usage"] = map[string]any{"input_tokens": json.RawMessage(path), "output_tokens": json.RawMessage(text)}
		emit(message)
	case "cost":
		must(os.Setenv("FAKE_COST", path))
	case "out":
		fmt.Println(rest)
	case "err":
		fmt.Fprintln(os.Stderr, rest)
	case "result":
		emit(final(map[string]any{"subtype": "success", "is_error": false, "result": rest, "structured_output": json.RawMessage(rest)}))
	case "answer":
		emit(spoken(rest))
		emit(final(map[string]any{"subtype": "success", "is_error": false, "result": rest}))
	case "fault":
		emit(final(map[string]any{"subtype": "success", "is_error": true, "api_error_status": json.RawMessage(path), "result": text}))
		os.Exit(1)
	case "limit":
		emit(map[string]any{"type": "rate_limit_event", "session_id": fakeSession, "rate_limit_info": map[string]any{
			"status": "rejected", "resetsAt": time.Now().Add(time.Hour).Unix(), "rateLimitType": "five_hour",
		}})
		act("fault", "429 You've hit your session limit")
	case "await":
		for !project.Exists(path) {
			<-time.After(5 * time.Millisecond)
		}
	case "stubborn":
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		must(os.WriteFile(path, []byte("yes\n"), 0o644))
		act("hang", "")
	case "hang":
		<-time.After(24 * time.Hour) // a program without C that waits for nothing at all is ended by its runtime
	case "exit":
		var code int
		_, err := fmt.Sscan(rest, &code)
		must(err)
		os.Exit(code)
	default:
		must(fmt.Errorf("unknown line %q", name))
	}
}

func spoken(text string) map[string]any {
	return map[string]any{"type": "assistant", "session_id": fakeSession, "message": map[string]any{
		"id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
		"usage": map[string]any{"input_tokens": 1000, "output_tokens": 50},
	}}
}

func final(more map[string]any) map[string]any {
	event := map[string]any{
		"type": "result", "session_id": fakeSession, "num_turns": 1, "duration_ms": 1, "total_cost_usd": json.RawMessage(cmp.Or(os.Getenv("FAKE_COST"), "0.01")),
		"usage": map[string]any{"input_tokens": 1000 + number("FAKE_SPENT"), "output_tokens": 50}, "permission_denials": []any{},
	}
	maps.Copy(event, more)
	return event
}

// number reads a number, or the variable of that name.
func number(text string) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(text), text))
	if err != nil {
		return 0
	}
	return n
}

func emit(event map[string]any) {
	text, err := json.Marshal(event)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake claude:", err)
		os.Exit(70)
	}
}
