// Package simdisk is a disk in memory that can lose power: what was not synced is then kept, lost, torn or zeroed as it
// comes, and names that were not synced come and go.
package simdisk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts/internal/durable"
)

// ErrCrashed is returned by every operation after the power has gone.
var ErrCrashed = errors.New("the simulated machine is off")

// Disk is a simulated disk. It implements durable.FS.
type Disk struct {
	mu     sync.Mutex
	root   *node
	clock  uint64
	inodes uint64
	ops    int
	stopAt int
}

// node is a file or a folder. Names and bytes are held twice: as a program sees them, and as they are on the platter.
type node struct {
	ino     uint64
	dir     bool
	entries map[string]*node
	synced  map[string]*node
	changes []change // of entries since the last sync
	data    []byte
	safe    []byte
	writes  []write // since the last sync
	links   uint64
	touched uint64

	modified time.Time // zero: it was not set
}

// change is one operation on a folder: every name in it changes at once.
type change map[string]*node // nil: the name is gone

// write is one operation on a file's bytes; data nil cuts the file to at.
type write struct {
	at   int
	data []byte
}

// New makes an empty disk.
func New() *Disk {
	d := &Disk{}
	d.root = d.node(true)
	return d
}

func (d *Disk) node(dir bool) *node {
	d.inodes++
	n := &node{ino: d.inodes, dir: dir, links: 1}
	if dir {
		n.entries, n.synced = map[string]*node{}, map[string]*node{}
	}
	return n
}

// StopAt turns the machine off at the n-th operation from the beginning; 0 never does.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = n
}

// Ops is the number of operations so far.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// tick counts an operation that changes the disk.
func (d *Disk) tick() error {
	if d.stopAt > 0 && d.ops >= d.stopAt {
		return ErrCrashed
	}
	d.ops++
	d.clock++
	return nil
}

func (d *Disk) find(name string) (*node, error) {
	n := d.root
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "." {
			continue
		}
		if !n.dir || n.entries[part] == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		n = n.entries[part]
	}
	return n, nil
}

func (d *Disk) parent(name string) (*node, string, error) {
	dir, err := d.find(path.Dir(name))
	return dir, path.Base(name), err
}

func (n *node) change(c change) {
	for name, to := range c {
		if to == nil {
			delete(n.entries, name)
		} else {
			n.entries[name] = to
		}
	}
	n.changes = append(n.changes, c)
}

// OpenFile opens or makes a file.
func (d *Disk) OpenFile(name string, flag int, _ fs.FileMode) (durable.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(name)
	if err != nil {
		return nil, err
	}
	n := dir.entries[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n == nil:
		if err := d.tick(); err != nil {
			return nil, err
		}
		n = d.node(false)
		dir.change(change{base: n})
	}
	return &file{disk: d, node: n, name: name, appends: flag&os.O_APPEND != 0}, nil
}

// Lstat describes a name.
func (d *Disk) Lstat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return n.info(path.Base(name)), nil
}

// ReadDir lists a folder in name order.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.find(name)
	if err != nil {
		return nil, err
	}
	var out []fs.DirEntry
	for base, n := range dir.entries {
		out = append(out, fs.FileInfoToDirEntry(n.info(base)))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Mkdir makes a folder.
func (d *Disk) Mkdir(name string, _ fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(name)
	if err != nil {
		return err
	}
	if dir.entries[base] != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	if err := d.tick(); err != nil {
		return err
	}
	dir.change(change{base: d.node(true)})
	return nil
}

// Rename renames within a folder.
func (d *Disk) Rename(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(oldname)
	if err != nil {
		return err
	}
	to, newBase, err := d.parent(newname)
	if err != nil {
		return err
	}
	n := dir.entries[base]
	if n == nil || to != dir {
		return &fs.PathError{Op: "rename", Path: oldname, Err: fs.ErrNotExist}
	}
	if err := d.tick(); err != nil {
		return err
	}
	if gone := dir.entries[newBase]; gone != nil {
		gone.links = 0
	}
	n.touched = d.clock
	dir.change(change{base: nil, newBase: n})
	return nil
}

// Remove removes a name.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(name)
	if err != nil {
		return err
	}
	n := dir.entries[base]
	if n == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if err := d.tick(); err != nil {
		return err
	}
	n.links = 0
	dir.change(change{base: nil})
	return nil
}

// SetModified sets a file's time. A crash takes it away.
func (d *Disk) SetModified(name string, at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return err
	}
	if err := d.tick(); err != nil {
		return err
	}
	n.modified = at
	return nil
}

// SyncDir makes a folder's names durable.
func (d *Disk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.find(name)
	if err != nil {
		return err
	}
	if err := d.tick(); err != nil {
		return err
	}
	dir.synced, dir.changes = clone(dir.entries), nil
	return nil
}

func clone(m map[string]*node) map[string]*node {
	out := make(map[string]*node, len(m))
	maps.Copy(out, m)
	return out
}

// Moved is always false: only this process uses the disk.
func (d *Disk) Moved() bool { return false }

// Recreate is not needed.
func (d *Disk) Recreate() (durable.FS, error) { return d, nil }

// Close does nothing.
func (d *Disk) Close() error { return nil }

func (n *node) info(name string) fs.FileInfo {
	stamp := durable.Stamp{
		Ino: n.ino, Links: n.links, Size: int64(len(n.data)), Changed: time.Unix(int64(n.touched), 0), Modified: n.modified,
	}
	return info{name, stamp, n.dir}
}
