package labtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// historyVariable names the folder with the plan of a history night and its calls; see scoredVariable.
const historyVariable = "HISTORY"

// fileChange is what one commit does to one file. A nil text means that there is no file.
type fileChange struct {
	path          string
	before, after []byte
}

// errMissing reports that a change needs a file or lines that are not there.
var errMissing = errors.New("missing")

// gitIn runs git on a repository and returns its output, which has to be.
func gitIn(dir string, args ...string) []byte {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		claudetest.Must(fmt.Errorf("git %v: %w", args, err))
	}
	return out
}

// fileChanges returns the files that differ between two commits of a repository.
func fileChanges(repo, before, after string) []fileChange {
	fields := strings.Split(string(gitIn(repo, "diff", "--name-status", "--no-renames", "-z", before, after)), "\x00")
	var list []fileChange
	for i := 0; i+1 < len(fields); i += 2 {
		c := fileChange{path: fields[i+1]}
		if fields[i] != "A" {
			c.before = gitIn(repo, "show", before+":"+c.path)
		}
		if fields[i] != "D" {
			c.after = append([]byte{}, gitIn(repo, "show", after+":"+c.path)...) // an empty file is a file
		}
		list = append(list, c)
	}
	return list
}

// applyAll applies a commit's changes to the files of a folder: all of them, or none when one cannot be applied.
func applyAll(dir string, list []fileChange) error {
	texts := make([][]byte, len(list))
	for i, c := range list {
		now, err := os.ReadFile(filepath.Join(dir, c.path))
		if err != nil {
			now = nil
		}
		if texts[i], err = c.applied(now); err != nil {
			return err
		}
	}
	for i, c := range list {
		path := filepath.Join(dir, c.path)
		if texts[i] == nil {
			claudetest.Must(os.RemoveAll(path))
			continue
		}
		claudetest.Must(os.MkdirAll(filepath.Dir(path), 0o755))
		claudetest.Must(os.WriteFile(path, texts[i], 0o644))
	}
	return nil
}

// applied returns a file with the change applied, or nil where it has to go.
func (c fileChange) applied(now []byte) ([]byte, error) {
	switch {
	case c.after == nil:
		return nil, nil
	case now == nil && c.before != nil:
		return nil, fmt.Errorf("%w: file %s", errMissing, c.path)
	case now == nil || bytes.Equal(now, c.before):
		return c.after, nil
	case bytes.Equal(now, c.after):
		return now, nil
	case bytes.IndexByte(c.after, 0) >= 0:
		return nil, errors.New(c.path + " was changed otherwise")
	}
	return c.merged(withoutConflicts(now))
}

// markerSize is the length of conflict markers: no file has such lines of its own.
const markerSize = 43

// merged merges a change by lines; where that conflicts, it does what resolved does.
func (c fileChange) merged(now []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "merge")
	claudetest.Must(err)
	defer os.RemoveAll(dir)
	for name, text := range map[string][]byte{"now": now, "before": c.before, "after": c.after} {
		claudetest.Must(os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	cmd := exec.Command("git", "merge-file", "-p", "--diff3", "--marker-size", strconv.Itoa(markerSize), "now", "before", "after")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() >= 128) {
		return nil, err
	}
	var merged, ours, base, theirs []string
	into := &merged
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, strings.Repeat("<", markerSize)):
			into = &ours
		case strings.HasPrefix(line, strings.Repeat("|", markerSize)):
			into = &base
		case strings.HasPrefix(line, strings.Repeat("=", markerSize)):
			into = &theirs
		case strings.HasPrefix(line, strings.Repeat(">", markerSize)):
			lines, err := c.resolved(ours, base, theirs)
			if err != nil {
				return nil, err
			}
			merged, ours, base, theirs, into = append(merged, lines...), nil, nil, nil, &merged
		default:
			*into = append(*into, line)
		}
	}
	return []byte(strings.Join(merged, "")), nil
}

