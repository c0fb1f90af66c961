package adapter

import (
	"errors"
	"io/fs"

	"relay/runners/process"
)

// Compact keeps head and tail of outputs that have outgrown their cap. An output the agent has removed needs none.
func (w *Process) Compact() error {
	for _, path := range []string{w.Command.Stdout, w.Command.Stderr} {
		if fileSize(path) <= kept(w.Limits) {
			continue
		}
		if _, err := process.Compact(path, kept(w.Limits)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
