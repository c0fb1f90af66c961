package relayfiles

import (
	"path/filepath"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
)

// Open names the slots and branches of attempts that a run left open, because it was killed or interrupted three
// times: the next run brings them to their end.
type Open map[string]bool

// OpenOf finds it by the ledger of an epic, in relay's folder.
func OpenOf(dir, epicID string, l *attempts.Ledger) Open {
	open := Open{}
	for id, rec := range l.Tasks {
		running := rec.Running()
		if running == nil {
			continue
		}
		a := engine.Attempt{Run: running.Run, Task: epic.Task{ID: id}, Number: running.ID}
		open[finish.TaskBranch(epicID, id)] = true
		if name, ok := Of(dir, a).Slot(); ok {
			open[name] = true
		}
	}
	return open
}

// Keep has what is not recovered stay, and with it the copies of .git, whatever would be lost. The slots of runs are below worktrees.
func (u Open) Keep(found []finish.Leftover, worktrees string) {
	for i, l := range found {
		name := l.Name
		if l.Kind == finish.LeftWorktree && filepath.Dir(name) == worktrees {
			name = filepath.Base(name)
		}
		if u[name] || len(u) > 0 && l.Kind == finish.LeftCopy && l.Why == "" {
			found[i].Why = "an attempt that the last run left open uses it; relay work recovers it"
			found[i].Show = plaintext.FirstOf(l.Show, "git log -1 "+plaintext.ShellWord(l.Name))
		}
	}
}
