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
		"select*from(SELECT 1) -- it's; so\n;":                                                              "[[1]]",
		"VALUES (1, 'a;b', NULL, x'00', 1.5) ;":                                                             "[[1 a;b <nil> [0] 1.5]]",
		"SELECT name FROM pragma_table_info('agent_turns') LIMIT 2":                                         "[[id] [session_id]]",
		endless + "SELECT x FROM c":                                                                         "[[1] [2] [3]] more",
		"WITH t AS (SELECT count(*) AS n FROM agent_messages) SELECT n, json_extract('[1]', '$[0]') FROM t": "[[4 1]]",
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
	dir := t.TempDir()
	d := opened(t, dir)
	if err := errors.Join(d.Write(t.Context(), conversation()), d.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(dir, File)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	for query, want := range map[string]string{
		"": ErrNotRead.Error(), " ; ": ErrNotRead.Error(),
		"SELECT 1; SELECT 2":                            ErrNotRead.Error(),
		"SELECT 1); DELETE FROM agent_turns; SELECT (1": ErrNotRead.Error(),
		"SELECT 1) LIMIT 5) DELETE FROM agent_turns /*": "attempt to write a readonly database",
		"SELECT 1) LIMIT 5) SELECT * FROM q -- it's\n; ATTACH '" + other + "' AS z; CREATE TABLE z.t(a); SELECT * FROM (SELECT * FROM (SELECT 1": ErrNotRead.Error(),
		"DELETE FROM agent_messages":                     ErrNotRead.Error(),
		"WITH x AS (SELECT 1) DELETE FROM agent_turns":   "syntax error",
		"VACUUM INTO '" + other + "'":                    ErrNotRead.Error(),
		"PRAGMA query_only = 0":                          ErrNotRead.Error(),
		"SELECT load_extension('x')":                     "not authorized",
		"SELECT x FROM nowhere":                          "no such table: nowhere",
		endless + "SELECT count(*) FROM c":               ErrTooLong.Error(),
		endless + "SELECT x FROM c WHERE x = 1 OR x < 0": ErrTooLong.Error(),
	} {
		table, err := r.SQL(t.Context(), query, Limits{8, 2 * time.Second})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrMissing) || table != nil {
			t.Errorf("%s: got %v, want %v", query, err, want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the ledger has changed: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a file was made")
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
		if got[0] != "12relay_marks,agent_sessions,agent_messages,agent_turns,agent_tool_calls" {
			t.Errorf("%q: %s", query, got)
		}
	})
}
