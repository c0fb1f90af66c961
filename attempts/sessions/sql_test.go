package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reader is a ledger with the conversation, opened for reading.
func reader(tb testing.TB, batches ...Batch) *Reader {
	tb.Helper()
	dir := tb.TempDir()
	d := opened(tb, dir)
	for _, b := range batches {
		if err := d.Write(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
	r, err := OpenReadOnly(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() })
	return r
}

const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "

func TestSQL(t *testing.T) {
	t.Parallel()
	r := reader(t, conversation())
	for query, want := range map[string]string{
		"SELECT id, is_subagent FROM agent_sessions ORDER BY id":                                            "[[s1 0] [task-t1 1]]",
		"VALUES (1, 'a;b', NULL, x'00', 1.5) ; -- the end":                                                  "[[1 a;b <nil> [0] 1.5]]",
		"/* ; */ SELECT ';' AS \"a;b\", [id;] FROM (SELECT 2 AS [id;]);":                                    "[[; 2]]",
		"SELECT name FROM pragma_table_info('agent_turns') LIMIT 2":                                         "[[id] [session_id]]",
		"PRAGMA table_info(agent_turns)":                                                                    "[[0 id TEXT 0 <nil> 1] [1 session_id TEXT 1 <nil> 0] [2 parent_turn_id TEXT 0 <nil> 0]] more",
		endless + "SELECT x FROM c":                                                                         "[[1] [2] [3]] more",
		"WITH t AS (SELECT count(*) AS n FROM agent_messages) SELECT n, json_extract('[1]', '$[0]') FROM t": "[[4 1]]",
		"EXPLAIN QUERY PLAN SELECT 1":                                                                       "[[1 0 0 SCAN CONSTANT ROW]]",
	} {
		table, err := r.SQL(t.Context(), query, Limits{3, 10 * time.Second})
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		got := fmt.Sprint(table.Rows)
		if table.More {
			got += " more"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

func TestSQLRefuses(t *testing.T) {
	t.Parallel()
	r := reader(t, conversation())
	before, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	for query, want := range map[string]error{
		"": ErrNotOne, " ; -- nothing": ErrNotOne, "SELECT 1; SELECT 2": ErrNotOne, "SELECT 1;;x": ErrNotOne,
		"DELETE FROM agent_messages":                    ErrNotRead,
		"INSERT INTO agent_sessions (id) VALUES ('x')":  ErrNotRead,
		"WITH x AS (SELECT 1) DELETE FROM agent_turns":  ErrNotRead,
		"UPDATE agent_turns SET model = 1 RETURNING id": ErrNotRead,
		"DROP TABLE agent_turns":                        ErrNotRead,
		"CREATE TABLE x (y)":                            ErrNotRead,
		"CREATE TEMP TABLE x (y)":                       ErrNotRead,
		"ATTACH '" + other + "' AS o":                   ErrNotRead,
		"VACUUM":                                        ErrNotRead,
		"VACUUM INTO '" + other + "'":                   ErrNotRead,
		"BEGIN":                                         ErrNotRead,
		"PRAGMA query_only = 0":                         ErrNotRead,
		"PRAGMA user_version = 7":                       ErrNotRead,
		"PRAGMA journal_mode(delete)":                   ErrNotRead,
		"PRAGMA wal_checkpoint":                         ErrNotRead,
		"SELECT load_extension('x')":                    ErrNotRead,
		"(SELECT 1)":                                    ErrNotRead, "REINDEX": ErrNotRead,
		"ANALYZE":                                           ErrNotRead,
		"EXPLAIN DELETE FROM agent_messages":                ErrNotRead,
		endless + "SELECT count(*) FROM c":                  ErrTooLong,
		endless + "SELECT x FROM c WHERE x = 1 OR x < 0":    ErrTooLong,
		"SELECT randomblob(100000000)":                      ErrTooLarge,
		endless + "SELECT x, hex(zeroblob(4500000)) FROM c": ErrTooLarge,
	} {
		most := 2 * time.Second
		if errors.Is(want, ErrTooLarge) { // whatever time it takes
			most = time.Minute
		}
		began := time.Now()
		table, err := r.SQL(t.Context(), query, Limits{8, most})
		if !errors.Is(err, want) || table != nil {
			t.Errorf("%s: got %v, want %v", query, err, want)
		}
		if took := time.Since(began); took > most+8*time.Second {
			t.Errorf("%s: took %v", query, took)
		}
	}
	if _, err := r.SQL(t.Context(), "SELECT x FROM nowhere", Limits{1, time.Second}); err == nil || !strings.Contains(err.Error(), "no such table: nowhere") {
		t.Errorf("got %v", err)
	}
	if after, err := os.ReadFile(r.path); err != nil || string(after) != string(before) {
		t.Errorf("the ledger has changed: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a file was made")
	}
	if _, err := os.Stat(r.path); err != nil {
		t.Error(err)
	}
}

// FuzzSQL gives texts to the ledger that ought to be queries: nothing in it changes, and every answer comes in time.
func FuzzSQL(f *testing.F) {
	r := reader(f, conversation())
	for _, s := range []string{"SELECT 1", "DELETE FROM agent_turns", "SELECT 1; DROP TABLE agent_turns", "'", "/*", "--", "[;", "PRAGMA user_version=1", "\x00", endless + "SELECT 1 FROM c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		table, err := r.SQL(t.Context(), query, Limits{10, 100 * time.Millisecond})
		if err == nil && len(table.Rows) > 10 {
			t.Errorf("%d rows", len(table.Rows))
		}
		got := list(t, r.rows, "SELECT user_version || (SELECT count(*) FROM agent_turns) || (SELECT group_concat(name) FROM sqlite_schema WHERE type <> 'index') FROM pragma_user_version")
		if got[0] != "12agent_sessions,agent_messages,agent_turns,agent_tool_calls" {
			t.Errorf("%q: %s", query, got)
		}
	})
}
