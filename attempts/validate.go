package attempts

import (
	"errors"
	"fmt"
	"io/fs"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// Validate returns everything that is wrong with an epic's ledger and logs. It writes nothing.
func Validate(dir string, e *epic.Epic, g *epic.Graph) ([]Fault, error) {
	disk, err := durable.OpenDisk(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNoLedger, dir)
	}
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	return validate(disk, e, g)
}

func validate(fsys durable.FS, e *epic.Epic, g *epic.Graph) ([]Fault, error) {
	c, err := load(fsys, e, g, false)
	if err != nil {
		return nil, err
	}
	return c.everyFault(), nil
}
