package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// Kept is a database in which another program keeps its sessions. relay only reads it, also while that program has it open.
type Kept struct {
	rows            *sql.DB
	sessions, lines string // queries
}

// ErrNoSessions means that a database does not have the tables of a program that relay knows.
var ErrNoSessions = errors.New("the database has no sessions that relay can read")

// OpenKept opens such a database. It fails with ErrNoSessions and errors of SQLite.
func OpenKept(ctx context.Context, path string) (*Kept, error) {
	query := "?mode=ro&" + waitForOthers
	if _, err := os.Stat(path + "-wal"); err != nil { // no program has it open: SQLite need not make files beside it
		query += "&immutable=1"
	}
	rows, err := sql.Open("sqlite", location(path)+query)
	if err != nil {
		return nil, err
	}
	k := &Kept{rows: rows, sessions: "SELECT name FROM sqlite_schema WHERE name IN ('cursorDiskKV', 'part')"}
	found, err := k.Sessions(ctx)
	switch {
	case err == nil && len(found) == 0:
		err = ErrNoSessions
	case err == nil && found[0] == "part":
		k.sessions, k.lines = opencodeSessions, opencodeLines
	case err == nil:
		k.sessions, k.lines = cursorSessions, cursorLines
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return k, nil
}

// Close closes the file.
func (k *Kept) Close() error { return k.rows.Close() }

// Sessions returns the ids of all sessions but those of subagents.
func (k *Kept) Sessions(ctx context.Context) ([]string, error) {
	rows, err := k.rows.QueryContext(ctx, k.sessions)
	return scanned(rows, err, one)
}

// Lines passes on a session, its messages and their parts in order, and then the sessions of its subagents: each as one line of JSON, of
// which it cuts a too long one. It stops at an error of take.
func (k *Kept) Lines(ctx context.Context, session string, take func(line []byte) error) error {
	rows, err := k.rows.QueryContext(ctx, fmt.Sprintf("SELECT substr(line, 1, %d) FROM (%s)", maxKeptLine, k.lines), session)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
	return rows.Err()
}

const maxKeptLine = 9 << 20 // characters: more than a reader takes

// Model returns the model that opencode has asked last in a session, as provider/model; "": it is not known.
func (k *Kept) Model(ctx context.Context, session string) (model string) {
	_ = k.rows.QueryRowContext(ctx, opencodeModel, session).Scan(&model) // a database of Cursor has no such table
	return model
}

// Queries of the database of opencode. A message follows the one that it answers, whatever their times say.
const (
	opencodeSessions = "SELECT id FROM session WHERE coalesce(parent_id, '') NOT IN (SELECT id FROM session) ORDER BY time_created, id"
	opencodeModel    = `SELECT json_extract(data, '$.providerID') || '/' || json_extract(data, '$.modelID') FROM message
	WHERE session_id = ? AND json_valid(data) AND json_extract(data, '$.modelID') <> '' ORDER BY json_extract(data, '$.time.created') DESC, id DESC LIMIT 1`
	opencodeLines = `WITH RECURSIVE family(id, depth) AS (SELECT ?1, 0 UNION
	SELECT s.id, depth + 1 FROM family AS f JOIN session AS s ON s.parent_id = f.id WHERE depth < 20),
of(id, at) AS (SELECT id, row_number() OVER (ORDER BY depth, id) FROM family),
said(id, at, after, data) AS (SELECT m.id, at,
	coalesce(json_extract(data, '$.parentID'), m.id) || (json_extract(data, '$.role') = 'assistant'),
	json_patch(data, json_object('id', m.id, 'sessionID', of.id)) FROM of JOIN message AS m ON m.session_id = of.id WHERE json_valid(data))
SELECT line FROM (SELECT at, '' AS after, '' AS message, '' AS part,
	json_object('id', of.id, 'directory', directory, 'time', json_object('created', time_created)) AS line
	FROM of JOIN session AS s ON s.id = of.id
UNION ALL SELECT at, after, id, '', data FROM said
UNION ALL SELECT at, after, said.id, p.id, json_patch(p.data, json_object('id', p.id, 'messageID', said.id)) FROM said
	JOIN part AS p ON p.message_id = said.id WHERE json_valid(p.data))
ORDER BY at, after, message, part`
)

// Queries of the database of Cursor, which has JSON by keys.
const (
	cursorValue    = "CASE WHEN json_valid(CAST(c.value AS TEXT)) THEN CAST(c.value AS TEXT) ELSE '{}' END"
	cursorComposer = " FROM cursorDiskKV AS c WHERE c.key >= 'composerData:' AND c.key < 'composerData;' AND c.value IS NOT NULL"
	cursorSessions = "SELECT id FROM (SELECT substr(c.key, 14) AS id, json_extract(" + cursorValue + ", '$.createdAt') AS at" + cursorComposer +
		") WHERE id NOT IN (SELECT s.value FROM (SELECT " + cursorValue + " AS line" + cursorComposer +
		") AS p, json_each(p.line, '$.subagentComposerIds') AS s) ORDER BY at, id"
	cursorLines = "WITH RECURSIVE family(id, depth, line) AS (SELECT ?1, 0, " + cursorValue +
		" FROM cursorDiskKV AS c WHERE c.key = 'composerData:' || ?1 UNION SELECT s.value, depth + 1, " + cursorValue +
		" FROM family AS f, json_each(f.line, '$.subagentComposerIds') AS s " +
		"JOIN cursorDiskKV AS c ON c.key = 'composerData:' || s.value WHERE depth < 20), " +
		"of(id, at, line) AS (SELECT id, row_number() OVER (ORDER BY depth, id), line FROM family), " +
		"said(key) AS MATERIALIZED (SELECT key FROM (SELECT at, -1 AS place, 'composerData:' || id AS key FROM of UNION ALL " +
		"SELECT at, h.key, 'bubbleId:' || of.id || ':' || json_extract(h.value, '$.bubbleId') FROM of, " +
		"json_each(of.line, '$.fullConversationHeadersOnly') AS h) ORDER BY at, place) " + // without the messages, which are large
		"SELECT CAST(b.value AS TEXT) AS line FROM said CROSS JOIN cursorDiskKV AS b ON b.key = said.key"
)
