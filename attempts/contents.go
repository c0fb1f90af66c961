package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts/internal/chain"
	"relay/attempts/internal/durable"
	"relay/epic"
	"relay/epic/each"
)

// contents is everything the relay folder says about the epic's attempts, read without changing anything.
type contents struct {
	epic  *epic.Epic // may be nil
	log   *history
	edit  *EditedError          // somebody else changed the ledger
	taken map[string]TaskRecord // what accepting the edit would change
	// ineffective is what the edit changes besides, to no effect.
	ineffective []string
	whole       bool     // the logs need no ledger beside them
	ahead       uint64   // the last event in attempt-ledger.yml, if the logs end before it
	base        []Event  // what the next log has to begin with, because earlier logs are missing
	file        snapshot // attempt-ledger.yml
	// foreign are the settings of a ledger that relay did not write; nil: it is relay's.
	foreign *Settings
}

// load reads the logs, with a copy of each if keep is set, and checks the ledger against them and them against the head.
//
// With whole logs the state is their fold, and the ledger is only checked by its checksum: parsing the YAML of 10,000
// tasks takes longer than everything else together. Where logs are missing the ledger is what they are folded onto.
func load(fsys durable.FS, o Options, keep bool) (*contents, error) { //nolint:gocyclo // one step after the other
	file, odd := durable.OpenHashed(fsys, LedgerFile, maxLedger+1) // before the logs, so that its checksum is in them even while a run goes on
	if odd != nil && !errors.Is(odd, durable.ErrNotRegular) {
		return nil, odd
	}
	if file != nil {
		defer file.Close()
	}
	links := chain.New(o.Head, o.Accept) // before the logs, too
	h, err := newHistory(fsys, o.Graph)
	if err != nil {
		return nil, err
	}
	if len(h.logs) == 0 && file == nil {
		return nil, cmp.Or(odd, ErrNoLedger)
	}
	c := &contents{epic: o.Epic, log: h}
	if file != nil {
		defer func() { c.file.stamp, c.file.sum = file.Stamp, file.Sum() }()
	}
	if h.keep = keep; keep || o.Head != "" {
		h.links = links
	}
	if o.Relay != "" && !keep {
		h.recall(o.Relay)
	}
	if err := c.fill(file, odd != nil); err != nil {
		return nil, err
	}
	if h.skipped > 0 && (c.edit != nil || len(h.faults)+len(h.notes)+len(h.torn) > 0) { // the logs do not simply go on
		o.Relay = ""
		return load(fsys, o, keep)
	}
	if why := h.links.End(len(c.base)+len(h.faults) == 0); why != "" {
		h.faults = append(h.faults, Fault{File: RunsDir, Message: why, Hint: hintUnproved})
	}
	if o.Epic != nil {
		if have := c.log.fold.ledger.EpicID; cmp.Or(have, o.Epic.ID) != o.Epic.ID {
			return nil, &EpicError{Path: LedgerFile, Have: have, Want: o.Epic.ID}
		}
		c.log.fold.ledger.EpicID = o.Epic.ID
	}
	return c, nil
}

// fill reads the logs, and holds the ledger against them, or folds them onto it when they are not whole.
func (c *contents) fill(file *durable.Hashed, irregular bool) error {
	var err error
	c.whole, err = c.log.readWhole()
	switch {
	case err != nil:
		return err
	case !c.whole:
		return c.readOnto(file)
	case irregular:
		c.edit = &EditedError{Path: LedgerFile, Unreadable: durable.ErrNotRegular}
		return nil
	}
	return c.check(file)
}

