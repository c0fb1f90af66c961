package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"relay/attempts/internal/chain"
	"relay/attempts/internal/durable"
	"relay/epic"
	"relay/epic/each"
)

// history is everything that the event logs of an epic say.
type history struct {
	fsys    durable.FS
	graph   *epic.Graph
	logs    []*logFile // in the order of their events
	start   int        // index of the first log that matters
	limit   uint64     // last event wanted
	fold    *fold
	next    uint64 // sequence number of the next event; 0: whatever comes
	known   uint64 // events up to here are in the ledger that folding began with
	high    uint64 // highest number seen, also where it does not belong
	sum     uint32 // of the last line
	torn    []*logFile
	faults  []Fault
	notes   []string
	late    []Fault      // that keep no run from starting
	keep    bool         // a copy of each log
	skipped uint64       // events up to here were known from seenFile
	event   Event        // that was read last: its room is used again
	links   *chain.Chain // nil: they are not read
}

// logFile is one run's log, after reading.
type logFile struct {
	run   string
	first uint64 // number of its first event; 0 when it has none
	based bool   // it begins with a base
	odd   bool   // it is a pipe, a link or the like, and not read
	from  int64  // bytes that are known from seenFile
	tail  durable.TornTail
	copy  *durable.Copy // nil: none was wanted
}

func (l *logFile) name() string { return EventsPath(l.run) }

// findLogs lists the logs in the order of their events. That is the order of their names too, unless the clock was
// set back between two runs.
func findLogs(fsys durable.FS) ([]*logFile, error) {
	names, err := runNames(fsys)
	if err != nil {
		return nil, err
	}
	var logs []*logFile
	for _, run := range names {
		l := &logFile{run: run}
		err := l.peek(fsys)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if l.odd = errors.Is(err, durable.ErrNotRegular); err != nil && !l.odd {
			return nil, err
		}
		logs = append(logs, l)
	}
	slices.SortStableFunc(logs, func(a, b *logFile) int {
		return cmp.Compare(a.first, b.first) // those without an event come first
	})
	return logs, nil
}

var errStop = errors.New("stop")

