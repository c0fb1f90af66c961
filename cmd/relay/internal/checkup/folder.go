package checkup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/cmd/relay/internal/project"
)

var errNotWritable = errors.New("cannot be written to")

// folder tries to write where the ledger goes, and where git keeps commits and relay its locks.
func (c *checkup) folder() {
	dir := c.project.Dir
	for !project.Exists(dir) && dir != c.project.Root {
		dir = filepath.Dir(dir)
	}
	folders := []string{dir}
	if c.project.Git != nil {
		folders = append(folders, c.project.Git.GitDir(), c.project.Git.CommonDir())
	}
	for _, each := range slices.Compact(folders) {
		if err := writable(each); err != nil {
			c.fail("folder", fmt.Errorf("%s %w: %w", c.project.Rel(each), errNotWritable, err))
			return
		}
	}
	c.add(OK, "folder", c.project.Rel(c.project.Dir)+" can be written to", "")
}

// writable writes a file in a folder and removes it. Permission bits prove nothing: a disk may be read-only, the user root.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".relay-check-*")
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("relay"))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
