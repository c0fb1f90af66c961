package git

import (
	"os"
	"slices"
	"strings"
)

// foreign names the variables of the caller that git must not see: those that point it to another repository, index
// or object store (git rev-parse --local-env-vars), inject configuration, change how paths are read, or start programs.
// GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM stay: they say which files are the user's own configuration.
var foreign = map[string]bool{
	"GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_INDEX_FILE": true, "GIT_COMMON_DIR": true, "GIT_PREFIX": true,
	"GIT_OBJECT_DIRECTORY": true, "GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_QUARANTINE_PATH": true,
	"GIT_GRAFT_FILE": true, "GIT_SHALLOW_FILE": true, "GIT_NAMESPACE": true, "GIT_ATTR_SOURCE": true,
	"GIT_IMPLICIT_WORK_TREE": true, "GIT_NO_REPLACE_OBJECTS": true, "GIT_REPLACE_REF_BASE": true,
	"GIT_INTERNAL_SUPER_PREFIX": true, "GIT_INDEX_VERSION": true, "GIT_REFLOG_ACTION": true,
	"GIT_CONFIG": true, "GIT_CONFIG_PARAMETERS": true, "GIT_CONFIG_COUNT": true,
	"GIT_LITERAL_PATHSPECS": true, "GIT_GLOB_PATHSPECS": true, "GIT_NOGLOB_PATHSPECS": true, "GIT_ICASE_PATHSPECS": true,
	"GIT_EXTERNAL_DIFF": true, "GIT_DIFF_OPTS": true, "GIT_PAGER": true, "GIT_PAGER_IN_USE": true,
	"GIT_EDITOR": true, "GIT_SEQUENCE_EDITOR": true, "GIT_ASKPASS": true,
	"SSH_ASKPASS": true, "SSH_ASKPASS_REQUIRE": true, "GIT_TERMINAL_PROMPT": true,
	"GIT_OPTIONAL_LOCKS": true, "GIT_AUTHOR_DATE": true, "GIT_COMMITTER_DATE": true, "LC_ALL": true, "LANGUAGE": true,
}

// narrowed returns what a call is within, and what is git's or ssh's of the base; all of the base for one that is within nothing.
func narrowed(base []string, c Call) []string {
	if c.within == nil || c.Own {
		return base
	}
	env := slices.Clone(c.within)
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SSH_") || name == "PWD" {
			env = append(env, kv)
		}
	}
	return env
}

// environment returns the base without what is foreign, with what keeps git quiet, plain and inside its repository.
func environment(base []string, c Call) []string {
	env := make([]string, 0, len(base)+16)
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		keepsLocale := c.Hooks && (name == "LC_ALL" || name == "LANGUAGE")
		injects := strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
		if keepsLocale || !foreign[name] && !injects {
			env = append(env, kv)
		}
	}
	env = append(env,
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", // an empty one is none at all
		"SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", // ssh asks that program, which says no, and never the terminal
		"GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
		"GIT_NO_REPLACE_OBJECTS=1", // else refs/replace, or a graft, could show a reviewer another commit than the one that lands
		"GIT_GRAFT_FILE="+os.DevNull+"/none",
	)
	if !c.Hooks {
		env = append(env, "LC_ALL=C")
	}
	if !c.Writes {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	if c.GitDir != "" {
		env = append(env, "GIT_DIR="+c.GitDir)
	}
	if c.WorkTree != "" {
		env = append(env, "GIT_WORK_TREE="+c.WorkTree)
	}
	return append(env, c.Env...)
}

// differs names the subcommands that can print a diff, and so start the repository's own programs for it.
var differs = map[string]bool{
	"diff": true, "diff-tree": true, "diff-index": true, "diff-files": true, "show": true, "log": true, "format-patch": true,
}

// arguments are everything after "git". An empty diff.external would not do: git then tries to start a program
// without a name.
func arguments(c Call) []string {
	args := settings(c)
	at := subcommand(c.Args)
	if at >= len(c.Args) || !differs[c.Args[at]] {
		return append(args, c.Args...)
	}
	args = append(args, c.Args[:at+1]...)
	args = append(args, "--no-ext-diff", "--no-textconv")
	return append(args, c.Args[at+1:]...)
}

// subcommand returns where the builtin stands, behind the settings a caller adds.
func subcommand(args []string) int {
	at := 0
	for at+1 < len(args) && args[at] == "-c" {
		at += 2
	}
	return at
}

// settings returns the options before the subcommand. They reach git's own children (submodules) too.
func settings(c Call) []string {
	set := []string{
		"--no-pager",
		"-c", "core.fsmonitor=false",
		"-c", "color.ui=false",
		"-c", "diff.orderFile=/dev/null", // a file that is not there is fatal
		"-c", "log.showSignature=false",
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
	}
	if !c.Hooks {
		set = append(set, "-c", "core.hooksPath=/dev/null") // git reads this name on Windows as well
	}
	return set
}
