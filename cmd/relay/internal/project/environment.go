package project

import (
	"context"
	"slices"
	"strings"

	"relay/configs"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
	"relay/runners/kinds"
)

// passed are the variables agents and acceptance commands get without being asked for: what programs need to find
// their files and talk to the network. A star stands for any ending.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "XDG_*",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_*", "NODE_*", "NPM_CONFIG_*", "npm_config_*", "NVM_*", "VOLTA_*", "FNM_*", "PNPM_HOME", "BUN_INSTALL", "DENO_*",
	"GO*", "CGO_*", "CARGO_*", "RUSTUP_*", "JAVA_HOME", "MAVEN_*", "GRADLE_*", "PYTHON*", "VIRTUAL_ENV", "PYENV_*", "CONDA_*",
	"UV_*", "GEM_*", "BUNDLE_*", "RBENV_*", "ASDF_*", "MISE_*", "CC", "CXX", "LD_LIBRARY_PATH", "DOCKER_HOST", "CI",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH*",
}

// CommonEnvironment returns the environment of agents and acceptance commands: the list above, and what the
// configuration adds by NAME, NAME* or NAME=value.
func CommonEnvironment(environ, extra []string) []string {
	return append(selected(environ, slices.Clone(passed), extra), "TERM=dumb")
}

// LoginEnvironment returns what set-up commands, checks and agents that may push get besides: the user's ssh agent.
func LoginEnvironment(environ, common []string) []string {
	if slices.ContainsFunc(common, isVariable(sshAgent)) {
		return nil
	}
	return selected(environ, []string{sshAgent}, nil)
}

const sshAgent = "SSH_AUTH_SOCK"

// ownEnvironment returns what an agent gets besides the common environment: what its CLI and provider need, and what the
// configuration adds for it alone. Nothing else gets those: people read what a test prints. A value that relay.env gives goes
// before the user's environment.
func ownEnvironment(environ, common []string, agent configs.Agent) []string {
	free := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(common, isVariable(name))
	})
	return selected(free, slices.Clone(kinds.FactsOf(agent.Type).Variables), agent.Env)
}

// selected returns the variables that the patterns match or extra names, with the values that extra gives.
func selected(environ, patterns, extra []string) []string {
	var fixed []string
	for _, item := range extra {
		if strings.Contains(item, "=") {
			fixed = append(fixed, item)
			continue
		}
		patterns = append(patterns, item)
	}
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(patterns, func(p string) bool { return Matches(p, name) }) && !slices.ContainsFunc(fixed, isVariable(name)) {
			env = append(env, entry)
		}
	}
	return append(env, fixed...)
}

// ownSession are variables that hold for one session of the user, and that every session has.
var ownSession = []string{"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_SE*", "XDG_VTNR", "CLAUDE_CODE_*", "CI"}

// ShellEnvironment returns the variables of the user's shell that relay work passes on or reads, and that another session may lack; secret
// has those with a secret.
func ShellEnvironment(p *Project) (open, secret []string) {
	patterns := append(slices.Clone(passed), "RELAY_*")
	patterns = append(patterns, p.Config.Relay.Env...)
	for _, agent := range p.Config.Relay.Agents {
		patterns = slices.Concat(patterns, agent.Env, kinds.FactsOf(agent.Type).Variables)
	}
	for _, entry := range selected(p.Session.Environ, patterns, nil) {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case slices.ContainsFunc(ownSession, func(pattern string) bool { return Matches(pattern, name) }):
		case len(secrets.Without([]string{entry})) > 0:
			open = append(open, entry)
		default:
			secret = append(secret, entry)
		}
	}
	return open, secret
}

func isVariable(name string) func(string) bool {
	return func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
}

// Matches compares a variable's name with a pattern.
func Matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// CommitHook returns the file of the user's pre-commit hook if relay.hooks has it run; "" when it does not run, or there is none. It is
// the user's own, whatever an agent makes of that in its checkout.
func CommitHook(ctx context.Context, p *Project) string {
	c := &p.Config.Relay
	if !c.Hooks || engine.Isolation(c.Isolation) != engine.IsolationWorktree {
		return ""
	}
	hooks, err := git.Hooks(ctx, p.Git)
	if err != nil || !slices.Contains(hooks, "pre-commit") {
		return ""
	}
	return HookFile(ctx, p)
}

// HookFile returns the file that git would run as the pre-commit hook, if it is there; "" when git does not say.
func HookFile(ctx context.Context, p *Project) string {
	out, err := p.Git.Run(ctx, git.Call{Hooks: true, Args: []string{"rev-parse", "--git-path", "hooks/pre-commit"}})
	if err != nil {
		return ""
	}
	return p.Abs(strings.TrimSuffix(string(out), "\n"))
}
