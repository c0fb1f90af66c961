package sessionkeeper

import (
	"encoding/json"
	"path/filepath"

	"relay/attempts"
	"relay/reanchor/git"
	"relay/runners"
)

// Fork says of what a session is a branch, in a file beside its transcript: no event of the log tells of it. A session in which an agent
// was asked for a plan is the branch of none.
type Fork struct {
	Plan    bool   `json:"plan,omitempty"`   // it was asked for a plan
	Session string `json:"session"`          // the conversation that was forked
	Turn    string `json:"turn"`             // in the place of which it goes on
	Parent  string `json:"parent,omitempty"` // the turn before that one, which it follows; "": none
	Query   string `json:"query"`
	Runner  string `json:"runner"`
	Kind    string `json:"kind,omitempty"` // of the runner's CLI
	Model   string `json:"model,omitempty"`
	Base    string `json:"base"`              // commit
	Dir     string `json:"dir,omitempty"`     // where its agent works
	Summary string `json:"summary,omitempty"` // what came of it
}

// ForkFile is the name of that file.
const ForkFile = "fork.json"

// Write writes it into the folder of the session, in the place of what is there.
func (f *Fork) Write(folder string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return git.ReplaceFile(filepath.Join(folder, ForkFile), 0o600, append(text, '\n'))
}

func (f *Fork) context() string {
	of := map[string]any{"fork": map[string]string{"session": f.Session, "turn": f.Turn, "parent_turn": f.Parent, "base": f.Base}}
	if f.Plan {
		of = map[string]any{"plan": map[string]string{"base": f.Base}}
	}
	text, _ := json.Marshal(of) // texts
	return string(text)
}

// forks returns the forks below relay's folder that it can read.
func forks(dir string) (list []*attemptFacts) {
	runs := filepath.Join(dir, attempts.RunsDir)
	const maxForkFile = 1 << 20
	for _, path := range runners.Glob(runs, "*/*/1/"+ForkFile) {
		var f Fork
		text, err := runners.ReadRegular(path, maxForkFile)
		if err != nil || json.Unmarshal(text, &f) != nil || f.Turn == "" && !f.Plan {
			continue
		}
		task := filepath.Dir(filepath.Dir(path))
		list = append(list, &attemptFacts{
			run: filepath.Base(filepath.Dir(task)), task: filepath.Base(task), number: 1, agent: f.Runner, model: f.Model, kind: f.Kind, dir: f.Dir,
			summary: f.Summary, ended: true, fork: &f,
		})
	}
	return list
}
