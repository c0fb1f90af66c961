package attempts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"relay/attempts/internal/durable"
)

// Accept records the changes that somebody else has made to attempt-ledger.yml as an event. Attempts made since that
// ledger was written stay. It also takes events that their links do not prove.
func Accept(o Options) error {
	disk, err := durable.OpenDisk(o.Dir)
	if err != nil {
		return err
	}
	o.Accept = true
	s, err := open(o, disk, takeEdit)
	if err != nil {
		return err
	}
	return s.Close()
}

// Repaired records what Repair found and did.
type Repaired struct {
	Faults []Fault // what was wrong; nothing was done when it is empty
	Copy   string  // folder below the relay folder with copies of the damaged files
}

// Repair makes an epic's memory readable again from what is left of it. It first copies the damaged files to a
// folder of their own. It rewrites an edited ledger from the log, unless the logs themselves are damaged.
func Repair(o Options) (Repaired, error) {
	disk, err := durable.OpenDisk(o.Dir)
	if err != nil {
		return Repaired{}, err
	}
	return repair(o, disk)
}

func repair(o Options, disk durable.FS) (Repaired, error) {
	r := Repaired{Copy: "damaged-" + o.Now().UTC().Format("20060102T150405Z")}
	s, err := open(o, disk, func(c *contents) error {
		r.Faults = c.everyFault()
		if len(r.Faults) == 0 {
			return nil
		}
		if err := c.keepCopy(r.Copy); err != nil {
			return err
		}
		if len(c.log.faults)+len(c.log.late) > 0 {
			return c.salvage()
		}
		c.edit, c.file.upTo = nil, 0
		return nil
	})
	if err != nil {
		return Repaired{}, err
	}
	if len(r.Faults) == 0 {
		return Repaired{}, s.Close()
	}
	note := Event{Type: TypeNote, Note: &Note{Kind: "repair", Text: fmt.Sprintf("%d faults repaired; the old files are in %s", len(r.Faults), r.Copy)}}
	return r, errors.Join(s.Append(note), s.Close())
}

// everyFault lists what is wrong, a torn tail and an edit included.
func (c *contents) everyFault() []Fault {
	faults := append(c.log.faults, c.log.late...)
	for _, l := range c.log.torn {
		faults = append(faults, Fault{
			File: l.name(), Line: l.tail.Line, Message: fmt.Sprintf("the last %d bytes are no whole event", l.tail.Bytes),
			Hint: "nothing is lost: they were never acknowledged, and the next relay work cuts them off",
		})
	}
	if c.edit != nil && c.edit.Unreadable != nil {
		faults = append(faults, Fault{
			File: LedgerFile, Message: "it cannot be read: " + c.edit.Unreadable.Error() + "\n" + c.edit.Diff,
			Hint: "relay ledger repair rewrites it from the event logs",
		})
	} else if c.edit != nil {
		faults = append(faults, Fault{
			File: LedgerFile, Message: "it was changed by somebody else\n" + c.edit.Diff,
			Hint: "relay ledger accept takes the change in; relay ledger repair undoes it",
		})
	}
	return faults
}

// keepCopy copies the ledger and the logs into a folder of their own.
func (c *contents) keepCopy(dir string) error {
	if err := durable.MkdirAll(c.log.fsys, dir); err != nil {
		return err
	}
	names := map[string]string{LedgerFile: path.Join(dir, LedgerFile)}
	for _, l := range c.log.logs[c.log.start:] {
		names[l.name()] = path.Join(dir, l.run+"-"+EventsFile)
	}
	for from, to := range names {
		if _, err := c.log.fsys.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := durable.CopyFile(c.log.fsys, from, to)
		if errors.Is(err, durable.ErrNotRegular) { // it is in the way, too
			err = c.log.fsys.Rename(from, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// salvage makes the best state there is and has the next log begin with it, so that nothing before it is read again.
func (c *contents) salvage() error {
	var base *parsed
	c.log.limit = c.log.links.Bad - 1 // all, if nothing is bad
	if file, err := durable.OpenHashed(c.log.fsys, LedgerFile, maxLedger+1); err == nil && file != nil && c.log.links.Bad == 0 {
		defer file.Close()
		p, perr := parseFile(file)
		_, ours := c.log.fold.written.find(file.Sum())
		if perr == nil && (ours || len(c.log.fold.written) == 0) {
			base = p
		}
	}
	next := c.log.next
	c.log.begin()
	c.log.reset(base)
	next = max(next, c.log.known+1)
	c.log.next = 0 // whatever comes
	if err := c.log.read(); err != nil {
		return err
	}
	for _, l := range c.log.logs { // what was not read counts too: the new log has to come last
		c.log.high = max(c.log.high, l.first)
	}
	c.log.next = max(next, c.log.next, c.log.high+1)
	c.log.fold.base, c.log.fold.bases = 0, 0
	c.base, c.edit, c.log.torn, c.log.faults = c.log.fold.asBase(), nil, nil, nil
	return nil
}

// Validate returns everything that is wrong with an epic's ledger and logs. It writes nothing.
func Validate(o Options) ([]Fault, error) {
	disk, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	return validate(o, disk)
}

func validate(o Options, fsys durable.FS) ([]Fault, error) {
	c, err := load(fsys, o, false)
	if err != nil {
		return nil, err
	}
	return c.everyFault(), nil
}
