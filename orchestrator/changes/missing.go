package changes

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/pattern"
)

// Missing is what a check needed and did not find, so that it could not run at all.
type Missing struct {
	Kind MissingKind
	Name string // as printed
}

// MissingKind says what kind of thing is missing.
type MissingKind uint8

// Kinds of what a check can lack.
const (
	missingNothing MissingKind = iota
	MissingProgram             // on the PATH
	MissingFile                // a path
	NotExecutable              // a path
	MissingModule              // of node, python or go
	MissingTool                // a python module that was to be run: python -m pytest
)

// noRun says how programs tell that they could not begin. Those of a shell only count with the exit status of a command
// that was not found (127) or cannot be run (126), its own or one that make or npm reports.
var noRun = []struct {
	kind  MissingKind
	shell bool
	form  *pattern.Regexp
}{
	{MissingFile, true, pattern.New(`: (/\S+): bad interpreter: No such file or directory$`)},
	{NotExecutable, true, pattern.New(`(?:^|: )([^\s:]+): (?:Permission denied|cannot execute: required file not found|cannot execute binary file: Exec format error)$`)},
	{MissingProgram, true, pattern.New(`(?:^|: )([^\s:]+): (?:command )?not found$`)},
	{MissingProgram, true, pattern.New(`: command not found: (\S+)$`)},
	{MissingProgram, true, pattern.New(`(?:^|: )[‘']?([^\s:’']+)[’']?: No such file or directory$`)},
	{MissingFile, false, pattern.New(`^\S*sh: \d+: (?:\.: )?cannot open ([^\s:]+)(?:: No such file)?$`)},
	{MissingFile, false, pattern.New(`^\S*bash: (?:line \d+: )?([^\s:]+): No such file or directory$`)},
	{MissingFile, false, pattern.New(`(?:^|[: ])'?([^\s:']*\.env): [Nn]o such file or directory$`)}, // a shell, go
	{MissingFile, false, pattern.New(`[Nn]o such file or directory(?::|, open) '([^']*\.env)'`)},    // python, node
	{MissingFile, false, pattern.New(`^node: ([^\s:]+): not found$`)},                               // --env-file
	{MissingFile, false, pattern.New(`[Ff]ailed opening required '([^']+)'`)},                       // php
	{MissingProgram, false, pattern.New(`npx canceled due to missing packages and no YES option: \["([^"@]+)@?[^"]*"\]`)},
	{MissingFile, false, pattern.New(`: can't open file '([^']+)': \[Errno 2\]`)},
	{MissingTool, false, pattern.New(`^\S*python[\d.]*: No module named '?([\w.]+)'?$`)},
	{MissingModule, false, pattern.New(`^(?:E +)?ModuleNotFoundError: No module named '([\w.]+)'`)},
	{MissingModule, false, pattern.New(`: no required module provides package ([^;\s]+)`)}, // go
	{MissingModule, false, pattern.New(`Cannot find (?:module|package) '([^']+)'`)},
}

var shellStatus = pattern.New(`(?i)\b(?:error|code|status):? 12[67]\b`)

// FindMissing reads from how a check ended what it did not find; the last line that says so counts.
func FindMissing(run attempts.CheckRun) Missing {
	if run.ExitCode == 0 {
		return Missing{}
	}
	shell := run.ExitCode == 126 || run.ExitCode == 127 || shellStatus.MatchString(run.Tail)
	lines := strings.Split(run.Tail, "\n")
	for _, line := range slices.Backward(lines) {
		line := strings.TrimRight(line, " \r")
		for _, n := range noRun {
			if n.shell && !shell {
				continue
			}
			m := n.form.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			return Missing{n.kind.of(m[1]), m[1]}
		}
	}
	return Missing{}
}

// of corrects a kind by the name: what has a slash is a path, for a shell and for node.
func (k MissingKind) of(name string) MissingKind {
	switch {
	case k == MissingProgram && strings.Contains(name, "/"):
		return MissingFile
	case k == MissingModule && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".")):
		return MissingFile
	case k == NotExecutable && !strings.Contains(name, "/"):
		return MissingProgram
	}
	return k
}