// resolved resolves a conflict as an agent does that knows what its change is for: it replaces the lines that are there, and
// leaves those of others. Lines that it should replace and cannot find are missing.
func (c fileChange) resolved(now, before, after []string) ([]string, error) {
	text, base := strings.Join(now, ""), strings.Join(before, "")
	switch {
	case base == "":
		return append(now, after...), nil
	case strings.Contains(text, base):
		return []string{strings.Replace(text, base, strings.Join(after, ""), 1)}, nil
	case strings.Contains(strings.Join(after, ""), base):
		return []string{strings.Replace(strings.Join(after, ""), base, text, 1)}, nil
	}
	for _, line := range before {
		if !slices.Contains(after, line) && !slices.Contains(now, line) {
			return nil, fmt.Errorf("%w: line %q of %s", errMissing, strings.TrimSpace(line), c.path)
		}
	}
	if slices.ContainsFunc(now, func(line string) bool { return !slices.Contains(before, line) }) {
		return nil, errors.New(c.path + " was changed in the same lines")
	}
	return slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) && !slices.Contains(now, line) }), nil
}

var conflictMarker = regexp.MustCompile(`(?m)^(<<<<<<< .*|=======|>>>>>>> .*)\n`)

// withoutConflicts returns a file that somebody left in conflict with the lines of both sides.
func withoutConflicts(text []byte) []byte {
	if !bytes.Contains(text, []byte("<<<<<<< ")) || !bytes.Contains(text, []byte(">>>>>>> ")) {
		return text
	}
	return conflictMarker.ReplaceAll(text, nil)
}

// historyAgent is a stand-in for Claude Code that does its task as the commit did it, runs the checks before it claims,
// and admits what it could not do.
func historyAgent() {
	var plan historyPlan
	c := readCall(historyVariable, &plan)
	c.task = &scoredTask{ID: os.Getenv("RELAY_TASK")}
	at := slices.IndexFunc(plan.Tasks, func(t historyTask) bool { return t.ID == c.task.ID })
	if at < 0 {
		claudetest.Must(fmt.Errorf("no task %q", c.task.ID))
	}
	c.begin()
	c.hello()
	t := plan.Tasks[at]
	if !plan.Idle && !slices.Contains(os.Args, "--resume") { // a session that goes on has done its work
		claudetest.Emit(claudetest.Spoken("I have read the task."))
		<-time.After(time.Duration(plan.Seconds * float64(time.Second)))
		if category, why := t.do(plan.Source, plan.Check); why != "" {
			c.end("failed")
			form, err := json.Marshal(map[string]string{"status": "failure", "summary": "Not finished.", "error_category": category, "error_summary": why})
			claudetest.Must(err)
			claudetest.Act("result", string(form))
			return
		}
	}
	c.end("right")
	form, err := json.Marshal(map[string]string{"status": "success", "summary": t.Title})
	claudetest.Must(err)
	claudetest.Act("result", string(form))
}

var (
	missingThing = regexp.MustCompile(`undefined: |undefined \(type|no such file or directory|no required module|is not in std|missing go.sum|unknown field|cannot find`)
	tellingLine  = regexp.MustCompile(`(?m)^.*(\.go:\d+|--- FAIL|panic:|go: ).*$`)
)

// do makes the change of a task's commit in the working folder and runs the check. It returns why that failed, or "".
func (t historyTask) do(source, check string) (category, why string) {
	if err := applyAll(".", fileChanges(source, t.Before, t.Commit)); err != nil {
		if errors.Is(err, errMissing) {
			return "missing_dependency", err.Error()
		}
		return "code_error", err.Error()
	}
	out, err := exec.Command("sh", "-c", check).CombinedOutput()
	if err == nil {
		return "", ""
	}
	lines := tellingLine.FindAllString(string(out), 3)
	why = strings.Join(append(lines, err.Error()), "; ")
	switch {
	case missingThing.Match(out):
		return "missing_dependency", why
	case bytes.Contains(out, []byte("[build failed]")) || bytes.HasPrefix(out, []byte("# ")):
		return "code_error", why
	}
	return "test_failure", why
}
