package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay/attempts/internal/durable"
)

// Options are those of the writer.
type Options struct {
	Epic  string           // told to whom the lock keeps out
	Now   func() time.Time // required
	Check bool             // reads all of the database to find damage, before an import
}

// DB is the agents ledger of one folder, opened for writing. There is one at a time, and its methods are called by one goroutine at a
// time.
type DB struct {
	disk     *durable.Disk
	lock     *durable.Lock
	rows     *sql.DB
	aside    []string
	prepared map[string]*sql.Stmt
	in       *writing // the transaction that Begin has begun; nil: none
}

const (
	waitForOthers = "_pragma=busy_timeout(2000)&_pragma=cache_size(-512)"
	rowPragmas    = "&_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	ownPerm       = 0o600
)

// Open opens the agents ledger of relay's folder for writing, and makes what is missing of it. It puts a damaged file aside and makes
// a new one (see PutAside). Errors are ErrLocked, ErrFull, ErrForeign and ErrNewer, which leave the file unchanged, and others.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	disk, err := durable.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	me := durable.Here(o.Now())
	me.Epic = o.Epic
	lock, err := durable.Acquire(disk, LockFile, me)
	if err != nil {
		if held, ok := errors.AsType[*durable.HeldError](err); ok {
			err = fmt.Errorf("%s: %w: %w", File, ErrLocked, held)
		}
		return nil, errors.Join(err, disk.Close())
	}
	d := &DB{disk: disk, lock: lock}
	if err := d.open(ctx, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *DB) open(ctx context.Context, o Options) error {
	if err := d.inspect(ctx, o); err != nil {
		return err
	}
	if err := d.openFile(ctx); err != nil {
		return err
	}
	var err error
	d.prepared = map[string]*sql.Stmt{}
	for name, text := range statements() {
		if d.prepared[name], err = d.rows.PrepareContext(ctx, text); err != nil {
			return named(err)
		}
	}
	return nil
}

// inspect looks at the file, and puts it aside when it is damaged.
func (d *DB) inspect(ctx context.Context, o Options) error {
	info, err := d.disk.Lstat(File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", File, durable.ErrNotRegular)
	}
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", location(filepath.Join(d.disk.Path(), File))+"?mode=rw&"+waitForOthers) // takes back an interrupted change
	if err != nil {
		return err
	}
	if _, err = versionOf(ctx, db); err == nil && o.Check {
		err = check(ctx, db)
	}
	err = errors.Join(err, db.Close())
	if errors.Is(err, ErrDamaged) {
		path, err := putAside(d.disk, o.Now())
		if err == nil {
			d.aside = append(d.aside, path)
		}
		return err
	}
	return err
}

// check reads a whole database, and returns ErrDamaged if it is.
func check(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, sqlCheck).Scan(&found); err != nil {
		return named(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, found)
	}
	return nil
}

// putAside renames the database and what belongs to it, so that SQLite can still open it under its new name, and returns its path.
func putAside(disk *durable.Disk, now time.Time) (string, error) {
	aside := File + ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-journal", "-wal", "-shm", ""} {
		if err := disk.Rename(File+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.Join(disk.Path(), aside), nil
}

// PutAside returns the paths of damaged files that Open has renamed. An import restores their contents.
func (d *DB) PutAside() []string { return d.aside }

// openFile opens the database for writing, and makes it if it is missing, readable for its owner only.
func (d *DB) openFile(ctx context.Context) error {
	f, err := d.disk.OpenFile(File, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownPerm)
	if err == nil {
		err = f.Close()
	}
	path := filepath.Join(d.disk.Path(), File)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = os.Chmod(path, ownPerm)
	}
	if err != nil {
		return named(err)
	}
	if d.rows, err = sql.Open("sqlite", location(path)+"?mode=rw&"+waitForOthers+rowPragmas); err != nil {
		return err
	}
	d.rows.SetMaxOpenConns(1)
	return migrate(ctx, d)
}

func location(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") // it may begin with a drive's letter
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// Close closes the file and lets others write it. It takes back what is not committed.
func (d *DB) Close() error {
	var err error
	d.rollback()
	if d.rows != nil {
		err = d.rows.Close()
	}
	return errors.Join(err, d.lock.Release(), d.disk.Close())
}
