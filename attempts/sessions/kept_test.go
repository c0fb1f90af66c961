package sessions

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKept: a database that another program has open, with changes beside it, is read and stays as it is.
func TestKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.vscdb")
	theirs, err := sql.Open("sqlite", location(path)+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	theirs.SetMaxOpenConns(1)
	for _, text := range []string{
		"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		`INSERT INTO cursorDiskKV VALUES ('composerData:a', CAST('{"composerId":"a","subagentComposerIds":["b"],
"fullConversationHeadersOnly":[{"bubbleId":"2"},{"bubbleId":"1"},{"bubbleId":"gone"}]}' AS BLOB)), ('composerData:b', '{"composerId":"b"}'),
('bubbleId:a:1', 'torn {'), ('bubbleId:a:2', '{"bubbleId":"2"}'), ('composerData:c', NULL), ('composerData:d', 'torn {'), ('ItemTable', 'x')`,
	} {
		if _, err := theirs.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, path)
	k, err := OpenKept(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := k.Sessions(t.Context())
	if err != nil || strings.Join(ids, " ") != "a d" {
		t.Errorf("sessions %q, %v", ids, err)
	}
	var lines []string
	err = k.Lines(t.Context(), "a", func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	if err != nil || len(lines) != 4 || lines[1] != `{"bubbleId":"2"}` || lines[2] != "torn {" || lines[3] != `{"composerId":"b"}` {
		t.Errorf("lines %q, %v", lines, err)
	}
	stop := errors.New("stop")
	if err := k.Lines(t.Context(), "a", func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if after := contents(t, path); !bytes.Equal(before, after) {
		t.Error("the files have changed")
	}
}

// TestKeptModel: the model of a session of opencode is that of its last answer.
func TestKeptModel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite", location(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER)", "CREATE TABLE part (id TEXT)",
		"CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)",
		`INSERT INTO message VALUES ('1', 'a', '{"providerID":"p","modelID":"new","time":{"created":9}}'), ('2', 'a', 'torn {'),
('3', 'a', '{"providerID":"p","modelID":"old","time":{"created":5}}'), ('4', 'b', '{"role":"user","time":{"created":7}}')`,
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := OpenKept(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if got := k.Model(t.Context(), "a") + " " + k.Model(t.Context(), "b"); got != "p/new " {
		t.Errorf("the models are %q", got)
	}
}

// contents returns a database and the changes beside it.
func contents(t *testing.T, path string) (all []byte) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// TestKeptOther: a database without sessions, and a file that is no database, are refused, and nothing is made beside them.
func TestKeptOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, text := filepath.Join(dir, "other.db"), filepath.Join(dir, "text.db")
	db, err := sql.Open("sqlite", location(other)+"?_pragma=journal_mode(WAL)")
	if err == nil {
		_, err = db.ExecContext(t.Context(), "CREATE TABLE other (x)")
		err = errors.Join(err, db.Close(), os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKept(t.Context(), other); !errors.Is(err, ErrNoSessions) {
		t.Error(err)
	}
	if _, err := OpenKept(t.Context(), text); err == nil || strings.Contains(err.Error(), File) {
		t.Error(err)
	}
	if _, err := OpenKept(t.Context(), filepath.Join(dir, "missing.db")); err == nil {
		t.Error("a missing file was opened")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}
