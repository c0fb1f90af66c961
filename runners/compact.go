package runners

import (
	"errors"
	"io/fs"

	"relay/runners/process"
)

// compact keeps head and tail of outputs that have outgrown their cap. An output the agent has removed needs none.
func (w *watch) compact() error {
	for _, path := range []string{w.cmd.Stdout, w.cmd.Stderr} {
		if fileSize(path) <= kept(w.limits) {
			continue
		}
		if _, err := process.Compact(path, kept(w.limits)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
