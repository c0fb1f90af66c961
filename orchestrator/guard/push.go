package guard

import (
	"context"
	"errors"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
	"relay/runners"
)

// noPush keeps agents from pushing: to any other machine, and to the remotes of this repository wherever they
// are. A push to a repository that a test has made for itself still works, and so does every fetch.
type noPush struct {
	settings []string // of git, NAME=VALUE: a push fails with [refusal]
	remotes  []string // names
	prefixes []string // beginnings of addresses
}

// refusal is where git is sent instead of a remote: no repository has that path, and git's error says why.
const refusal = "/relay does not let agents push (setting relay.push: false), so this is not pushed to "

// refusePush looks at the remotes of a repository.
func refusePush(ctx context.Context, repo *git.Repo) (n noPush, err error) {
	out, err := repo.Run(ctx, git.Call{Args: []string{"config", "-z", "--get-regexp", `^remote\..*\.(push)?url$`}})
	var none *git.Error
	if err != nil && (!errors.As(err, &none) || none.Code != 1) {
		return n, err
	}
	n.prefixes = []string{"https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://", "git@"}
	var only []string // addresses that are pushed to and not fetched from
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		name, isPush := strings.CutSuffix(strings.TrimPrefix(key, "remote."), ".pushurl")
		switch {
		case url == "":
		case isPush:
			only = append(only, url)
		default:
			n.prefixes = append(n.prefixes, url)
			if seen := slot.Address(repo, url); seen != url { // as agents in slots have it
				n.prefixes = append(n.prefixes, seen)
			}
			n.remotes = append(n.remotes, strings.TrimSuffix(name, ".url"))
		}
	}
	for _, p := range n.prefixes {
		n.settings = append(n.settings, "url."+refusedAddress(p)+".pushInsteadOf="+p)
	}
	for _, p := range []string{"http://127.0.0.1:", "http://localhost:"} { // of tests; the longest match counts
		n.settings = append(n.settings, "url."+p+".pushInsteadOf="+p)
	}
	for _, p := range only { // git does not apply pushInsteadOf to these
		if !slices.ContainsFunc(n.prefixes, func(url string) bool { return strings.HasPrefix(url, p) }) {
			n.settings = append(n.settings, "url."+refusedAddress(p)+".insteadOf="+p)
		}
	}
	n.prefixes = append(n.prefixes, only...)
	return n, nil
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

// covers reports whether a command has pushed where agents may not. Without a name git takes a remote.
func (n *noPush) covers(c TracedCommand) bool {
	if c.Name != "push" || c.Code != 0 || c.Has("-n", "--dry-run", "-h", "--help") {
		return false
	}
	to := c.Operands()
	return len(to) == 0 || slices.Contains(n.remotes, to[0]) ||
		slices.ContainsFunc(n.prefixes, func(p string) bool { return strings.HasPrefix(to[0], p) })
}

// reportPushes reports pushes that went through all the same, by what git has written down of the agent's commands, or in the
// logs of a slot. They gate the task.
func (w *Guard) reportPushes(at Site, s *Sightings) {
	if w.Options.Push {
		return
	}
	reported := false
	for _, cmd := range at.Did {
		if w.noPush.covers(cmd) && at.Own(cmd.Worktree) {
			s.ByAgent("the agent has pushed, although relay.push is false: " + cmd.String())
			reported = true
		}
	}
	if at.Repo.CommonDir() == w.Home.CommonDir() || at.Shared {
		return
	}
	if branches := slot.Pushed(at.Repo); len(branches) > 0 && !reported {
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
	return append(env, runners.GitSettings(env, w.noPush.settings...)...)
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
