package gemini

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// home returns the folder in which Gemini CLI keeps its settings and sessions; "": there is none.
func home(env []string) string {
	if home := adapter.Variable(env, "GEMINI_CLI_HOME"); home != "" {
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
	own := runners.OwnSettings{Model: adapter.Variable(env, "GEMINI_MODEL")}
	for _, folder := range []string{filepath.Join(dir, ".gemini"), home(env)} {
		var s struct{ Model struct{ Name string } }
		adapter.UnmarshalJSONC(adapter.ReadSettings(folder, "settings.json"), &s)
		own.Model = cmp.Or(own.Model, s.Model.Name)
	}
	return own
}
