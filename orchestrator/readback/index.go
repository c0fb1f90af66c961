package readback

import (
	"bytes"
	"cmp"
	"encoding/json"
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

	handoffs    []int64 // where lines begin that may be handoffs, the oldest first
	ofEpic      []int64 // those of them that name the epic
	transitions []int64 // that relay did not write
	byPath      map[string][]int64
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
		*x = index{epic: x.epic, path: x.path, top: top, next: max(0, info.Size()-window), byPath: map[string][]int64{}}
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

// add takes one line in, by what its bytes hold: to decode all lines of a long ledger takes too long.
func (x *index) add(at int64, line []byte) {
	own := holds(line, `"run:`) && holds(line, `"relay"`)
	byRun := own && holds(line, `"agent":{"name":"relay"`)
	named := x.epic != "" && holds(line, `"`+x.epic+`"`)
	if own && !byRun && named {
		return // an attempt of this epic
	}
	if (!own || byRun) && holds(line, `"`+string(ledgersync.Handoff)+`"`) {
		x.handoffs = added(x.handoffs, at)
		if named {
			x.ofEpic = added(x.ofEpic, at)
		}
	}
	if !own && holds(line, `"`+string(ledgersync.Transition)+`"`) {
		x.transitions = added(x.transitions, at)
	}
	for _, p := range pathsIn(line) {
		p = x.relative(p)
		x.byPath[p] = added(x.byPath[p], at)
	}
}

func holds(line []byte, text string) bool { return bytes.Contains(line, []byte(text)) }

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

// pathsIn returns the values of all keys named path in a line.
func pathsIn(line []byte) (paths []string) {
	const most = 200
	key := []byte(`"path"`)
	for len(paths) < most {
		i := bytes.Index(line, key)
		if i < 0 {
			break
		}
		line = bytes.TrimLeft(line[i+len(key):], " \t:")
		if len(line) == 0 || line[0] != '"' {
			continue
		}
		end := 1
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) {
			break
		}
		path := string(line[1:end])
		if strings.Contains(path, `\`) && json.Unmarshal(line[:end+1], &path) != nil {
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

func (x *index) relative(p string) string {
	if filepath.IsAbs(p) {
		if rel, err := filepath.Rel(x.top, p); err == nil && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
	}
	return globs.CleanPath(p)
}

// handoff returns the last handoff of the epic, else the newest of all.
func (x *index) handoff() *Source {
	wanted := func(e *ledgersync.Entry) bool {
		return e.Type == ledgersync.Handoff && e.SessionSummary != nil && (e.Agent.Name == "relay" || !byRelay(e))
	}
	entry := x.last(x.ofEpic, func(e *ledgersync.Entry) bool { return wanted(e) && slices.Contains(e.Tags, x.epic) })
	if entry == nil {
		entry = x.last(x.handoffs, wanted)
	}
	if entry == nil {
		return nil
	}
	return &Source{Entry: entry}
}

// byRelay reports whether relay has recorded an entry, of a run or of an attempt.
func byRelay(e *ledgersync.Entry) bool {
	return slices.Contains(e.Tags, "relay") && slices.ContainsFunc(e.Tags, func(t string) bool { return strings.HasPrefix(t, "run:") })
}

// last returns the newest entry that is wanted, of those whose lines are given; nil: none.
func (x *index) last(lines []int64, wanted func(*ledgersync.Entry) bool) (found *ledgersync.Entry) {
	x.eachOf(lines, func(e *ledgersync.Entry) bool {
		if wanted(e) {
			found = e
		}
		return found == nil
	})
	return found
}

// eachOf calls f with the entries of some lines, the newest first, until f returns false.
func (x *index) eachOf(lines []int64, f func(*ledgersync.Entry) bool) {
	if len(lines) == 0 || x.file == nil {
		return
	}
	file, err := ledgersync.OpenFile(x.path)
	if err != nil {
		return
	}
	defer file.Close()
	for n, at := range slices.Backward(lines) {
		if len(lines)-n > mostRead {
			return
		}
		if e, err := ledgersync.DecodeAt(file, x.file.Size(), at); err == nil && !f(e) {
			return
		}
	}
}

// about returns the last entries of others that name one of some files, the newest first, but for the one with an id.
func (x *index) about(files []string, except string) (entries []*ledgersync.Entry) {
	lines := x.linesAbout(files)
	seen := map[string]bool{except: true}
	x.eachOf(lines, func(e *ledgersync.Entry) bool {
		own := byRelay(e) && slices.Contains(e.Tags, x.epic)
		for i := range e.Artifacts {
			e.Artifacts[i].Path = x.relative(e.Artifacts[i].Path)
		}
		e.Artifacts = slices.DeleteFunc(e.Artifacts, func(a ledgersync.Artifact) bool { return !covered(files, a.Path) })
		if !own && len(e.Artifacts) > 0 && !seen[e.ID] {
			seen[e.ID] = true
			entries = append(entries, e)
		}
		return len(entries) < mostTold
	})
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
