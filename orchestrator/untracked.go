package orchestrator

import (
	"path/filepath"

	"relay/orchestrator/words"
	"relay/reanchor"
)

// noteMine tells of files of the user's own that an agent has put into its commits.
func (c *checkout) noteMine(names []reanchor.Change, f *Finding) {
	var paths []string
	for _, n := range names {
		if n.Code == "A" && c.tree.Own(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	if len(paths) > 0 {
		f.note("untracked", "the agent committed "+words.Listed(paths)+", which you had not")
	}
}

// noteLeft tells of files of an attempt that are in no commit and were not removed either.
func (c *checkout) noteLeft(f *Finding) {
	if paths := c.tree.Noted(); len(paths) > 0 {
		f.note("left", words.Listed(paths)+" is in no commit: left as it is, neither committed nor removed")
	}
}

// untrackedFile lists what was not tracked before a run, and is the user's.
func (c *checkout) untrackedFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, untrackedName)
}

const untrackedName = "untracked"
