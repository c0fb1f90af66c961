package guard

import (
	"context"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
	"relay/runners"
)

// refusal is where git is sent instead of a remote: no repository has that path, and git's error says why.
const refusal = "/relay does not let agents push (setting relay.push: false), so this is not pushed to "

// refusePush returns settings of git (NAME=VALUE) that have an agent's push fail with [refusal]: to any other machine, and to the remotes
// of a repository wherever they are. A push to a repository that a test has made for itself still works, and so does every fetch.
func refusePush(ctx context.Context, repo *git.Repo) (settings []string, err error) {
	out, err := repo.Run(ctx, git.Call{Args: []string{"config", "-z", "--get-regexp", `^remote\..*\.(push)?url$`}})
	if err != nil && git.ExitCode(err) != 1 { // there is none
		return nil, err
	}
	prefixes := []string{"https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://", "git@"}
	var only []string // addresses that are pushed to and not fetched from
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		switch {
		case url == "":
		case strings.HasSuffix(key, ".pushurl"):
			only = append(only, url)
		default:
			prefixes = append(prefixes, url)
			if seen := slot.Address(repo, url); seen != url { // as agents in slots have it
				prefixes = append(prefixes, seen)
			}
		}
	}
	for _, p := range prefixes {
		settings = append(settings, "url."+refusedAddress(p)+".pushInsteadOf="+p)
	}
	for _, p := range []string{"http://127.0.0.1:", "http://localhost:"} { // of tests; the longest match counts
		settings = append(settings, "url."+p+".pushInsteadOf="+p)
	}
	for _, p := range only { // git does not apply pushInsteadOf to these
		if !slices.ContainsFunc(prefixes, func(url string) bool { return strings.HasPrefix(url, p) }) {
			settings = append(settings, "url."+refusedAddress(p)+".insteadOf="+p)
		}
	}
	return settings, nil
}

// refusedAddress is where git is sent instead of an address that begins with p.
func refusedAddress(p string) string {
	if strings.Contains(p, "=") { // it would end the setting's name
		return refusal
	}
	if _, rest, named := strings.Cut(p, "://"); named { // git would take all before it for the name of a protocol
		p = rest
	}
	return refusal + p
}

// reportPushes gates a task whose slot has pushed all the same, as the slot's logs say.
func (w *Guard) reportPushes(at Site, s *Sightings) {
	if w.Options.Push || at.Shared || at.Repo.CommonDir() == w.Home.CommonDir() {
		return
	}
	if branches := slot.Pushed(at.Repo); len(branches) > 0 {
		s.ByAgent("the agent has pushed, although relay.push is false: " + plaintext.Listed(branches) + " was moved")
	}
}

// Env is the agents' environment plus relay's own variables.
func (w *Guard) Env(a engine.Attempt, result string) []string {
	env := append(make([]string, 0, len(w.Options.Env)+4), w.Options.Env...)
	env = append(env, "RELAY_EPIC="+w.Options.Epic.ID, "RELAY_TASK="+a.Task.ID, "RELAY_DIR="+w.Options.Dir)
	if result != "" {
		env = append(env, "RELAY_RESULT="+result)
	}
	env = append(env, w.Options.TraceEnv(a.Run, a.Task.ID, a.Number)...)
	return append(env, runners.GitSettings(env, w.noPush...)...)
}

// CommandEnv is the environment of a command. One that is about the whole epic does not see for which task it runs: its result holds
// for others as well.
func (w *Guard) CommandEnv(a engine.Attempt, ofEpic bool) []string {
	env := append(w.Env(a, ""), w.Options.CommandEnv...)
	if ofEpic {
		env = slices.DeleteFunc(env, func(v string) bool {
			return strings.HasPrefix(v, "RELAY_TASK=") || strings.HasPrefix(v, "TRACEPARENT=")
		})
		env = append(env, w.Options.TraceEnv(a.Run, "", 0)...)
	}
	return env
}
