package landing

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/words"
)

// Push is a remote-tracking branch that was moved by a push, as its log says.
type Push struct {
	Branch   string // origin/main
	From, To string // commits; From is all zeros when the remote had none
	ByAgent  bool   // what was pushed an agent has made, and it has not landed
}

// Text says what was pushed, and how to undo it at one of some remotes.
func (p Push) Text(remotes []string) string {
	text := p.Branch + " was moved to " + p.To[:min(len(p.To), 12)]
	for _, remote := range remotes {
		branch, ok := strings.CutPrefix(p.Branch, remote+"/")
		if !ok {
			continue
		}
		if strings.Trim(p.From, "0") == "" {
			return text + "; to undo it: git push " + words.ShellWord(remote) + " --delete " + words.ShellWord(branch)
		}
		return text + "; to undo it: git push --force-with-lease " + words.ShellWord(remote) + " " + words.ShellWord(p.From+":refs/heads/"+branch)
	}
	return text
}

// pushLogs is how long the log of each remote-tracking branch is.
func (g *RefGuard) pushLogs() map[string]int64 {
	lengths := make(map[string]int64)
	root := filepath.Join(g.refs.dir, "logs", "refs", "remotes")
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // there may be none
		if err == nil && e.Type().IsRegular() {
			lengths[path] = logLength(path)
		}
		return nil
	})
	return lengths
}

// Pushes lists the pushes since it was last asked, or since the run began.
func (g *RefGuard) Pushes(ctx context.Context) (list []Push) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.pushLogs()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		from := g.pushed[path]
		if now[path] <= from { // a shorter one was cut
			continue
		}
		for line := range bytes.Lines(readLog(path, from)) {
			head, how, _ := strings.Cut(string(line), "\t") // OLD NEW NAME <MAIL> SECONDS ZONE
			fields := strings.Fields(head)
			if len(fields) < 2 || !strings.HasPrefix(how, "update by push") {
				continue
			}
			branch, _ := filepath.Rel(filepath.Join(g.refs.dir, "logs", "refs", "remotes"), path)
			list = append(list, Push{filepath.ToSlash(branch), fields[0], fields[1], g.byAgent(ctx, fields[1])})
		}
	}
	g.pushed = now
	return list
}
