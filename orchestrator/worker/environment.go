package worker

import (
	"slices"
	"strings"

	"relay/orchestrator/engine"
	"relay/runners"
)

// env is the agents' environment plus relay's own variables.
func (g *workspace) env(a engine.Attempt, result string) []string {
	env := append(make([]string, 0, len(g.o.Env)+4), g.o.Env...)
	env = append(env, "RELAY_EPIC="+g.o.Epic.ID, "RELAY_TASK="+a.Task.ID, "RELAY_DIR="+g.o.Dir)
	if result != "" {
		env = append(env, "RELAY_RESULT="+result)
	}
	return append(env, runners.GitSettings(env, g.noPush.settings...)...)
}

// commandEnv is what a command is told. One that is about the whole epic is not told for which task it is run: what it says
// holds for others as well.
func (g *workspace) commandEnv(a engine.Attempt, ofEpic bool) []string {
	env := append(g.env(a, ""), g.o.CommandEnv...)
	if ofEpic {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "RELAY_TASK=") })
	}
	return env
}
