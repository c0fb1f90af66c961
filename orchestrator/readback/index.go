package readback

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/ledgersync"
	"relay/epic/globs"
)

const (
	window   = 16 << 20 // bytes at the end of a ledger that are looked at
	mostRead = 100      // lines decoded for one answer
	mostTold = 10       // entries told of a task's files
)

// index knows where in a ledger the lines are that can matter. It is brought up to date by what was added since, so that a run which
// writes to the ledger itself does not read it again and again.
type index struct {
	epic string

	file   os.FileInfo // as it was read; nil: there is none
	path   string
	top    string
	next   int64  // offset that is read next
	before []byte // what stood right before it

	left    *ledgersync.Entry            // the last handoff of the epic, else the newest of all; nil: there is none
	ofEpic  bool                         // it names the epic
	answers map[string]*ledgersync.Entry // what agents answered handoffs, by their ids
	byPath  map[string][]int64           // where lines begin that name a file, the oldest first
}

// refresh reads what was added to the ledger, or all of its end if it was changed otherwise.
func (x *index) refresh(top string) {
	x.path, x.top = ledgersync.Path(top), top
	info, err := os.Stat(x.path)
	if err != nil || !info.Mode().IsRegular() {
		*x = index{epic: x.epic}
		return
	}
	if x.file != nil && os.SameFile(x.file, info) && x.file.Size() == info.Size() && x.file.ModTime().Equal(info.ModTime()) {
		return
	}
	file, err := ledgersync.OpenFile(x.path)
	if err != nil {
		*x = index{epic: x.epic}
		return
	}
	defer file.Close()
	if x.file == nil || !os.SameFile(x.file, info) || !x.continues(file, info.Size()) {
		*x = index{epic: x.epic, path: x.path, top: top, next: max(0, info.Size()-window)}
		x.answers, x.byPath = map[string]*ledgersync.Entry{}, map[string][]int64{}
	}
	x.file = info
	if next, err := ledgersync.ReadFrom(file, info.Size(), x.next, x.add); err == nil {
		x.remember(file, next)
	}
}

func (x *index) continues(file io.ReaderAt, size int64) bool {
	if size < x.next {
		return false
	}
	now := make([]byte, len(x.before))
	_, err := file.ReadAt(now, x.next-int64(len(now)))
	return err == nil && bytes.Equal(now, x.before)
}

func (x *index) remember(file io.ReaderAt, next int64) {
	x.next, x.before = next, make([]byte, min(next, 128))
	if _, err := file.ReadAt(x.before, next-int64(len(x.before))); err != nil {
		*x = index{epic: x.epic}
	}
}

func (x *index) add(at int64, line []byte) {
	e, _, err := ledgersync.Decode(line)
	if err != nil {
		return
	}
	own, named := byRelay(e), x.epic != "" && slices.Contains(e.Tags, x.epic)
	switch {
	case e.Type == ledgersync.Handoff && e.SessionSummary != nil && (e.Agent.Name == "relay" || !own):
		if named || !x.ofEpic {
			x.left, x.ofEpic = e, named
		}
	case e.Type == ledgersync.Transition && e.Transition != nil && !own:
		x.answers[e.Transition.FromEntryID] = e
	}
	if own && named { // receipts tell it
		return
	}
	for i := range e.Artifacts {
		p := x.relative(e.Artifacts[i].Path)
		x.byPath[p] = added(x.byPath[p], at)
	}
}

// added appends an offset to a list, of which the last hundred are kept.
func added(list []int64, at int64) []int64 {
	if n := len(list); n > 0 && list[n-1] == at { // a last line without an end is read again
		return list
	}
	if list = append(list, at); len(list) >= 2*mostRead {
		list = slices.Clone(list[len(list)-mostRead:])
	}
	return list
}

func (x *index) relative(p string) string {
	if filepath.IsAbs(p) {
		if rel, err := filepath.Rel(x.top, p); err == nil && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
	}
	return globs.CleanPath(p)
}

// byRelay reports whether relay has recorded an entry, of a run or of an attempt.
func byRelay(e *ledgersync.Entry) bool {
	return slices.Contains(e.Tags, "relay") && slices.ContainsFunc(e.Tags, func(t string) bool { return strings.HasPrefix(t, "run:") })
}

// about returns the last entries of others that name one of some files, the newest first, but for the one with an id.
func (x *index) about(files []string, except string) (entries []*ledgersync.Entry) {
	lines := x.linesAbout(files)
	if len(lines) == 0 {
		return nil
	}
	file, err := ledgersync.OpenFile(x.path)
	if err != nil {
		return nil
	}
	defer file.Close()
	seen := map[string]bool{except: true}
	for n, at := range slices.Backward(lines) {
		if len(lines)-n > mostRead || len(entries) == mostTold {
			break
		}
		e, err := ledgersync.DecodeAt(file, x.file.Size(), at)
		if err != nil || seen[e.ID] {
			continue
		}
		for i := range e.Artifacts {
			e.Artifacts[i].Path = x.relative(e.Artifacts[i].Path)
		}
		e.Artifacts = slices.DeleteFunc(e.Artifacts, func(a ledgersync.Artifact) bool { return !covered(files, a.Path) })
		seen[e.ID] = true
		entries = append(entries, e)
	}
	return entries
}

// linesAbout returns where the lines begin that name one of some files, in the order of the ledger.
func (x *index) linesAbout(files []string) (lines []int64) {
	for path, at := range x.byPath {
		if covered(files, path) {
			lines = append(lines, at...)
		}
	}
	slices.SortFunc(lines, cmp.Compare[int64])
	return slices.Compact(lines)
}

// covered reports whether one of the files that a task declares is a path or covers it.
func covered(files []string, path string) bool {
	for _, glob := range files[:min(len(files), mostRead)] {
		glob = globs.CleanPath(glob)
		if fixed, _ := fixedPart(glob); strings.HasPrefix(path, fixed) && globs.Covers(glob, path) {
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
