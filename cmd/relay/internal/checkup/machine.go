package checkup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/reanchor/git"
	"relay/runners"
)

// roomFor reports whether a disk has room for something besides what every run needs.
func roomFor(what string, need, free uint64, unknown error) (state, words, fix string) {
	words = "room for " + what
	switch {
	case unknown != nil:
		return Warn, "it is not known whether there is " + words + ": " + unknown.Error(), ""
	case free < need+noSpace:
		return Fail, "there is no " + words, "make room"
	case free < need+scarceSpace:
		return Warn, "there is hardly " + words, "make room"
	}
	return OK, words, ""
}

// Free space below which a run is at risk, or cannot begin.
const (
	scarceSpace = 2 << 30
	noSpace     = 100 << 20
)

func checkSpace(c *checkup) {
	free, err := runners.FreeSpace(c.project.Root)
	if err != nil {
		c.add(Warn, "disk", "the free space is unknown: "+err.Error(), "")
		return
	}
	checkFreeSpace(c, free)
}

// freeSpace reports whether that many bytes are enough for a run.
func checkFreeSpace(c *checkup, free uint64) {
	state, fix := OK, ""
	if free < scarceSpace {
		state, fix = Warn, "make room: a night writes transcripts, logs and commits"
	}
	if free < noSpace {
		state = Fail
	}
	c.add(state, "disk", fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30)), fix)
}

var errNotWritable = errors.New("cannot be written to")

// folder tries to write where the ledger goes, and where git keeps commits and relay its locks.
func checkFolder(c *checkup) {
	dir := c.project.Dir
	for !git.Exists(dir) && dir != c.project.Root {
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

// checkSleep reports whether the machine will be kept awake. Where it will not, that does not matter on a server, which never
// sleeps.
func checkSleep(ctx context.Context, c *checkup) {
	if !c.project.Config.Relay.InhibitSleep {
		return
	}
	name, err := c.host.StayAwake(ctx)
	if err != nil {
		c.add(Warn, "sleep", "nothing keeps the machine awake while relay works: "+err.Error(), "keep it awake yourself, or set relay.inhibit_sleep: false if it never sleeps")
		return
	}
	c.add(OK, "sleep", "the machine stays awake while relay works ("+name+")", "")
}
