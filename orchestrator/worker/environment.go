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

// agentEnv is env for an agent. A commit must not ask anybody for a signature, nor git for a password; and in a worktree of
// relay's an agent that loses its .git must not find the user's. Who may not push is not logged in anywhere either.
func (c agentTurns) agentEnv(a engine.Attempt, result string) []string {
	env := append(c.env(a, result), "GIT_TERMINAL_PROMPT=0")
	if c.ceiling != "" {
		env = append(env, "GIT_CEILING_DIRECTORIES="+c.ceiling)
	}
	settings := []string{"commit.gpgSign=false"}
	if !c.o.Push {
		settings = append(settings, "credential.helper=") // an empty one takes back those that are configured
	}
	if c.excludes != "" {
		settings = append(settings, "core.excludesFile="+c.excludes)
	}
	return append(env, runners.GitSettings(env, settings...)...)
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
