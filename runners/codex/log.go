package codex

import (
	"bytes"
	"cmp"

	"github.com/google/uuid"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// home returns the folder in which codex keeps its settings and sessions; "": there is none.
func home(env []string) string {
	return cmp.Or(runners.Variable(env, "CODEX_HOME"), adapter.InHome(env, ".codex"))
}

// sessionFile finds the file of a session; "": there is none.
func sessionFile(env []string, session string) string {
	if uuid.Validate(session) != nil {
		return ""
	}
	return append(runners.Glob(home(env), "sessions/*/*/*/rollout-*-"+session+".jsonl"), "")[0]
}

// OwnSettings reads the settings of codex.
func OwnSettings(env []string, _, _ string) runners.OwnSettings {
	text := adapter.ReadSettings(home(env), "config.toml")
	top, _, _ := bytes.Cut(append([]byte("\n"), text...), []byte("\n[")) // what follows is of a section
	if m := modelPattern.FindSubmatch(top); m != nil {
		return runners.OwnSettings{Model: string(m[1])}
	}
	return runners.OwnSettings{}
}

var modelPattern = pattern.New(`(?m)^\s*model\s*=\s*["']([^"'\n]+)["']`)
