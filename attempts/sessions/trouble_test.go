package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocked holds the ledger as another program can, in the middle of a transaction: Write fails, and works again afterwards.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := opened(t, dir)
	if err := d.Write(t.Context(), conversation()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{File} {
		other, err := sql.Open("sqlite", filepath.Join(dir, file)+"?_txlock=exclusive")
		if err != nil {
			t.Fatal(err)
		}
		tx, err := other.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b := conversation()
		b.Marks = []Mark{{Stream: "s"}}
		err = d.Write(t.Context(), b)
		if !errors.Is(err, ErrLocked) || !strings.HasPrefix(err.Error(), file+": another process is writing it: ") {
			t.Errorf("%s: got %v", file, err)
		}
		if err := errors.Join(tx.Rollback(), other.Close()); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := d.Mark(t.Context(), "s"); ok || err != nil {
			t.Errorf("%s: there is a mark: %v", file, err)
		}
	}
	if err := d.Write(t.Context(), conversation()); err != nil {
		t.Error(err)
	}
	sound(t, d)
}

// TestFull lets the files grow no further: Write fails, and what was there stays.
func TestFull(t *testing.T) {
	t.Parallel()
	for _, file := range []string{File} {
		d := opened(t, t.TempDir())
		if err := d.Write(t.Context(), conversation()); err != nil {
			t.Fatal(err)
		}
		before := strings.Join(rowsOf(t, d), "\n")
		db := d.rows
		if _, err := db.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // SQLite raises it to what there is
			t.Fatal(err)
		}
		err := d.Write(t.Context(), heavy(0, 500))
		if !errors.Is(err, ErrFull) || !strings.HasPrefix(err.Error(), file+": the disk is full: ") {
			t.Errorf("%s: got %v", file, err)
		}
		if after := strings.Join(rowsOf(t, d), "\n"); file == File && after != before {
			t.Errorf("a part of the batch is there:\n%s", after)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), heavy(0, 500)); err != nil {
			t.Error(err)
		}
		sound(t, d)
	}
}

// TestGarbledWhileOpen damages the file under a writer: Write says so, and a rebuild puts the file aside.
func TestGarbledWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := opened(t, dir)
	if err := errors.Join(d.Write(t.Context(), heavy(0, 2000)), d.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) / 4; i < len(text); i++ {
		text[i] ^= 0x55
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d = opened(t, dir) // does not read all of it
	if len(d.PutAside()) > 0 {
		t.Fatalf("put aside: %v", d.PutAside())
	}
	for i := 0; err == nil && i < 100; i++ {
		err = d.Write(t.Context(), heavy(i*500, 500))
	}
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-journal", make([]byte, 512), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), dir, Options{Now: now, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(again.PutAside()) != 1 {
		t.Fatalf("put aside: %v", again.PutAside())
	}
	if _, err := os.Stat(again.PutAside()[0] + "-journal"); err != nil {
		t.Error(err)
	}
	if err := again.Write(t.Context(), heavy(0, 10)); err != nil {
		t.Error(err)
	}
	sound(t, again)
}

// TestCancelled ends a batch before its end: nothing of it is there.
func TestCancelled(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Write(ctx, conversation()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := rowsOf(t, d); len(got) > 0 {
		t.Errorf("rows: %v", got)
	}
}

// TestHeavyTurn writes and reads a turn with 597 tool calls, as one is known to have had.
func TestHeavyTurn(t *testing.T) {
	t.Parallel()
	const calls = 597
	b := Batch{
		Sessions: []Session{{ID: "s", Source: "codex"}},
		Messages: []Message{{ID: "q", Session: "s", Role: User, Content: "do it all"}, {ID: "a", Session: "s", Role: Assistant, Sequence: 1}},
		Turns:    []Turn{{ID: "a", Session: "s", QueryMessages: `["q"]`, Response: "a", ToolCalls: calls}},
	}
	for i := range calls {
		b.ToolCalls = append(b.ToolCalls, ToolCall{ID: fmt.Sprint("c", calls-i), Session: "s", Message: "a", Tool: "shell", Number: int64(i), Status: Completed})
	}
	r := reader(t, b)
	said, err := r.Conversation(t.Context(), "s", Part{})
	if err != nil || len(said) != 2 || len(said[1].Calls) != calls {
		t.Fatalf("%d messages, %v", len(said), err)
	}
	for i, c := range said[1].Calls {
		if c.Number != int64(i) {
			t.Fatalf("call %d is number %d", i, c.Number)
		}
	}
	if tools, err := r.Tools(t.Context(), "s"); err != nil || tools[0].Uses != calls || tools[0].Success != 1 {
		t.Errorf("%v, %v", tools, err)
	}
}
