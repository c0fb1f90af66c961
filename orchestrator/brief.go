package orchestrator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Brief writes the brief, if nothing that an attempt begins with could change what it says.
func (c *checkout) Brief(ctx context.Context, a Assignment) error {
	if c.tree != nil {
		return nil
	}
	p := placeOf(c.o.Dir, a)
	if err := c.brief(ctx, a, p); err != nil {
		return err
	}
	for _, output := range []string{p.transcript, p.stderr} { // new files take a disk a while, opening them does not
		f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // what it is, the supervisor sees
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// lateBrief writes the brief that Brief has left.
func (c *checkout) lateBrief(ctx context.Context, a Assignment, p place) error {
	if c.tree == nil {
		return nil
	}
	return c.brief(ctx, a, p)
}

func (c *checkout) brief(ctx context.Context, a Assignment, p place) error {
	facts, err := c.state(ctx)
	if err != nil {
		return err
	}
	in := a.Known
	in.Facts, in.Base = facts, a.Base
	if err := makeFolder(p.folder); err != nil {
		return err
	}
	return os.WriteFile(p.brief, c.o.brief(in), 0o600)
}

// makeFolder makes an attempt's folder: as a rule it is the task's first, in the folder of a run that is there.
func makeFolder(folder string) error {
	_ = os.Mkdir(filepath.Dir(folder), 0o700) // what is wrong with it, the next one tells
	if os.Mkdir(folder, 0o700) == nil {
		return nil
	}
	return os.MkdirAll(folder, 0o700)
}
