//go:build linux

// Package filechanges copies the files of a database before each change that SQLite makes to them, for tests: what a copy holds is what a
// process leaves that is killed there.
package filechanges

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Recording copies files until it is ended. It belongs to the one goroutine that writes the database: there is one in a process, in
// which nothing else opens databases.
type Recording struct {
	pattern string
	into    string
	last    []byte
	count   int
	err     error
	calls   []any // keeps the functions that SQLite calls, which does not say so to the garbage collector
}

// Record copies, before each change that SQLite makes to a file of this process, the files with the names of a pattern into a folder
// below into: 0001, 0002 and so on. A write is made in two halves, with a copy between them. Copies that equal the one before are left out.
func Record(pattern, into string) (*Recording, error) {
	r := &Recording{pattern: pattern, into: into}
	err := errors.Join(
		replace(r, "open", func(open openCall) openCall {
			return func(tls *libc.TLS, path uintptr, flags, mode int32) int32 {
				r.copy()
				return open(tls, path, flags, mode)
			}
		}),
		replace(r, "unlink", func(unlink unlinkCall) unlinkCall {
			return func(tls *libc.TLS, path uintptr) int32 {
				r.copy()
				return unlink(tls, path)
			}
		}),
		replace(r, "ftruncate", func(truncate truncateCall) truncateCall {
			return func(tls *libc.TLS, fd int32, size libc.Toff_t) int32 {
				r.copy()
				return truncate(tls, fd, size)
			}
		}),
		replace(r, "write", func(write writeCall) writeCall {
			return func(tls *libc.TLS, fd int32, from uintptr, size libc.Tsize_t) libc.Tssize_t {
				r.copy()
				return write(tls, fd, from, half(size))
			}
		}),
		replace(r, "pwrite", r.positioned), replace(r, "pwrite64", r.positioned),
	)
	return r, err
}

// Names of files that SQLite uses.
type (
	openCall     func(tls *libc.TLS, path uintptr, flags, mode int32) int32
	unlinkCall   func(tls *libc.TLS, path uintptr) int32
	truncateCall func(tls *libc.TLS, fd int32, size libc.Toff_t) int32
	writeCall    func(tls *libc.TLS, fd int32, from uintptr, size libc.Tsize_t) libc.Tssize_t
	pwriteCall   func(tls *libc.TLS, fd int32, from uintptr, size libc.Tsize_t, at libc.Toff_t) libc.Tssize_t
)

// positioned writes a part of what it is given: SQLite asks again for the rest.
func (r *Recording) positioned(pwrite pwriteCall) pwriteCall {
	return func(tls *libc.TLS, fd int32, from uintptr, size libc.Tsize_t, at libc.Toff_t) libc.Tssize_t {
		r.copy()
		return pwrite(tls, fd, from, half(size), at)
	}
}

// half is how much of a write is made at once.
func half(size libc.Tsize_t) libc.Tsize_t {
	if size < 512 {
		return size
	}
	return size/2 + 128
}

// replace has SQLite call another function in the place of one of the system's. It does nothing when SQLite calls none of that name.
func replace[F any](r *Recording, name string, by func(F) F) error {
	tls := libc.NewTLS()
	defer tls.Close()
	text, err := libc.CString(name)
	if err != nil {
		return err
	}
	defer libc.Xfree(tls, text)
	vfs := sqlite3.Xsqlite3_vfs_find(tls, 0)
	calls := (*sqlite3.Tsqlite3_vfs)(at(vfs))
	old := function[func(*libc.TLS, uintptr, uintptr) uintptr](calls.FxGetSystemCall)(tls, vfs, text)
	if old == 0 {
		return nil
	}
	call := by(function[F](old))
	r.calls = append(r.calls, call)
	set := function[func(*libc.TLS, uintptr, uintptr, uintptr) int32](calls.FxSetSystemCall)
	code := set(tls, vfs, text, *(*uintptr)(unsafe.Pointer(&call)))
	if code != sqlite3.SQLITE_OK {
		return errors.ErrUnsupported
	}
	return nil
}

// function is the function that a number of SQLite's names.
func function[F any](number uintptr) F { return *(*F)(unsafe.Pointer(&number)) }

// at is the memory at an address outside of Go's.
func at(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// copy copies the files if they have changed.
func (r *Recording) copy() {
	names, err := filepath.Glob(r.pattern)
	slices.Sort(names)
	sum := sha256.New()
	files := make([][]byte, len(names))
	for i, name := range names {
		var readErr error
		files[i], readErr = os.ReadFile(name)
		err = errors.Join(err, readErr)
		if strings.HasSuffix(name, "-shm") {
			continue // the first to open the database makes it again
		}
		fmt.Fprintln(sum, name, len(files[i]))
		sum.Write(files[i])
	}
	if now := sum.Sum(nil); bytes.Equal(now, r.last) {
		return
	} else {
		r.last = now
	}
	r.count++
	dir := filepath.Join(r.into, fmt.Sprintf("%04d", r.count))
	err = errors.Join(err, os.MkdirAll(dir, 0o700))
	for i, name := range names {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(name)), files[i], 0o600))
	}
	r.err = errors.Join(r.err, err)
}

// End makes a last copy, and returns what has failed.
func (r *Recording) End() error {
	r.copy()
	runtime.KeepAlive(r.calls)
	return r.err
}
