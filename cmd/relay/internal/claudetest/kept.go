package claudetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kept is a line of the file of a session.
type kept struct {
	Type    string `json:"type"`
	ID      string `json:"uuid"`
	Parent  string `json:"parentUuid,omitempty"`
	Session string `json:"sessionId"`
	Message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"message"`
}

// keep adds what was asked, and an answer, to the file of the session.
func keep(answer string) {
	folder, err := os.Getwd()
	Must(err)
	project := strings.NewReplacer("/", "-", ".", "-").Replace(folder)
	path := filepath.Join(os.Getenv("HOME"), ".claude", "projects", project, session()+".jsonl")
	Must(os.MkdirAll(filepath.Dir(path), 0o700))
	prompt, err := os.ReadFile(os.Getenv("RELAY_PROMPT"))
	Must(err)
	last := ""
	old := read(path)
	if len(old) > 0 {
		last = old[len(old)-1].ID
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	Must(err)
	for i, role := range []string{"user", "assistant"} {
		line := kept{Type: role, ID: fmt.Sprintf("id-%d", len(old)+i), Parent: last, Session: session()}
		line.Message.Role, line.Message.Content = role, answer
		if role == "user" {
			line.Message.Content = string(prompt)
		}
		text, err := json.Marshal(line)
		Must(err)
		_, err = fmt.Fprintln(file, string(text))
		Must(err)
		last = line.ID
	}
	Must(file.Close())
}

// read returns the lines of the file of a session; none when it is not there.
func read(path string) (list []kept) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	Must(err)
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		var one kept
		if err != nil {
			return list
		}
		Must(json.Unmarshal(line, &one))
		list = append(list, one)
	}
}

// forks finds the place in another session from which it is to go on, as claude does: by the file. The variable FAKE_KNOWN has the last
// message that stays then.
func forks() {
	if argument("--fork-session") == "" {
		return
	}
	list := read(argument("--resume"))
	at := slices.IndexFunc(list, func(k kept) bool { return k.ID == argument("--resume-session-at") })
	if at < 0 {
		Emit(Final(map[string]any{
			"subtype": "error_during_execution", "is_error": true,
			"errors": []string{"No message found with message.uuid of: " + argument("--resume-session-at")},
		}))
		os.Exit(1)
	}
	Must(os.Setenv("FAKE_KNOWN", list[at].Message.Content))
}

// argument returns the word behind a flag, the flag itself for one without any, and "" when it is not there.
func argument(flag string) string {
	at := slices.Index(os.Args, flag)
	if at < 0 {
		return ""
	}
	if at+1 < len(os.Args) && !strings.HasPrefix(os.Args[at+1], "--") {
		return os.Args[at+1]
	}
	return flag
}

// session is the id of the session.
func session() string {
	if argument("--fork-session") != "" {
		return argument("--session-id")
	}
	return Session
}
