package orchestrator

import (
	"path/filepath"
	"slices"
	"sync"

	"relay/orchestrator/landing"
	"relay/reanchor"
)

// makers knows which commits were made in which task's worktree, as git's own log of each says. Agents see each other's
// branches; one that builds on what a neighbour has not landed would land it with its own, proved by nobody's checks but
// its own and under its own name.
type makers struct {
	mu   sync.Mutex
	logs map[string]string // by task: of the worktree it has now
	made map[string]string // by commit: the task that has not landed it, whose attempt made it and is over, or relay for it
}

// enter begins to look at a task's worktree.
func (m *makers) enter(task string, repo *reanchor.Git) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logs[task] = filepath.Join(repo.GitDir(), "logs", "HEAD")
}

// leave takes note of what was made there.
func (m *makers) leave(task string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, commit := range landing.Committed(m.logs[task]) {
		m.made[commit] = task
	}
	delete(m.logs, task)
}

// add takes note of a commit that relay has made of a task's work.
func (m *makers) add(commit, task string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made[commit] = task
}

// landed lets everybody have what a task has made.
func (m *makers) landed(task string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for commit, maker := range m.made {
		if maker == task {
			delete(m.made, commit)
		}
	}
}

// other says which other task has made a commit and not landed it; "" : none.
func (m *makers) other(commit, task string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(landing.Committed(m.logs[task]), commit) { // two that do the same in the same second make one commit
		return ""
	}
	maker := m.made[commit]
	for neighbour, log := range m.logs {
		if neighbour != task && slices.Contains(landing.Committed(log), commit) {
			maker = neighbour
		}
	}
	if maker == task {
		return ""
	}
	return maker
}
