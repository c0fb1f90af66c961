package worker

import (
	"regexp"
	"strings"

	"relay/attempts"
)

// missing is what a check needed and did not find, so that it could not run at all.
type missing struct {
	kind missingKind
	name string // as it was printed
}

type missingKind uint8

const (
	missingNothing missingKind = iota
	missingProgram             // on the PATH
	missingFile                // a path
	notExecutable              // a path
	missingModule              // of node or python
	missingTool                // a python module that was to be run: python -m pytest
)

// noRun says how programs tell that they could not begin. Those of a shell only count with the exit status of a command
// that was not found (127) or cannot be run (126), its own or one that make or npm reports.
var noRun = []struct {
	kind  missingKind
	shell bool
	form  *regexp.Regexp
}{
	{missingFile, true, regexp.MustCompile(`: (/\S+): bad interpreter: No such file or directory$`)},
	{notExecutable, true, regexp.MustCompile(`(?:^|: )([^\s:]+): (?:Permission denied|cannot execute: required file not found|cannot execute binary file: Exec format error)$`)},
	{missingProgram, true, regexp.MustCompile(`(?:^|: )([^\s:]+): (?:command )?not found$`)},
	{missingProgram, true, regexp.MustCompile(`: command not found: (\S+)$`)},
	{missingProgram, true, regexp.MustCompile(`(?:^|: )[‘']?([^\s:’']+)[’']?: No such file or directory$`)},
	{missingFile, false, regexp.MustCompile(`^\S*sh: \d+: cannot open ([^\s:]+)(?:: No such file)?$`)},
	{missingFile, false, regexp.MustCompile(`: can't open file '([^']+)': \[Errno 2\]`)},
	{missingTool, false, regexp.MustCompile(`^\S*python[\d.]*: No module named '?([\w.]+)'?$`)},
	{missingModule, false, regexp.MustCompile(`^ModuleNotFoundError: No module named '([\w.]+)'`)},
	{missingModule, false, regexp.MustCompile(`Cannot find (?:module|package) '([^']+)'`)},
}

var shellStatus = regexp.MustCompile(`(?i)\b(?:error|code|status):? 12[67]\b`)

// lacks reads from how a check ended what it did not find; the last line that says so counts.
func lacks(run attempts.CheckRun) missing {
	if run.ExitCode == 0 {
		return missing{}
	}
	shell := run.ExitCode == 126 || run.ExitCode == 127 || shellStatus.MatchString(run.Tail)
	lines := strings.Split(run.Tail, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], " \r")
		for _, n := range noRun {
			if n.shell && !shell {
				continue
			}
			m := n.form.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			return missing{n.kind.of(m[1]), m[1]}
		}
	}
	return missing{}
}

// of corrects a kind by the name: what has a slash is a path, for a shell and for node.
func (k missingKind) of(name string) missingKind {
	switch {
	case k == missingProgram && strings.Contains(name, "/"):
		return missingFile
	case k == missingModule && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".")):
		return missingFile
	case k == notExecutable && !strings.Contains(name, "/"):
		return missingProgram
	}
	return k
}
