// Package powerloss has a checkout on a disk in memory that can lose power, for tests of what writes records. Anything not synced is then
// kept, lost, torn or zeroed, and names come and go.
package powerloss

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path"

	"relay/attempts/artifact"
	"relay/attempts/discussion"
	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
	"relay/attempts/ledgersync"
)

// Checkout is a checkout with its records.
type Checkout struct {
	disk *simdisk.Disk
}

// New makes an empty checkout.
func New() *Checkout { return &Checkout{simdisk.New()} }

// StopAt turns the machine off at the n-th operation that changes the disk, from the beginning; 0 never does.
func (c *Checkout) StopAt(n int) { c.disk.StopAt(n) }

// Ops counts the operations so far that have changed the disk.
func (c *Checkout) Ops() int { return c.disk.Ops() }

// Crash returns the checkout as it may be found when the power comes back, as rng decides. The old one is left as it is.
func (c *Checkout) Crash(rng *rand.Rand) *Checkout { return &Checkout{c.disk.Crash(rng)} }

// Ledger opens the ledger of LedgerSync.
func (c *Checkout) Ledger() (*ledgersync.Writer, error) {
	return ledgersync.NewWriter(c.disk, "checkout", nil)
}

// Artifacts opens the artifacts.
func (c *Checkout) Artifacts() (*artifact.Writer, error) { return artifact.NewWriter(c.disk, nil) }

// Discussions opens the ledger of discussions.
func (c *Checkout) Discussions(o discussion.Options) (*discussion.Ledger, error) {
	return discussion.NewLedger(c.disk, o), nil
}

// Write appends to a file that may be missing, in a folder that is made if it is, as other programs do: without a sync.
func (c *Checkout) Write(name, text string) error {
	if err := durable.MkdirAll(c.disk, path.Dir(name)); err != nil {
		return err
	}
	f, err := c.disk.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

// Files reads all files, by their paths.
func (c *Checkout) Files() (map[string]string, error) {
	files := map[string]string{}
	return files, c.read(".", files)
}

func (c *Checkout) read(folder string, files map[string]string) error {
	entries, err := c.disk.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() {
			err = c.read(name, files)
		} else {
			files[name], err = c.text(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Checkout) text(name string) (string, error) {
	f, err := c.disk.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}
