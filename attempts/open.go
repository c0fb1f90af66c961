package attempts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"relay/attempts/internal/chain"
	"relay/attempts/internal/durable"
	"relay/epic"
)

// policy decides what becomes of a foreign edit and of damage before the store is opened on what was read.
type policy func(*contents) error

func refuseEdit(c *contents) error {
	if err := takeEdit(c); err != nil || c.edit == nil {
		return err
	}
	return c.edit
}

func takeEdit(c *contents) error {
	if len(c.log.faults) > 0 {
		return &DamageError{Faults: c.log.faults}
	}
	if c.edit != nil && c.edit.Unreadable != nil {
		return c.edit
	}
	return nil
}

// openFolder opens relay's folder. It fails with ErrNoLedger when there is none.
func openFolder(dir string) (*durable.Disk, error) {
	disk, err := durable.OpenDisk(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNoLedger, dir)
	}
	return disk, err
}

// open opens the store on a given file system.
func open(o Options, fsys durable.FS, decide policy) (*Store, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Store{
		opts: o, fsys: fsys,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if err := s.start(decide); err != nil {
		s.release()
		return nil, err
	}
	go s.snapshots()
	return s, nil
}

// removeTemps removes what replacements that were cut off have left.
func removeTemps(fsys durable.FS) error {
	if err := durable.RemoveTemps(fsys, "."); err != nil {
		return err
	}
	runs, err := runNames(fsys)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := durable.RemoveTemps(fsys, path.Join(RunsDir, run)); err != nil {
			return err
		}
	}
	return nil
}

// chooseRun decides whose log is written. Sequence numbers only grow, so it can be the newest or a new one.
func chooseRun(o *Options, c *contents) (run string, err error) {
	newest := ""
	for _, l := range c.log.logs {
		newest = l.run
		if l.run == o.Run && l.first > 0 && (l != c.log.logs[len(c.log.logs)-1] || len(c.base) > 0) {
			return "", fmt.Errorf("run %s is over", o.Run)
		}
	}
	if run = o.Run; run == "" && len(c.base) == 0 {
		run = newest
	}
	if run == "" {
		run = NewRunID(o.Now(), rand.Reader) // for events that no run of relay work made
	}
	return run, nil
}

// keepLogs takes the copies of the logs: the current one's and those of older ones.
func keepLogs(fsys durable.FS, run string, c *contents) (current *durable.Copy, older []*durable.Copy, err error) {
	current = durable.NewCopy(EventsPath(run))
	for _, l := range c.log.logs {
		switch {
		case l.copy == nil:
		case l.run == run:
			current = l.copy
		default:
			if err := l.copy.Finish(fsys); err != nil {
				return nil, nil, err
			}
			older = append(older, l.copy)
		}
	}
	return current, older, nil
}

// Create writes the first attempt-ledger.yml of an epic, with every task pending, and makes the folder if it is
// missing. It returns [ErrExists] when there is a ledger or an event log already.
func Create(dir string, e *epic.Epic, s Settings, now time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	disk, err := durable.OpenDisk(dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	return create(disk, e, s, now)
}

func create(disk durable.FS, e *epic.Epic, s Settings, now time.Time) error {
	g, err := epic.NewGraph(e)
	if err != nil {
		return err
	}
	lock, err := durable.Acquire(disk, LockFile, Self(e.ID, now))
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := load(disk, Options{}, false); !errors.Is(err, ErrNoLedger) {
		return ErrExists
	}
	_, err = writeFirst(disk, g, &Ledger{EpicID: e.ID, StartedAt: now, Settings: s})
	return err
}

// writeFirst writes the ledger of an epic of which nothing was run.
func writeFirst(fsys durable.FS, g *epic.Graph, l *Ledger) (*fold, error) {
	l.StartedAt = l.StartedAt.UTC().Truncate(time.Second)
	f := newFold(g, l)
	return f, durable.Replace(fsys, LedgerFile, nil, durable.Content{Write: f.render})
}

// createFresh writes the first ledger of an epic, and returns what reading it would: to parse that of 10,000 tasks takes a second.
func createFresh(fsys durable.FS, o *Options) (*contents, error) {
	f, err := writeFirst(fsys, o.Graph, &Ledger{EpicID: o.Epic.ID, StartedAt: o.Now(), Settings: *o.Fresh})
	if err != nil {
		return nil, err
	}
	h := &history{fsys: fsys, graph: o.Graph, fold: f, next: 1, links: chain.New(o.Head, false)}
	file, err := readSnapshot(fsys, LedgerFile)
	return &contents{epic: o.Epic, log: h, file: file}, err
}

// Self describes this process as the holder of a lock.
func Self(epicID string, now time.Time) Holder {
	h := durable.Here(now)
	h.Epic = epicID
	return h
}
