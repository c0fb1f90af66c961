package provision

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/git/gitcmd"
)

// Copies remembers the copies in the slots of a run.
type Copies struct {
	root string // the user's checkout
	seed maphash.Seed

	mu sync.Mutex
	in map[string]*copies // of slots, by their folder
}

// copies are the folders that Put has made in a slot. They serve again: Put copies only entries that have changed since, here or in the
// user's checkout. A single file is always copied: to move it changes its ctime.
type copies struct {
	*Copies
	began time.Time
	names []string        // as the options have them
	known map[uint64]bool // sums of the entries as Put made them

	aside string              // the folder that has them, named by their number, while the slot is without them
	same  []map[string]uint64 // of each that is aside, the entries that have not changed, with their sums
	still map[string]uint64   // those that are in the slot again
}

// tick is longer than clocks of file systems stand still: within it a change may leave the times of a file as they are.
const tick = 20 * time.Millisecond

// sum stands for how an entry and the one it was copied from are.
func (k *Copies) sum(rel string, from, made stat) uint64 {
	return maphash.Comparable(k.seed, struct {
		rel        string
		from, made stat
	}{rel, from, made})
}

// stat is what lstat says of an entry: all that a change of it changes.
type stat struct {
	mode, user, group    uint32
	inode                uint64
	size, written, ctime int64 // of folders size is that of the list of their extended attributes, and the times are 0
}

// record records an entry that was just made, and how its original was before that. Times must tell a later change: not those of a clock
// that counts seconds, nor where ctime is not the system's own.
func (c *copies) record(rel string, from stat, slot string) {
	made, ok := statOf(filepath.Join(slot, rel))
	limit := c.began.Add(-tick).UnixNano()
	exact := from.ctime%1e9 != 0 && from.ctime < limit && made.ctime%1e9 != 0 && made.ctime >= limit
	if ok && (exact || made.ctime == 0 && from.ctime == 0) {
		c.known[c.sum(rel, from, made)] = true
	}
}

// unchanged reports whether an entry in the slot is unchanged since Put made it, and records it again.
func (c *copies) unchanged(rel string) bool {
	sum, ok := c.still[rel]
	if ok {
		c.known[sum] = true
	}
	return ok
}

// SetAside moves the copies in a slot into a folder, before the slot is emptied, and removes from them all that has changed. Copies that
// resist stay in the slot. Put takes them back.
func (k *Copies) SetAside(slot, to string) {
	k.mu.Lock()
	c := k.in[slot]
	k.mu.Unlock()
	above := filepath.Dir(slot)
	home, err := os.OpenRoot(above) // a link that an agent has made leads nowhere outside
	if err != nil || c == nil || len(c.known) == 0 {
		return
	}
	defer home.Close()
	path := func(dir, name string) string {
		return filepath.Join(strings.TrimPrefix(dir, above+string(filepath.Separator)), name)
	}
	fresh := c.aside == ""
	c.aside, c.same = to, make([]map[string]uint64, len(c.names))
	if fresh && errors.Join(gitcmd.RemoveTree(to), os.MkdirAll(to, 0o700)) != nil {
		return
	}
	for i, name := range c.names {
		in, out := path(slot, filepath.FromSlash(name)), path(to, strconv.Itoa(i))
		if fresh && home.Rename(in, out) != nil {
			continue
		}
		if c.same[i], err = c.sweep(filepath.Join(to, strconv.Itoa(i)), name); err != nil {
			c.same[i] = nil
			_ = home.Rename(out, in) // a container has left files of root's
		}
	}
}

// sweep removes from a copy what has changed, and returns the rest.
func (c *copies) sweep(at, name string) (map[string]uint64, error) {
	same := make(map[string]uint64)
	return same, filepath.WalkDir(at, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.Join(filepath.FromSlash(name), strings.TrimPrefix(full, at))
		from, ok := statOf(filepath.Join(c.root, rel))
		made, there := statOf(full)
		if sum := c.sum(rel, from, made); ok && there && c.known[sum] {
			same[rel] = sum
			return nil
		}
		if err := gitcmd.RemoveTree(full); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}

// takeBack moves copies of a slot back into it and returns the record of those that Put is about to make.
func (k *Copies) takeBack(to *os.Root, found *names) *copies {
	slot := to.Name()
	k.mu.Lock()
	old := k.in[slot]
	delete(k.in, slot)
	k.mu.Unlock()
	c := &copies{Copies: k, began: time.Now(), known: make(map[uint64]bool), still: make(map[string]uint64)}
	for _, name := range slices.Concat(found.copy, found.share) {
		if _, err := to.Lstat(filepath.FromSlash(name)); errors.Is(err, fs.ErrNotExist) && found.alone(name) {
			c.names = append(c.names, name) // all of it will be what Put makes
		}
	}
	if old == nil || old.aside == "" {
		return c
	}
	for i, name := range old.names {
		rel := filepath.FromSlash(name)
		if !slices.Contains(c.names, name) || len(old.same[i]) == 0 || to.MkdirAll(filepath.Dir(rel), 0o755) != nil {
			continue
		}
		if os.Rename(filepath.Join(old.aside, strconv.Itoa(i)), filepath.Join(slot, rel)) == nil {
			maps.Copy(c.still, old.same[i])
		}
	}
	_ = gitcmd.RemoveTree(old.aside)
	return c
}

// keep remembers the copies in a slot. From when it returns every change of a file shows.
func (k *Copies) keep(slot string, c *copies) {
	if len(c.known) > 0 {
		time.Sleep(tick)
	}
	c.still = nil
	k.mu.Lock()
	k.in[slot] = c
	k.mu.Unlock()
}

// alone reports whether nothing else is put at a path or below it, nor is any of that in a commit.
func (n *names) alone(name string) bool {
	times := 0
	for _, other := range slices.Concat(n.copy, n.share, slices.Collect(maps.Keys(n.tracked))) {
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			times++
		}
	}
	return times == 1
}
