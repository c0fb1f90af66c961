package attempts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
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
	return durable.Replace(disk, LedgerFile, nil, durable.Content{Write: notStarted(g, e, s, now).render})
}

// notStarted returns the state of an epic of which nothing was run.
func notStarted(g *epic.Graph, e *epic.Epic, s Settings, now time.Time) *fold {
	return newFold(g, &Ledger{EpicID: e.ID, StartedAt: now.UTC().Truncate(time.Second), Settings: s})
}

// createFresh writes the first ledger of an epic and returns what reading it would.
func createFresh(fsys durable.FS, o *Options) (*contents, error) {
	f := notStarted(o.Graph, o.Epic, *o.Fresh, o.Now())
	sum := sha256.New()
	err := durable.Replace(fsys, LedgerFile, nil, durable.Content{Write: func(w io.Writer) error {
		return f.render(io.MultiWriter(w, sum))
	}})
	if err != nil {
		return nil, err
	}
	info, err := fsys.Lstat(LedgerFile)
	if err != nil {
		return nil, err
	}
	return &contents{
		epic: o.Epic, log: &history{fsys: fsys, graph: o.Graph, fold: f, next: 1}, sum: hex.EncodeToString(sum.Sum(nil)), stamp: durable.StampOf(info),
	}, nil
}

// Self describes this process as the holder of a lock.
func Self(epicID string, now time.Time) Holder {
	h := durable.Here(now)
	h.Epic = epicID
	return h
}
