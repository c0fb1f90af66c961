package sessions

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	_ "modernc.org/sqlite" // the driver
)

//go:embed migrations/rows-1.sql
var rowTables string

//go:embed migrations/search-1.sql
var searchTables string

// newest is the version of both schemas.
const newest = 1

// application is what SQLite files of relay have as their application_id: "rlay".
const application = 0x726c6179

type schema struct{ file, tables string }

func rowSchema() schema { return schema{File, rowTables} }

func searchSchema() schema { return schema{SearchFile, searchTables} }

// version returns how far a database has been migrated. It fails with ErrForeign, ErrNewer or ErrDamaged.
func (s schema) version(ctx context.Context, db *sql.DB) (int, error) {
	var version, owner, tables int
	err := db.QueryRowContext(ctx, sqlVersion).Scan(&version, &owner, &tables)
	switch {
	case err != nil:
		return 0, named(s.file, err)
	case owner != application && (owner != 0 || version != 0 || tables > 0):
		return 0, fmt.Errorf("%s: %w", s.file, ErrForeign)
	case version > newest:
		return 0, fmt.Errorf("%s: %w (version %d, this relay knows %d)", s.file, ErrNewer, version, newest)
	case version > 0 && tables == 0:
		return 0, fmt.Errorf("%s: %w: its tables are gone", s.file, ErrDamaged)
	}
	return version, nil
}

// migrate brings a database to the newest version, or leaves it as it is.
func (s schema) migrate(ctx context.Context, db *sql.DB) error {
	version, err := s.version(ctx, db)
	if err != nil || version == newest {
		return err
	}
	return named(s.file, inTx(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.tables+fmt.Sprintf(sqlMigrated, application, newest))
		return err
	}))
}
