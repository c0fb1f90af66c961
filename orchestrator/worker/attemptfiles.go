package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/orchestrator/engine"
)

// attemptFiles names the files of one attempt.
type attemptFiles struct {
	folder, brief, result, transcript, stderr, end, patch, checks, review, traces string
}

func filesOf(dir string, a engine.Attempt) attemptFiles {
	folder := filepath.Join(dir, "runs", a.Run, a.Task.ID, fmt.Sprint(a.Number))
	in := func(name string) string { return filepath.Join(folder, name) }
	return attemptFiles{folder, in("brief.md"), in("result.json"), in("transcript.jsonl"), in("stderr.log"), in("end.json"), in("changes.patch"), in("checks"), in("review"), in("git")}
}

// used reports whether an agent was given this turn. The agent may have removed any of its files.
func (p attemptFiles) used() bool {
	return slices.ContainsFunc([]string{p.brief, p.transcript, p.stderr, p.end}, exists)
}

// ready reports whether the worktree was left to an agent, or to a review: it is a whole checkout, with work in it perhaps.
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
