package landing

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/orchestrator/trees"
)

// headLog is the log in which git writes where HEAD of one worktree has been. Who commits, merges or switches leaves a
// line there, and nobody does in another worktree than their own.
type headLog struct {
	path string
	own  bool   // it is of a worktree of relay's, in which agents work
	name string // git's own for the worktree; "": the user's checkout
}

// headLogs lists the logs of all worktrees.
func (g *TipGuard) headLogs() []headLog {
	shared := g.Trunk.repo.CommonDir()
	logs := []headLog{{path: filepath.Join(shared, "logs", "HEAD")}}
	entries, _ := os.ReadDir(filepath.Join(shared, "worktrees")) // none: nobody has made one
	for _, e := range entries {
		admin := filepath.Join(shared, "worktrees", e.Name())
		logs = append(logs, headLog{filepath.Join(admin, "logs", "HEAD"), trees.LeadsBelow(admin, g.Dir), e.Name()})
	}
	return logs
}

// visited reports whether HEAD of a worktree of agents, or of one of the user's, has come to a commit since; agents
// not by switching to it alone.
func (g *TipGuard) visited(commit string, byAgents bool, since time.Time) bool {
	for _, log := range g.headLogs() {
		if log.own == byAgents && has(readLog(log.path, -mostLog), commit, since, byAgents) {
			return true
		}
	}
	return false
}

// entered reports whether HEAD of a worktree of agents, or of one of the user's, has switched to a branch.
func (g *TipGuard) entered(ref string, byAgents bool) bool {
	to := []byte(" to " + strings.TrimPrefix(ref, "refs/heads/") + "\n")
	return slices.ContainsFunc(g.headLogs(), func(log headLog) bool {
		return log.own == byAgents && bytes.Contains(readLog(log.path, -mostLog), to)
	})
}

// mostLog bounds what is read of a log: some ten thousand lines.
const mostLog = 2 << 20

// readLog reads a log from a place on, or with a negative one so much of its end; nothing when it cannot be read.
func readLog(path string, from int64) []byte {
	if logLength(path) < 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	whence := io.SeekStart
	if from < 0 {
		from, whence = max(from, -logLength(path)), io.SeekEnd
	}
	if _, err := f.Seek(from, whence); err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(f, mostLog)) // as far as it can be read
	return text
}

// logLength is how long a log is, or -1 when there is none.
func logLength(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// Committed lists the commits that were made where git keeps a log of HEAD, whatever else HEAD was at: to merge, to switch
// or to reset makes none, or none that is not another's as well.
func Committed(path string) (commits []string) {
	for line := range bytes.Lines(readLog(path, -mostLog)) {
		head, how, _ := strings.Cut(string(line), "\t") // OLD NEW NAME <MAIL> SECONDS ZONE
		fields := strings.Fields(head)
		kind, what, _ := strings.Cut(how, ": ")
		made := strings.HasPrefix(kind, "commit") || kind == "revert" || kind == "am" || kind == "cherry-pick" && what != "fast-forward\n"
		if made && len(fields) > 1 {
			commits = append(commits, fields[1])
		}
	}
	return commits
}

// has reports whether a log says that a commit was reached since; made leaves out that somebody has switched to it.
func has(log []byte, commit string, since time.Time, made bool) bool {
	for line := range bytes.Lines(log) {
		head, how, _ := strings.Cut(string(line), "\t") // OLD NEW NAME <MAIL> SECONDS ZONE
		fields := strings.Fields(head)
		if len(fields) < 4 || fields[1] != commit || made && strings.HasPrefix(how, "checkout:") {
			continue
		}
		if at, err := strconv.ParseInt(fields[len(fields)-2], 10, 64); err == nil && at >= since.Unix() {
			return true
		}
	}
	return false
}
