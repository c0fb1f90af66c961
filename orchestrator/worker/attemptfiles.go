package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
)

// attemptFiles names the files of one attempt.
type attemptFiles struct {
	folder, brief, result, transcript, stderr, end, patch, checks, review, traces string
}

func filesOf(dir string, a engine.Attempt) attemptFiles {
	folder := filepath.Join(dir, "runs", a.Run, a.Task.ID, fmt.Sprint(a.Number))
	in := func(name string) string { return filepath.Join(folder, name) }
	return attemptFiles{
		folder, in("brief.md"), in("result.json"), in("transcript.jsonl"), in("stderr.log"),
		in(attemptfiles.EndFile), in("changes.patch"), in("checks"), in("review"), in("git"),
	}
}

// used reports whether an agent was given this turn. The agent may have removed any of its files.
func (p attemptFiles) used() bool {
	return slices.ContainsFunc([]string{p.brief, p.transcript, p.stderr, p.end}, exists)
}

// output lists the files that a turn of the agent writes, with its brief.
func (p attemptFiles) output() []string {
	return []string{p.brief, p.result, p.transcript, p.stderr, p.end}
}

// ready reports whether the slot was left to an agent, or to a review: it is a whole checkout, with work in it perhaps.
func (p attemptFiles) ready() bool {
	return exists(filepath.Join(p.folder, untrackedName)) || p.used() || p.round(1).used()
}

// begun is when the agent was, to the second; zero when no agent was.
func (p attemptFiles) begun() time.Time {
	info, err := os.Stat(p.brief)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// round names the files of a further turn of the agent.
func (p attemptFiles) round(n int) attemptFiles {
	in := func(name string) string { return filepath.Join(p.folder, attemptfiles.TurnFolder(n), name) }
	p.brief, p.result, p.end = in("brief.md"), in("result.json"), in(attemptfiles.EndFile)
	p.transcript, p.stderr = in("transcript.jsonl"), in("stderr.log")
	return p
}

// question names the files of the turn in which an agent is asked for its result.
func (p attemptFiles) question() attemptFiles {
	in := func(name string) string { return filepath.Join(p.folder, "result", name) }
	p.brief, p.result, p.end = in("brief.md"), in("result.json"), in(attemptfiles.EndFile)
	p.transcript, p.stderr = in("transcript.jsonl"), in("stderr.log")
	return p
}

// lastSeen is the last moment at which the attempt's processes can have been alive.
func (p attemptFiles) lastSeen() time.Time {
	var last time.Time
	paths := append(p.output(), p.question().output()...)
	for n := 1; p.round(n).used(); n++ {
		paths = append(paths, p.round(n).output()...)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// kept is the commit in which an attempt's work is kept; "" : none that is known.
func (p attemptFiles) kept() string {
	path := filepath.Join(p.folder, keptName)
	if !Readable(path) {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

const untrackedName = "untracked"

// keptName is a file that has the commit in which an attempt's work is kept: a ref of the attempt's name may be another
// ledger's.
const keptName = "kept"
