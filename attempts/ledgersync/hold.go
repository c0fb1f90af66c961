package ledgersync

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"relay/attempts/internal/durable"
)

// Held is the ledger of a checkout while no other relay appends to it. A file that somebody puts in its place is not held.
type Held struct {
	fsys   durable.FS
	file   durable.File
	unlock func()
}

// Hold waits until no other relay appends to the ledger of a checkout, whose top folder is given, and keeps all from it until Release is
// called. A ledger that is not there, or no regular file, is [fs.ErrNotExist].
func Hold(top string) (*Held, error) {
	disk, err := durable.OpenDisk(top)
	if err != nil {
		return nil, err
	}
	name := path.Join(Folder, LedgerFile)
	if info, err := disk.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fs.ErrNotExist, disk.Close())
	}
	unlock, err := durable.WaitLock(disk, name)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	h := &Held{fsys: disk, unlock: unlock}
	if h.file, err = durable.Regular(disk, name, os.O_RDWR|os.O_APPEND); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// Text returns all that is in it.
func (h *Held) Text() ([]byte, error) { return io.ReadAll(h.file) }

// Rewrite writes another text in place of the one that is there. It is called once.
func (h *Held) Rewrite(text []byte) error {
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err := h.file.Write(text)
	return err
}

// Release lets others append again.
func (h *Held) Release() {
	if h.file != nil {
		_ = h.file.Close()
	}
	h.unlock()
	_ = h.fsys.Close()
}
