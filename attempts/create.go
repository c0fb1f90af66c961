package attempts

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic"
)

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
	if _, err := disk.Lstat(LedgerFile); err == nil {
		return ErrExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if logs, err := findLogs(disk); err != nil {
		return err
	} else if len(logs) > 0 {
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
	h := &history{fsys: fsys, graph: o.Graph, fold: f, next: 1}
	file, err := readSnapshot(fsys)
	return &contents{epic: o.Epic, log: h, file: file}, err
}

// Self describes this process as the holder of a lock.
func Self(epicID string, now time.Time) Holder {
	h := durable.Here(now)
	h.Epic = epicID
	return h
}
