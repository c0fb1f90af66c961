// Package claudetest is a stand-in for Claude Code in tests of relay as a program.
package claudetest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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

	"relay/reanchor/git"
)

// Run acts as a stand-in for Claude Code as claude 2.1 prints stream-json: a process like the real one, which does what
// a file in $HOME/claude says. The file is the first of TASK.N, TASK, all.N and all, with ".review" behind TASK or all
// for what is asked about an attempt, or ".review-again" when that is there and the agent has mended something,
// ".fix" when the session goes on with what reviewers found, with the round for N, and ".asked" when it is asked for its
// result. Its lines:
//
//	write PATH TEXT    append PATH TEXT
//	delete PATH        commit MESSAGE
//	say TEXT           a message of the agent
//	spend IN OUT       a message that took so many tokens
//	cost USD           what the final event says the run has cost
//	out TEXT           err TEXT        a line as it is, on stdout or stderr
//	result JSON        the final event, with JSON as the structured answer
//	answer TEXT        the final event, with TEXT as the agent's last words
//	file NAME          the same, with a file's text as its last words
//	fault STATUS       the final event of a run that failed with an HTTP status
//	limit              the end of a run that came to its usage limit, which is lifted in an hour
//	hang               run forever     stubborn PATH: the same, ignoring INT and TERM, with PATH written
//	await PATH TEXT    wait until the file is there and holds the text
//	exit N
func Run() {
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
	Emit(map[string]any{"type": "system", "subtype": "init", "session_id": Session, "model": "claude-fake", "tools": []string{}})
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		Act(name, os.Expand(rest, os.Getenv))
	}
}

// Session is the id of every session.
const Session = "c9fdff09-3dfc-4542-9a6a-7470c81c6227"

// scenario finds the file for this attempt. The first line of a reviewer's prompt asks for a verdict.
func scenario(prompt string) string {
	parts := append(strings.SplitN(os.Getenv("RELAY_ATTEMPT"), "/", 4), "", "", "")
	role, number := "", parts[2]
	switch {
	case strings.HasPrefix(prompt, "# Review of"):
		role = ".review"
	case slices.Contains(os.Args, "--resume"):
		role = ".asked"
		if n, mends := answerRound(); mends {
			number = n
		}
		if _, round, mends := strings.Cut(prompt, "Review of your work, round "); mends {
			role, number = ".fix", round[:1]
		}
	}
	dir := filepath.Join(os.Getenv("HOME"), "claude")
	if again := filepath.Join(dir, parts[1]+".review-again"); strings.Contains(prompt, "The agent's answer to them") && git.Exists(again) {
		return again
	}
	for _, who := range []string{parts[1], "all"} {
		for _, which := range []string{role + "." + number, role} {
			if path := filepath.Join(dir, who+which); git.Exists(path) {
				return path
			}
		}
	}
	return filepath.Join(dir, parts[1])
}

// answerRound returns the round of a conversation about a plan, by the folder of its prompt.
func answerRound() (n string, mends bool) {
	return strings.CutPrefix(filepath.Base(filepath.Dir(os.Getenv("RELAY_PROMPT"))), "fix-")
}

// Act carries out one line of a scenario.
func Act(name, rest string) {
	path, text, _ := strings.Cut(rest, " ")
	switch name {
	case "", "#":
	case "write":
		Must(os.MkdirAll(filepath.Dir(path), 0o755))
		Must(os.WriteFile(path, []byte(text+"\n"), 0o644))
	case "append":
		Must(os.MkdirAll(filepath.Dir(path), 0o755))
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		Must(err)
		_, err = file.WriteString(text + "\n")
		Must(errors.Join(err, file.Close()))
	case "delete":
		Must(os.RemoveAll(path))
	case "commit":
		Must(exec.Command("git", "add", "-A").Run())
		Must(exec.Command("git", "commit", "-q", "-m", rest).Run())
	case "cost":
		Must(os.Setenv("FAKE_COST", path))
	case "await":
		for !holds(path, text) {
			<-time.After(5 * time.Millisecond)
		}
	case "stubborn":
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		Must(os.WriteFile(path, []byte("yes\n"), 0o644))
		Act("hang", "")
	case "hang":
		<-time.After(24 * time.Hour) // a program without C that waits for nothing at all is ended by its runtime
	case "exit":
		var code int
		_, err := fmt.Sscan(rest, &code)
		Must(err)
		os.Exit(code)
	default:
		emit(name, rest)
	}
}

// holds reports whether a file is there and holds a text.
func holds(path, text string) bool {
	found, err := os.ReadFile(path)
	return err == nil && bytes.Contains(found, []byte(text))
}

// emit does what a line says of what is printed.
func emit(name, rest string) {
	path, text, _ := strings.Cut(rest, " ")
	switch name {
	case "say":
		Emit(Spoken(rest))
	case "spend":
		Must(os.Setenv("FAKE_SPENT", fmt.Sprint(number("FAKE_SPENT")+number(path))))
		message := Spoken("I think.")
		message["message"].(map[string]any)["id"] = fmt.Sprint("msg_", time.Now().UnixNano())
		message["message"].(map[string]any)["usage"] = map[string]any{
			"input_tokens": json.RawMessage(path), "output_tokens": json.RawMessage(text),
		}
		Emit(message)
	case "out":
		fmt.Println(rest)
	case "err":
		fmt.Fprintln(os.Stderr, rest)
	case "result":
		Emit(Final(map[string]any{"subtype": "success", "is_error": false, "result": rest, "structured_output": json.RawMessage(rest)}))
	case "answer":
		Emit(Spoken(rest))
		Emit(Final(map[string]any{"subtype": "success", "is_error": false, "result": rest}))
	case "file":
		words, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "claude", path))
		Must(err)
		Emit(Spoken(string(words)))
		Emit(Final(map[string]any{"subtype": "success", "is_error": false, "result": string(words)}))
	case "fault":
		Emit(Final(map[string]any{"subtype": "success", "is_error": true, "api_error_status": json.RawMessage(path), "result": text}))
		os.Exit(1)
	case "limit":
		Emit(map[string]any{"type": "rate_limit_event", "session_id": Session, "rate_limit_info": map[string]any{
			"status": "rejected", "resetsAt": time.Now().Add(time.Hour).Unix(), "rateLimitType": "five_hour",
		}})
		Act("fault", "429 You've hit your session limit")
	default:
		Must(fmt.Errorf("unknown line %q", name))
	}
}

// Spoken returns the event of a message.
func Spoken(text string) map[string]any {
	return map[string]any{"type": "assistant", "session_id": Session, "message": map[string]any{
		"id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
		"usage": map[string]any{"input_tokens": 1000, "output_tokens": 50},
	}}
}

// Final returns the last event of a run, with more fields or others.
func Final(more map[string]any) map[string]any {
	event := map[string]any{
		"type": "result", "session_id": Session, "num_turns": 1, "duration_ms": 1,
		"total_cost_usd": json.RawMessage(cmp.Or(os.Getenv("FAKE_COST"), "0.01")),
		"usage":          map[string]any{"input_tokens": 1000 + number("FAKE_SPENT"), "output_tokens": 50}, "permission_denials": []any{},
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

// Emit prints an event.
func Emit(event map[string]any) {
	text, err := json.Marshal(event)
	Must(err)
	fmt.Println(string(text))
}

// Must ends the process when there is an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake claude:", err)
		os.Exit(70)
	}
}