// readOnto folds the logs onto what the ledger says.
func (c *contents) readOnto(file *durable.Hashed) error {
	if file == nil {
		c.log.fault(c.log.logs[0], 1, "what comes before is missing, and there is no "+LedgerFile+" to stand in for it", "put the files back, or relay ledger repair")
		c.log.next, c.log.start = 0, 0
		return c.log.read()
	}
	p, err := parseFile(file)
	if err != nil {
		if _, ok := errors.AsType[*VersionError](err); ok {
			return err
		}
		c.log.faults = append(c.log.faults, Fault{File: LedgerFile, Message: "it cannot be read: " + err.Error(), Hint: "correct it; the event logs do not go back to the beginning"})
		return nil
	}
	if len(p.unsure) > 0 {
		c.log.faults = append(c.log.faults, Fault{File: LedgerFile, Message: "states or gates of tasks cannot be read: " + strings.Join(p.unsure, "; "), Hint: "correct it"})
		return nil
	}
	var notes []string
	if p.foreign {
		theirs := p.ledger.Settings
		c.foreign = &theirs
		notes = append([]string{LedgerFile + " was not written by relay; it is taken as it stands"}, p.ledger.setAside()...)
	}
	notes = append(notes, each.Of(p.odd, func(odd string) string { return LedgerFile + ": left out: " + odd })...)
	c.log.reset(p)
	c.log.notes, c.log.next, c.log.start = notes, c.log.known+1, 0
	base := slices.ContainsFunc(slices.Collect(maps.Values(c.log.fold.ledger.Tasks)), func(rec *TaskRecord) bool { return !rec.blank() })
	if err := c.log.read(); err != nil {
		return err
	}
	if _, ok := c.log.fold.written.find(file.Sum()); !ok && len(c.log.fold.written) > 0 {
		c.edit = &EditedError{Path: LedgerFile, Diff: "(the event logs that would show the change are missing)\n"}
	}
	if p.foreign {
		c.base = c.log.fold.asBase()
	} else if c.log.known > 0 || base || c.log.next > 1 {
		c.base = c.log.fold.asBase()
		c.log.notes = append(c.log.notes, fmt.Sprintf("there is no event log of what %s says up to event %d; it is taken as it stands", LedgerFile, c.log.known))
	}
	return nil
}

// check compares the ledger's checksum with those the logs have of it.
func (c *contents) check(file *durable.Hashed) error {
	if file == nil {
		c.log.notes = append(c.log.notes, LedgerFile+" is missing; it is made again from the event logs")
		return nil
	}
	if len(c.log.faults) > 0 {
		return nil
	}
	if w, ok := c.log.fold.written.find(file.Sum()); ok {
		c.file.upTo = w.Seq
		return nil
	}
	text, err := file.Text()
	if err != nil {
		return err
	}
	return c.compare(text)
}

// compare compares the ledger's text with the logs, where these do not know its checksum.
func (c *contents) compare(text []byte) error {
	p, err := parseLedger(text)
	if _, ok := errors.AsType[*VersionError](err); ok {
		return err
	}
	if err == nil && len(p.unsure) > 0 {
		err = errors.New("states or gates of tasks cannot be read: " + strings.Join(p.unsure, "; "))
	}
	seq := c.log.high
	if p != nil {
		seq = p.ledger.Folded.Seq
	}
	if seq > c.log.high && !p.foreign {
		c.ahead = seq
	}
	ours, ferr := c.log.foldTo(seq)
	if ferr != nil {
		return ferr
	}
	if c.epic != nil && ours.ledger.EpicID == "" {
		ours.ledger.EpicID = c.epic.ID
	}
	if err == nil {
		c.taken = changed(ours, p.ledger, c.log.fold)
		if len(c.taken) == 0 && (seq == 0 || sameHead(ours.ledger, p.ledger)) {
			return nil
		}
		c.ineffective = ineffective(ours.ledger, p.ledger)
	}
	c.edit = &EditedError{Path: LedgerFile, Diff: diff(ours, text), Unreadable: err}
	return nil
}

func parseFile(file *durable.Hashed) (*parsed, error) {
	text, err := file.Text()
	if err != nil {
		return nil, err
	}
	return parseLedger(text)
}
