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

// newest is the version of the schema.
const newest = 1

// application is what SQLite files of relay have as their application_id: "rlay".
const application = 0x726c6179

// versionOf returns how far a database has been migrated. It fails with ErrForeign, ErrNewer or ErrDamaged.
func versionOf(ctx context.Context, db *sql.DB) (int, error) {
	var version, owner, tables int
	err := db.QueryRowContext(ctx, sqlVersion).Scan(&version, &owner, &tables)
	switch {
	case err != nil:
		return 0, named(err)
	case owner != application && (owner != 0 || version != 0 || tables > 0):
		return 0, fmt.Errorf("%s: %w", File, ErrForeign)
	case version > newest:
		return 0, fmt.Errorf("%s: %w (version %d, this relay knows %d)", File, ErrNewer, version, newest)
	case version > 0 && tables == 0:
		return 0, fmt.Errorf("%s: %w: its tables are gone", File, ErrDamaged)
	}
	return version, nil
}

// migrate brings a database to the newest version, or leaves it as it is.
func migrate(ctx context.Context, d *DB) error {
	version, err := versionOf(ctx, d.rows)
	if err != nil {
		return err
	}
	return d.change(ctx, func(w *writing) error {
		create := sqlMarks
		if version < newest {
			create += rowTables + fmt.Sprintf(sqlMigrated, application, newest)
		}
		_, err := w.tx.ExecContext(ctx, create)
		return err
	})
}
