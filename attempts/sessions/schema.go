package sessions

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	_ "modernc.org/sqlite" // the driver
)

//go:embed migrations/*.sql
var migrations embed.FS

// application is what SQLite files of relay have as their application_id: "rlay".
const application = 0x726c6179

type schema struct {
	file  string
	steps []string // the files of migrations that lead from nothing to the newest version
}

func rowSchema() schema { return schema{File, []string{"rows-1.sql"}} }

func searchSchema() schema { return schema{SearchFile, []string{"search-1.sql"}} }

// version returns how far a database has been migrated. It fails with ErrForeign, ErrNewer or ErrDamaged.
func (s schema) version(ctx context.Context, db *sql.DB) (int, error) {
	var version, owner, tables int
	err := db.QueryRowContext(ctx, sqlVersion).Scan(&version, &owner, &tables)
	switch {
	case err != nil:
		return 0, named(s.file, err)
	case owner != application && (owner != 0 || version != 0 || tables > 0):
		return 0, fmt.Errorf("%s: %w", s.file, ErrForeign)
	case version > len(s.steps):
		return 0, fmt.Errorf("%s: %w (version %d, this relay knows %d)", s.file, ErrNewer, version, len(s.steps))
	case version > 0 && tables == 0:
		return 0, fmt.Errorf("%s: %w: its tables are gone", s.file, ErrDamaged)
	}
	return version, nil
}

// migrate brings a database to the newest version, or leaves it as it is.
func (s schema) migrate(ctx context.Context, db *sql.DB) error {
	version, err := s.version(ctx, db)
	if err != nil || version == len(s.steps) {
		return err
	}
	return named(s.file, inTx(ctx, db, func(tx *sql.Tx) error {
		for _, step := range s.steps[version:] {
			text, err := migrations.ReadFile("migrations/" + step)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(sqlMigrated, application, len(s.steps)))
		return err
	}))
}