// peek finds the first event.
func (l *logFile) peek(fsys durable.FS) error {
	_, err := l.lines(fsys, 0, func(line *durable.Line) error {
		l.first = line.Seq
		var e Event
		if decode(line.Text, &e) == nil {
			l.based = e.Accepted != nil && e.Accepted.Base != nil && e.Accepted.Base.Part == 1
		}
		return errStop
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// lines calls f with every line from an offset on that can be read.
func (l *logFile) lines(fsys durable.FS, from int64, f func(*durable.Line) error) (durable.TornTail, error) {
	file, err := durable.Regular(fsys, l.name(), os.O_RDONLY)
	if err != nil {
		return durable.TornTail{}, err
	}
	defer file.Close()
	return durable.ScanLines(io.NewSectionReader(file, from, math.MaxInt64-from), 0, f, func(*durable.BadLine) error { return nil })
}

// begin finds the log to start with: the last that has a base, else the first if nothing is missing before it.
func (h *history) begin() bool {
	for i, v := range slices.Backward(h.logs) {
		if v.based && v.first <= h.limit {
			h.start, h.next = i, v.first
			return true
		}
	}
	h.start, h.next = 0, 1
	i := slices.IndexFunc(h.logs, func(l *logFile) bool { return l.first > 0 })
	return i >= 0 && h.logs[i].first == 1
}

// reset forgets what was read, and begins with a ledger; nil: with nothing.
func (h *history) reset(base *parsed) {
	h.torn, h.faults, h.late, h.notes, h.sum, h.known = nil, nil, nil, nil, 0, 0
	h.links.Again(0)
	if base == nil {
		h.fold = newFold(h.graph, nil)
		return
	}
	h.fold = newFold(h.graph, base.ledger)
	h.fold.extra, h.known = base.extra, base.ledger.Folded.Seq
}

// readWhole reads the logs if they need no ledger beside them.
func (h *history) readWhole() (bool, error) {
	for h.begin() {
		h.next = max(h.next, h.skipped+1)
		if err := h.read(); err != nil {
			return false, err
		}
		if h.fold.base == h.fold.bases {
			return h.next > 1, nil
		}
		if !h.logs[h.start].based {
			return false, nil
		}
		// The crash came while the base was written; nothing was built on it.
		h.logs[h.start].based = false
		h.reset(nil)
	}
	return false, nil
}

// read folds every event in. Faults are collected; those that make the state wrong are in h.faults afterwards.
func (h *history) read() error {
	for _, l := range h.logs[h.start:] {
		err := h.readLog(l)
		if errors.Is(err, errStop) {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *history) readLog(l *logFile) error {
	if l.odd {
		h.fault(l, 0, "it is "+durable.ErrNotRegular.Error(), "relay ledger repair takes it out of the way")
		return nil
	}
	f, err := durable.Regular(h.fsys, l.name(), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = io.NewSectionReader(f, l.from, math.MaxInt64-l.from)
	if h.keep {
		l.copy = durable.NewCopy(l.name())
		r = io.TeeReader(r, l.copy)
	}
	next := h.next
	if h.known > 0 { // a log may begin with what is known already
		next = 0
	}
	tail, err := durable.ScanLines(r, next, func(line *durable.Line) error {
		return h.line(l, line)
	}, func(b *durable.BadLine) error {
		h.fault(l, b.Number, b.Why, "relay ledger validate shows the damage; relay ledger repair keeps a copy and restores what can be")
		return nil
	})
	var newer *VersionError
	if errors.Is(err, errStop) || errors.As(err, &newer) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.name(), err)
	}
	l.tail = tail
	l.tail.Offset += l.from
	if tail.Bytes > 0 {
		h.torn = append(h.torn, l)
	}
	return nil
}

// foldTo folds the logs again, up to an event.
func (h *history) foldTo(seq uint64) (*fold, error) {
	again := &history{fsys: h.fsys, logs: h.logs, start: h.start, fold: newFold(h.graph, nil), limit: seq}
	return again.fold, again.read()
}

// tornNotes describes the incomplete last lines that a crash has left in the logs.
func (h *history) tornNotes() []string {
	return each.Of(h.torn, func(l *logFile) string {
		return fmt.Sprintf("%s: the last %d bytes are no whole event (line %d); they were never acknowledged", l.name(), l.tail.Bytes, l.tail.Line)
	})
}

func (h *history) fault(l *logFile, line int, why, hint string) {
	h.faults = append(h.faults, Fault{File: l.name(), Line: line, Message: why, Hint: hint})
}

const hintUnproved = "relay ledger repair goes back to the events before; relay ledger accept takes all that is there"

func (h *history) line(l *logFile, line *durable.Line) error { //nolint:gocyclo // a list of what can be wrong with a line
	h.high = max(h.high, line.Seq)
	e := &h.event
	if err := decode(line.Text, e); err != nil {
		h.fault(l, line.Number, "not an event: "+err.Error(), "")
		return nil //nolint:nilerr // the fault is listed
	}
	if rs := e.RunStarted; rs != nil && rs.Version > LogVersion {
		return &VersionError{Path: l.name(), Version: rs.Version, Ours: LogVersion}
	}
	if e.Seq > h.limit && (h.links != nil || e.Accepted == nil || e.Accepted.Base == nil) {
		return errStop
	}
	sum, hint := durable.Sum(0, line.Text), hintUnproved
	if e.Seq+1 == h.next && sum == h.sum {
		h.notes = append(h.notes, fmt.Sprintf("%s:%d: event %d is there twice", l.name(), line.Number, e.Seq))
		return nil
	}
	why, late := h.links.Read(e.Seq, e.Link, line.Text)
	if why != "" && h.limit < math.MaxUint64 {
		return errStop
	}
	switch {
	case e.Seq <= h.known || h.next == 0 || e.Seq == h.next:
	case e.Seq < h.next:
		why, hint = fmt.Sprintf("event %d comes after event %d", e.Seq, h.next-1), "two relays have written at once, or a log was copied: relay ledger repair saves what can be read, and keeps a copy"
	default:
		why, hint = fmt.Sprintf("events %d to %d are missing", h.next, e.Seq-1), ""
	}
	if f := (Fault{File: l.name(), Line: line.Number, Message: why, Hint: hint}); late {
		h.late, h.notes = append(h.late, f), append(h.notes, f.Error())
	} else if why != "" {
		h.faults = append(h.faults, f)
	}
	if e.Seq > h.known {
		h.next, h.sum = e.Seq+1, sum
		h.fold.apply(e)
	}
	return nil
}

// newHistory lists the logs and says where folding has to begin.
func newHistory(fsys durable.FS, g *epic.Graph) (*history, error) {
	logs, err := findLogs(fsys)
	if err != nil {
		return nil, err
	}
	return &history{fsys: fsys, graph: g, logs: logs, limit: math.MaxUint64, fold: newFold(g, nil), next: 1}, nil
}
