package codex

import (
	"bytes"
	"cmp"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// home returns the folder in which codex keeps its settings and sessions; "": there is none.
func home(env []string) string {
	return cmp.Or(adapter.Variable(env, "CODEX_HOME"), adapter.InHome(env, ".codex"))
}

// sessionFile finds the file of a session. It lies in a folder of the day on which the session began, which its id tells.
func sessionFile(env []string, session string) string {
	home := home(env)
	id, err := uuid.Parse(session)
	if home == "" || err != nil || id.Version() != 7 {
		return ""
	}
	began := time.Unix(id.Time().UnixTime())
	for _, day := range []int{0, -1, 1} { // its clock may be in another zone than ours
		pattern := filepath.Join(home, "sessions", began.AddDate(0, 0, day).Format("2006/01/02"), "rollout-*-"+session+".jsonl")
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
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
