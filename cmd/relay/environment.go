package main

import (
	"runtime"
	"slices"
	"strings"
)

// passed are the variables agents and acceptance commands get without being asked for: what programs need to find
// their files, talk to the network and log in to their provider. A star stands for any ending.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "XDG_*", "SSH_AUTH_SOCK",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_*", "NODE_*", "NPM_CONFIG_*", "npm_config_*", "NVM_*", "VOLTA_*", "FNM_*", "PNPM_HOME", "BUN_INSTALL", "DENO_*",
	"GO*", "CGO_*", "CARGO_*", "RUSTUP_*", "JAVA_HOME", "MAVEN_*", "GRADLE_*", "PYTHON*", "VIRTUAL_ENV", "PYENV_*", "CONDA_*",
	"UV_*", "GEM_*", "BUNDLE_*", "RBENV_*", "ASDF_*", "MISE_*", "CC", "CXX", "LD_LIBRARY_PATH", "DOCKER_HOST", "CI",
	"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "GEMINI_*", "GOOGLE_*", "AWS_*", "OPENCODE_*",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH*",
}

// passedOnWindows is what Windows programs do not start without.
var passedOnWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE",
	"HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*", "COMMONPROGRAMFILES*", "PROCESSOR_*", "NUMBER_OF_PROCESSORS", "OS",
}

// agentEnvironment is the environment of agents and acceptance commands: the list above, and what the configuration
// adds by NAME, NAME* or NAME=value.
func agentEnvironment(environ, extra []string) []string {
	patterns := slices.Clone(passed)
	if runtime.GOOS == "windows" {
		patterns = append(patterns, passedOnWindows...)
	}
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
		if slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) }) && !slices.ContainsFunc(fixed, sets(name)) {
			env = append(env, entry)
		}
	}
	return append(env, append(fixed, "TERM=dumb")...)
}

func sets(name string) func(string) bool {
	return func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
}

// matches compares a variable's name with a pattern; on Windows names have no case.
func matches(pattern, name string) bool {
	if runtime.GOOS == "windows" {
		pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
