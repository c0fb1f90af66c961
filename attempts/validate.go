package attempts

import (
	"errors"
	"fmt"
	"io/fs"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// Validate looks for everything that is wrong with an epic's memory, without writing anything.
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
	c, err := load(fsys, e, g, nil)
	var damage *DamageError
	if errors.As(err, &damage) {
		return damage.Faults, nil
	}
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, l := range c.torn {
		faults = append(faults, Fault{File: l.name(), Line: l.tail.Line, Message: fmt.Sprintf("the last %d bytes are no whole event", l.tail.Bytes), Hint: "nothing is lost: the next relay work cuts them off"})
	}
	if c.edit != nil {
		faults = append(faults, Fault{File: LedgerFile, Message: "it was changed by somebody else\n" + c.edit.Diff, Hint: "relay ledger accept takes the change in; relay ledger rebuild undoes it"})
	}
	return faults, nil
}
