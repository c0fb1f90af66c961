package reanchor

import (
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/ledgersync"
	"relay/epic/pattern"
)

const (
	mostRead  = 10_000 // entries of a ledger that are looked at, the newest
	mostTold  = 10     // entries told of a task's files
	mostFiles = 100    // of a task that are looked for
)

// ledger is what of a ledger can matter for an epic.
type ledger struct {
	left    *ledgersync.Entry            // the last handoff of the epic, else the newest of all; nil: there is none
	answers map[string]*ledgersync.Entry // of handoffs, by their ids
	others  []*ledgersync.Entry          // what is not of relay about this epic: receipts tell that
	ofEpic  bool                         // left is of the epic
}

// add takes in an entry that is newer than all before.
func (l *ledger) add(e *ledgersync.Entry, epic string) {
	own, named := byRelay(e), epic != "" && slices.Contains(e.Tags, epic)
	switch {
	case e.Type == ledgersync.Handoff && e.SessionSummary != nil && (e.Agent.Name == "relay" || !own):
		if named || !l.ofEpic {
			l.left, l.ofEpic = e, named
		}
	case e.Type == ledgersync.Transition && e.Transition != nil:
		l.answers[e.Transition.FromEntryID] = e
	}
	if !own || !named {
		l.others = append(l.others, e)
		l.others = l.others[max(len(l.others)-mostRead, 0):]
	}
}

// byRelay reports whether relay has recorded an entry, of a run or of an attempt.
func byRelay(e *ledgersync.Entry) bool {
	return slices.Contains(e.Tags, "relay") && slices.ContainsFunc(e.Tags, func(t string) bool { return strings.HasPrefix(t, "run:") })
}

// about returns the last entries of others that name one of some files, the newest first, but for the handoff. Only these files are left
// in them.
func (l *ledger) about(top string, files []string) (entries []*ledgersync.Entry) {
	known := map[string]bool{} // paths, and whether they are of the files
	names := func(a ledgersync.Artifact) bool {
		of, is := known[a.Path]
		if !is {
			of = covered(files, relative(top, a.Path))
			known[a.Path] = of
		}
		return of
	}
	seen := map[string]bool{}
	if l.left != nil {
		seen[l.left.ID] = true
	}
	for _, e := range slices.Backward(l.others) {
		if len(entries) == mostTold || len(files) == 0 {
			break
		}
		if seen[e.ID] || !slices.ContainsFunc(e.Artifacts, names) {
			continue
		}
		seen[e.ID] = true
		told := *e
		told.Artifacts = slices.DeleteFunc(slices.Clone(e.Artifacts), func(a ledgersync.Artifact) bool { return !names(a) })
		for i := range told.Artifacts {
			told.Artifacts[i].Path = relative(top, told.Artifacts[i].Path)
		}
		entries = append(entries, &told)
	}
	return entries
}

// relative returns a path below the top folder of a checkout as epics declare files.
func relative(top, p string) string {
	if filepath.IsAbs(p) {
		if rel, err := filepath.Rel(top, p); err == nil && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
	}
	return pattern.CleanPath(p)
}

// covered reports whether one of the files that a task declares is a path or covers it.
func covered(files []string, path string) bool {
	for _, glob := range files[:min(len(files), mostFiles)] {
		glob = pattern.CleanPath(glob)
		if fixed, _ := fixedPart(glob); strings.HasPrefix(path, fixed) && pattern.Covers(glob, path) {
			return true
		}
	}
	return false
}

// fixedPart is what all paths begin with that a glob stands for, and whether it is a pattern at all.
func fixedPart(glob string) (fixed string, pattern bool) {
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		return glob[:i], true
	}
	return glob, false
}
