package sessions

import (
	"fmt"
	"strings"
)

// The statements of the writer.
const (
	putSession    = "session"
	olderChildren = "children"
	addMessages   = "count"
	newMessage    = "add"
	putMessage    = "message"
	putTurn       = "turn"
	hasChildren   = "followed"
	putToolCall   = "call"
	putMark       = "mark"
	getMark       = "marked"
	unmark        = "unmark"
)

func columnsOf(table string) []string {
	rows := map[string]any{"agent_sessions": &Session{}, "agent_messages": &Message{}, "agent_turns": &Turn{}, "agent_tool_calls": &ToolCall{}}
	return columnsIn(rows[table]).names
}

func statements() map[string]string {
	return map[string]string{
		putSession: upsert("agent_sessions", ""),
		olderChildren: "UPDATE agent_sessions AS c SET created_at = p.created_at + 1 FROM agent_sessions AS p " +
			"WHERE p.id = ?1 AND c.parent_session_id = ?1 AND c.created_at <= p.created_at RETURNING id",
		addMessages: "UPDATE agent_sessions SET message_count = message_count + ?2 WHERE id = ?1",
		newMessage:  insert("agent_messages") + " ON CONFLICT (id) DO NOTHING",
		putMessage:  upsert("agent_messages", " WHERE session_id = excluded.session_id"),
		putTurn:     upsert("agent_turns", " WHERE session_id = excluded.session_id"),
		hasChildren: "UPDATE agent_turns AS t SET has_children = EXISTS (SELECT 1 FROM agent_turns WHERE parent_turn_id = t.id) WHERE id = ?1",
		putToolCall: upsert("agent_tool_calls", " WHERE session_id = excluded.session_id"),
		putMark:     "INSERT OR REPLACE INTO relay_marks (stream, offset, state) VALUES (?, ?, ?)",
		getMark:     "SELECT offset, state FROM relay_marks WHERE stream = ?",
		unmark:      "DELETE FROM relay_marks WHERE stream = ?",
	}
}

func insert(table string) string {
	columns := columnsOf(table)
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
}

// upsert inserts a row, or replaces the one that has its id, where that one meets a condition.
func upsert(table, condition string) string {
	columns := columnsOf(table)[1:]
	for i, c := range columns {
		columns[i] = c + " = excluded." + c
	}
	return insert(table) + " ON CONFLICT (id) DO UPDATE SET " + strings.Join(columns, ", ") + condition
}

// Texts of SQL.
const (
	sqlVersion  = "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id"
	sqlMigrated = "PRAGMA application_id = %d; PRAGMA user_version = %d"
	sqlCheck    = "PRAGMA quick_check(1)"

	sqlMarks = "CREATE TABLE IF NOT EXISTS relay_marks (stream TEXT PRIMARY KEY, offset INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;\n"
	// A transaction may have its rows in any order.
	sqlAnyOrder = "PRAGMA defer_foreign_keys = 1"
)

// Texts of SQL about a session and all below it.
const sqlFamily = "WITH RECURSIVE family (id) AS (SELECT id FROM agent_sessions WHERE id = ?1 " +
	"UNION SELECT s.id FROM agent_sessions AS s JOIN family AS f ON s.parent_session_id = f.id) "

// Statements that give back room.
const (
	sqlVacuum     = "VACUUM"
	sqlCheckpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
)

// sqlForget takes a session and all below it out of the ledger, and what others say of them.
func sqlForget() []string {
	return []string{
		sqlFamily + "UPDATE agent_tool_calls SET child_session_id = NULL WHERE child_session_id IN (SELECT id FROM family)",
		sqlFamily + "UPDATE agent_tool_calls SET message_id = NULL WHERE session_id NOT IN (SELECT id FROM family) " +
			"AND message_id IN (SELECT id FROM agent_messages WHERE session_id IN (SELECT id FROM family))",
		sqlFamily + "UPDATE agent_turns AS t SET has_children = EXISTS (SELECT 1 FROM agent_turns WHERE parent_turn_id = t.id " +
			"AND session_id NOT IN (SELECT id FROM family)) " +
			"WHERE id IN (SELECT parent_turn_id FROM agent_turns WHERE session_id IN (SELECT id FROM family))",
		sqlFamily + "DELETE FROM agent_sessions WHERE id IN (SELECT id FROM family)",
	}
}
