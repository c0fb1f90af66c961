package sessions

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func now() time.Time { return time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC) }

// opened is a ledger in a folder.
func opened(tb testing.TB, dir string) *DB {
	tb.Helper()
	d, err := Open(tb.Context(), dir, Options{Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// list returns the rows of a query, their values separated by "|".
func list(tb testing.TB, db *sql.DB, query string, args ...any) (lines []string) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query, args...)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			tb.Fatal(err)
		}
		line := make([]string, len(columns))
		for i, v := range values {
			if line[i] = fmt.Sprint(*v.(*any)); *v.(*any) == nil {
				line[i] = "-"
			}
		}
		lines = append(lines, strings.Join(line, "|"))
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return lines
}

// TestSchema compares the tables with what other programs that read agents ledgers expect, and holds that there is one index more and
// nothing else.
func TestSchema(t *testing.T) {
	t.Parallel()
	db := opened(t, t.TempDir()).rows
	want := map[string]struct{ columns, keys, indexes string }{
		"agent_sessions": {
			"id* source! model project created_at:i message_count:i=0 parent_session_id parent_message_id tool_call_id task_description " +
				"task_status is_subagent:i=0 context_token_limit:i context_tokens_used:i is_agentic:i=0 force_mode workspace_path " +
				"context_json conversation_state raw_json summary",
			"parent_session_id>agent_sessions.id:NO ACTION",
			"created(created_at) parent(parent_session_id) source(source) tool_call(tool_call_id)",
		},
		"agent_messages": {
			"id* session_id! role! content sequence:i timestamp:i checkpoint_id is_agentic:i=0 is_plan_execution:i=0 context_json " +
				"cursor_rules_json metadata_json",
			"session_id>agent_sessions.id:CASCADE",
			"role(role) sequence(session_id,sequence)unique session(session_id) timestamp(timestamp)",
		},
		"agent_turns": {
			"id* session_id! parent_turn_id query_message_ids response_message_id model token_count:i timestamp:i has_children:i=0 " +
				"tool_call_count:i=0",
			"session_id>agent_sessions.id:CASCADE",
			"parent(parent_turn_id) session(session_id) timestamp(timestamp)",
		},
		"agent_tool_calls": {
			"id* message_id session_id! tool_name tool_number:i params_json result_json status child_session_id started_at:i completed_at:i",
			"child_session_id>agent_sessions.id:NO ACTION message_id>agent_messages.id:NO ACTION session_id>agent_sessions.id:CASCADE",
			"child(child_session_id) message(message_id) name(tool_name) session(session_id)",
		},
	}
	for table, w := range want {
		got := strings.Join(list(t, db, `SELECT name || CASE WHEN pk THEN '*' ELSE '' END || CASE WHEN "notnull" THEN '!' ELSE '' END ||
			CASE type WHEN 'INTEGER' THEN ':i' WHEN 'TEXT' THEN '' ELSE type END || coalesce('=' || dflt_value, '') FROM pragma_table_xinfo(?)`, table), " ")
		if got != w.columns {
			t.Errorf("columns of %s:\n got %s\nwant %s", table, got, w.columns)
		}
		got = strings.Join(list(t, db, `SELECT "from" || '>' || "table" || '.' || "to" || ':' || on_delete FROM pragma_foreign_key_list(?) ORDER BY 1`, table), " ")
		if got != w.keys {
			t.Errorf("keys of %s:\n got %s\nwant %s", table, got, w.keys)
		}
		got = strings.Join(list(t, db, `SELECT substr(l.name, ?2) || '(' || (SELECT group_concat(name) FROM pragma_index_info(l.name)) || ')' ||
			CASE WHEN "unique" THEN 'unique' ELSE '' END FROM pragma_index_list(?1) AS l WHERE origin = 'c' ORDER BY 1`, table, len("idx_"+table+"_")+1), " ")
		if got != w.indexes {
			t.Errorf("indexes of %s:\n got %s\nwant %s", table, got, w.indexes)
		}
		// All that a row holds is written, but for what Write counts.
		written := append(columnsOf(table), map[string][]string{"agent_sessions": {"message_count"}, "agent_turns": {"has_children"}}[table]...)
		names := list(t, db, `SELECT name FROM pragma_table_xinfo(?) ORDER BY 1`, table)
		if slices.Sort(written); !slices.Equal(written, names) {
			t.Errorf("%s: written %v, columns %v", table, written, names)
		}
	}
	if got := list(t, db, "SELECT type || ' ' || name FROM sqlite_schema WHERE type <> 'index' ORDER BY 1"); len(got) != len(want)+1 {
		t.Errorf("more than the four tables, and marks: %v", got)
	}
	if got := list(t, db, "SELECT journal_mode || ' ' || foreign_keys FROM pragma_journal_mode, pragma_foreign_keys"); got[0] != "wal 1" {
		t.Errorf("mode and foreign keys: %v", got)
	}
}

func TestModeOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := opened(t, dir)
	if err := d.Write(t.Context(), Batch{Sessions: []Session{{ID: "s", Source: "codex"}}}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Errorf("files: %v", files)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s is %v", f.Name(), info.Mode())
		}
	}
}

// change alters a database as any program can.
func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// TestStates opens what can stand in the ledger's place.
func TestStates(t *testing.T) {
	t.Parallel()
	garble := func(text []byte) []byte {
		for i := 4096; i < len(text); i++ {
			text[i] ^= 0x55
		}
		return text
	}
	for name, c := range map[string]struct {
		ours  bool // one of relay's is changed, instead of a new file
		exec  string
		text  func([]byte) []byte
		err   string
		is    error
		aside bool
	}{
		"empty":              {text: func([]byte) []byte { return nil }},
		"another's":          {exec: "CREATE TABLE notes (text)", err: "agents-ledger.db: it is a database of another program", is: ErrForeign},
		"another's, marked":  {exec: "PRAGMA application_id = 7", err: "agents-ledger.db: it is a database of another program", is: ErrForeign},
		"another's, version": {exec: "PRAGMA user_version = 1", err: "agents-ledger.db: it is a database of another program", is: ErrForeign},
		"no database":        {text: func([]byte) []byte { return []byte(strings.Repeat("text\n", 4000)) }, aside: true},
		"newer":              {ours: true, exec: "PRAGMA user_version = 99", err: "agents-ledger.db: a newer relay has written it (version 99, this relay knows 1)", is: ErrNewer},
		"garbled":            {ours: true, text: garble, aside: true},
		"without tables":     {ours: true, exec: "DROP TABLE agent_turns; DROP TABLE agent_tool_calls; DROP TABLE agent_messages; DROP TABLE agent_sessions; DROP TABLE relay_marks", aside: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			if c.ours {
				d := opened(t, dir)
				if err := errors.Join(d.Write(t.Context(), Batch{Sessions: []Session{{ID: "before", Source: "codex"}}, Marks: []Mark{{Stream: "a"}}}), d.Close()); err != nil {
					t.Fatal(err)
				}
			}
			if c.exec != "" {
				change(t, path, c.exec)
			}
			before, err := os.ReadFile(path)
			if c.text != nil {
				before = c.text(before)
				err = os.WriteFile(path, before, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			d, err := Open(t.Context(), dir, Options{Now: now, Check: true})
			if !errors.Is(err, c.is) || c.is != nil && err.Error() != c.err {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			at := path
			if err == nil {
				defer d.Close()
				if c.aside != (len(d.PutAside()) == 1) {
					t.Fatalf("put aside: %v", d.PutAside())
				}
				if err := d.Write(t.Context(), Batch{Sessions: []Session{{ID: "s", Source: "codex"}}}); err != nil {
					t.Error(err)
				}
				if _, ok, err := d.Mark(t.Context(), "a"); ok || err != nil {
					t.Errorf("there is a mark, and no rows: %v", err)
				}
				if !c.aside {
					return
				}
				at = d.PutAside()[0]
			}
			if after, err := os.ReadFile(at); err != nil || string(after) != string(before) {
				t.Errorf("%s is not as it was: %v", at, err)
			}
		})
	}
}

func TestOneWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := opened(t, dir)
	if _, err := Open(t.Context(), dir, Options{Now: now}); !errors.Is(err, ErrLocked) || !strings.HasPrefix(err.Error(), "agents-ledger.db: another process is writing it: held by process") {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
}
