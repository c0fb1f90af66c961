package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"relay/orchestrator/engine"
)

// Brief writes the brief, if nothing that an attempt begins with could change what it says.
func (c *checkout) Brief(ctx context.Context, a engine.Attempt) error {
	if c.tree != nil {
		return nil
	}
	p := filesOf(c.o.Dir, a)
	if err := turnsIn(c).brief(ctx, a, p); err != nil {
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
