package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// forkOf returns the arguments with which the CLI goes on from a place in a session of its own, in a new session and from any folder; none
// for no place. It looks for the file in which the CLI keeps that session, and fails when it is gone or has no such place.
func forkOf(ctx context.Context, env []string, f *runners.Fork) ([]string, error) {
	if f == nil {
		return nil, nil
	}
	err := runners.ErrSessionGone
	for _, path := range sessionFiles(env, f.Session) {
		var last string
		if last, err = lastBefore(ctx, path, f); err == nil {
			// By its path the CLI finds a session from any folder, by its id only some versions do.
			return []string{"--resume", path, "--fork-session", "--resume-session-at", last}, nil
		}
	}
	return nil, err
}

// sessionFiles returns the files in which the CLI keeps a session. One that went on in several folders may have several.
func sessionFiles(env []string, session string) (files []string) {
	home := cmp.Or(adapter.Variable(env, "CLAUDE_CONFIG_DIR"), adapter.InHome(env, ".claude"))
	if home == "" || adapter.SessionID(session, "") == "" {
		return nil
	}
	folders, _ := os.ReadDir(filepath.Join(home, "projects"))
	for _, folder := range folders {
		path := filepath.Join(home, "projects", folder.Name(), session+".jsonl")
		if _, err := os.Lstat(path); err == nil {
			files = append(files, path)
		}
	}
	return files
}

// keptLine is what a line of the file says of its place in the conversation.
type keptLine struct {
	Type      string `json:"type"`
	ID        string `json:"uuid"`
	Parent    string `json:"parentUuid"` // what it follows
	Sidechain bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"` // said by the CLI itself
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// lastBefore returns the id of what a place in a session follows.
func lastBefore(ctx context.Context, path string, f *runners.Fork) (string, error) {
	var asked, follows []string
	err := adapter.EachLine(ctx, path, func(line []byte) {
		var l keptLine
		if json.Unmarshal(line, &l) != nil || l.Type != "user" || l.Sidechain || l.Meta {
			return // also half a line, of a CLI that was killed
		}
		if text := l.text(); text != "" {
			asked, follows = append(asked, text), append(follows, l.Parent)
		}
	})
	if err != nil {
		return "", err
	}
	n, err := f.Find(asked)
	if err == nil && adapter.SessionID(follows[n], "") == "" {
		err = runners.ErrSessionGone
	}
	if err != nil {
		return "", err
	}
	return follows[n], nil
}

// text returns what a person or relay has asked in a line; "" for what a tool has answered.
func (l *keptLine) text() string {
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		return text
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		if b.Type == "text" {
			text += b.Text
		}
	}
	return text
}
