package gemini

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// home returns the folder in which Gemini CLI keeps its settings and sessions; "": there is none.
func home(env []string) string {
	if home := runners.Variable(env, "GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return adapter.InHome(env, ".gemini")
}

// sessionFile finds the file of a session: of several the oldest, which a resumed session goes on in.
func sessionFile(env []string, session string) string {
	home := home(env)
	if home == "" || len(session) < 8 {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(home, "tmp", "*", "chats", "session-*-"+session[:8]+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return slices.MinFunc(found, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
}

// OwnSettings reads the settings of Gemini CLI: those in the checkout are stronger than those in the user's home.
func OwnSettings(env []string, dir, _ string) runners.OwnSettings {
	own := runners.OwnSettings{Model: runners.Variable(env, "GEMINI_MODEL")}
	for _, folder := range []string{filepath.Join(dir, ".gemini"), home(env)} {
		var s struct{ Model struct{ Name string } }
		adapter.UnmarshalJSONC(adapter.ReadSettings(folder, "settings.json"), &s)
		own.Model = cmp.Or(own.Model, s.Model.Name)
	}
	return own
}

// keptAnswers remembers which answers in the file of a session are counted.
type keptAnswers struct {
	since time.Time // when this run began, by the clock of its CLI: earlier ones are of another run
	ids   map[string]struct{}
}

const maxAnswers = 20_000 // ids that are remembered; what comes after is not counted

// record counts what a line of the file tells.
func (k *keptAnswers) record(line []byte, asked *adapter.Requests) {
	var r sessionRecord
	if json.Unmarshal(line, &r) != nil {
		return
	}
	at, err := time.Parse(time.RFC3339, r.Time)
	if err != nil || at.Before(k.since) {
		return
	}
	_, counted := k.ids[r.ID]
	switch {
	case r.Type == "user":
		asked.AskAt(at)
	case r.Type == "gemini" && r.Tokens != nil && !counted && len(k.ids) < maxAnswers:
		if k.ids == nil {
			k.ids = map[string]struct{}{}
		}
		k.ids[r.ID] = struct{}{}
		asked.Report(r.Tokens.usage())
	}
}
