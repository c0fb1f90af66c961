// Package durable is how records stand on a disk: files that outlive a crash, lines of events, JSON with its schemas, and YAML for
// people.
//
// durable.go puts bytes on a disk so that they are still there after a crash: an append-only log, atomic replacement of a file, a lock
// with a readable holder, and a reserve for the last words of a full disk.
//
// Everything goes through [FS], so that a simulated disk can stand in for the real one, and every step that can be cut off by a crash has
// a name ([Points]) at which a test can cut it.
//
// eventlog.go frames events as lines with a checksum, and reads a file of such lines back to the last one that a crash has left whole.
//
// fastjson.go reads JSON as encoding/json does, several times as fast.
//
// schema.go holds JSON values against a JSON Schema, and lists what is wrong with them in sentences.
//
// yamltext.go writes YAML line by line: fast, and right for strings of any content.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// FS is the part of a file system below one folder that this package needs. Names are slash-separated and relative.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(oldname, newname string) error
	Remove(name string) error
	// SetModified sets when a file was last written, as its folder tells it.
	SetModified(name string, at time.Time) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
	// Moved reports whether the folder no longer stands where it was opened.
	Moved() bool
	// Recreate makes the folder again where it stood, without what was in it, unless somebody has put another one there.
	Recreate() (FS, error)
	Close() error
}

// File is an open file. Sync makes its bytes and its size durable. TryLock takes an advisory lock without waiting; Unlock
// gives it up, which Close alone does not while a process that is just being started holds a copy of the file.
type File interface {
	io.ReadWriteSeeker
	io.Closer
	io.ReaderAt
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	TryLock(exclusive bool) (bool, error)
	Unlock() error
}

// Fault is called at each point that a crash can cut; an error is treated as the failure of that step.
// A nil Fault never fails.
type Fault func(point string) error

func (f Fault) at(point string) error {
	if f == nil {
		return nil
	}
	return f(point)
}

// The names of the points, in the order in which they are passed.
const (
	BeforeWrite      = "append.before-write"
	TornWrite        = "append.torn-write" // half of the bytes are written
	AfterWrite       = "append.after-write"
	AfterSync        = "append.after-sync"
	BeforeTemp       = "replace.before-temp"
	TornTemp         = "replace.torn-temp-write"
	AfterTempWrite   = "replace.after-temp-write"
	AfterTempSync    = "replace.after-temp-sync"
	BeforeRename     = "replace.before-rename"
	AfterRename      = "replace.after-rename"
	AfterReplaceSync = "replace.after-dir-sync"
)

// Points lists the name of every fault point.
func Points() []string {
	return []string{
		BeforeWrite, TornWrite, AfterWrite, AfterSync,
		BeforeTemp, TornTemp, AfterTempWrite, AfterTempSync, BeforeRename, AfterRename, AfterReplaceSync,
	}
}

// ErrNotRegular means that something other than a file stands where a file belongs: a link, a pipe, a folder.
var ErrNotRegular = errors.New("not a regular file")

// Stamp tells whether a file is unchanged, without reading it.
type Stamp struct {
	Dev, Ino, Links uint64
	Size            int64
	Changed         time.Time // ctime where there is one
	Modified        time.Time
}

// Same reports whether nothing has touched the file between the two stamps.
func (s Stamp) Same(t Stamp) bool {
	return s.Dev == t.Dev && s.Ino == t.Ino && s.Size == t.Size && s.Links == t.Links &&
		s.Changed.Equal(t.Changed) && s.Modified.Equal(t.Modified)
}

// Renamed reports whether t is the stamp of the same file under another name, with nothing written to it since.
func (s Stamp) Renamed(t Stamp) bool {
	t.Changed = s.Changed
	return s.Same(t)
}

// StampOf reads the stamp out of a FileInfo.
func StampOf(info fs.FileInfo) Stamp {
	if s, ok := info.Sys().(Stamp); ok { // a simulated disk brings its own
		return s
	}
	s := Stamp{Size: info.Size(), Modified: info.ModTime(), Links: 1}
	fillStamp(&s, info)
	return s
}

// OpenRegular opens a regular file for reading, and nothing else: a pipe could keep the reader for ever.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
}

// Regular opens a file for reading, refusing anything that is not a plain file: a link could lead elsewhere and a
// named pipe would block for ever.
func Regular(fsys FS, name string, flag int) (File, error) {
	info, err := fsys.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return fsys.OpenFile(name, flag, 0)
}

// The permissions of what is written here: only its owner may read it, for agents had a hand in it. The folder itself can
// be looked into, as the rest of a checkout.
const (
	topPerm = fs.FileMode(0o755)
	ownPerm = fs.FileMode(0o600)
	dirPerm = fs.FileMode(0o700)
)
