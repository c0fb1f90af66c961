package sessions

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// heavy is so many messages of one session, each with a tool call, from a sequence number on.
func heavy(from, messages int) Batch {
	b := Batch{Sessions: []Session{{ID: "long", Source: "claude-code", CreatedAt: 1}}}
	for i := from; i < from+messages; i++ {
		id := fmt.Sprintf("msg-%08d", i)
		b.Messages = append(b.Messages, Message{
			ID: id, Session: "long", Role: Assistant, Sequence: int64(i), Timestamp: int64(i),
			Content:      fmt.Sprintf("I change file%d.go so that the parser accepts number %d, then I run its tests again.", i%500, i),
			MetadataJSON: `{"_v":3,"type":2,"bubbleId":null,"isAgentic":true,"relay":{"run":"r","task":"T1","attempt":1,"offset":1}}`,
		})
		b.ToolCalls = append(b.ToolCalls, ToolCall{
			ID: "call-" + id, Message: id, Session: "long", Tool: "Bash", Status: Completed, StartedAt: int64(i), CompletedAt: int64(i + 1),
			ParamsJSON: `{"command":"go test ./parser"}`, ResultJSON: fmt.Sprintf(`"ok  \tdemo/parser\t0.%03ds\nPASS %d"`, i%1000, i),
		})
	}
	return b
}

const batchSize = 1000 // messages, and as many tool calls

// bare writes the same rows with prepared inserts and nothing else, into the same tables.
func bare(b *testing.B, batches []Batch) time.Duration {
	b.Helper()
	d := opened(b, b.TempDir())
	ctx := context.WithoutCancel(b.Context())
	began := time.Now()
	for i, batch := range batches {
		tx, err := d.rows.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			if _, err := tx.ExecContext(ctx, insert("agent_sessions"), columnsIn(&batch.Sessions[0]).values...); err != nil {
				b.Fatal(err)
			}
		}
		message, err := tx.PrepareContext(ctx, insert("agent_messages"))
		if err != nil {
			b.Fatal(err)
		}
		call, err := tx.PrepareContext(ctx, insert("agent_tool_calls"))
		if err != nil {
			b.Fatal(err)
		}
		for i := range batch.Messages {
			if _, err := message.ExecContext(ctx, columnsIn(&batch.Messages[i]).values...); err != nil {
				b.Fatal(err)
			}
		}
		for i := range batch.ToolCalls {
			if _, err := call.ExecContext(ctx, columnsIn(&batch.ToolCalls[i]).values...); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// BenchmarkWrite compares the writer with bare prepared inserts through the same driver.
func BenchmarkWrite(b *testing.B) {
	const rows = 20 * batchSize * 2
	var batches []Batch
	for i := range 20 {
		batches = append(batches, heavy(i*batchSize, batchSize))
	}
	for b.Loop() {
		floor := bare(b, batches)
		d := opened(b, b.TempDir())
		began := time.Now()
		for _, batch := range batches {
			if err := d.Write(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(rows/floor.Seconds(), "bare-rows/s")
		b.ReportMetric(floor.Seconds()/time.Since(began).Seconds(), "rows/bare")
	}
}

// BenchmarkLongSession asks for the first page, a page in the middle, a common and a rare word, of 200,000 messages.
func BenchmarkLongSession(b *testing.B) {
	dir := b.TempDir()
	d := opened(b, dir)
	var before, after runtime.MemStats
	for i := range 200 {
		if err := d.Write(b.Context(), heavy(i*batchSize, batchSize)); err != nil {
			b.Fatal(err)
		}
		if i == 20 {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	r, err := OpenReadOnly(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	measure := func(unit string, ask func() (int, error)) {
		began := time.Now()
		n, err := ask()
		if err != nil || n == 0 {
			b.Fatalf("%s: %d, %v", unit, n, err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, unit)
	}
	page := func(from int64) func() (int, error) {
		return func() (int, error) {
			said, err := r.Conversation(b.Context(), "long", Part{From: from, Most: 101})
			return len(said), err
		}
	}
	search := func(words string) func() (int, error) {
		return func() (int, error) {
			hits, err := r.Search(b.Context(), strings.Fields(words), 20)
			return len(hits), err
		}
	}
	for b.Loop() {
		measure("first-page-ms", page(0))
		measure("middle-page-ms", page(100_000))
		measure("common-word-ms", search("parser tests"))
		measure("rare-word-ms", search("123456"))
		measure("prefix-ms", search("pars* 1234*"))
		measure("list-ms", func() (int, error) { list, err := r.List(b.Context(), Filter{Task: "T1"}); return len(list), err })
		measure("tools-ms", func() (int, error) { list, err := r.Tools(b.Context(), "long"); return len(list), err })
	}
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "heap-growth-MiB")
}

// TestFirstPage holds that the first page of a long session is found by an index, and so is the next one: no page is slower for what is
// before or after it.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := opened(t, dir).Write(t.Context(), heavy(0, 10)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, args := range map[string][]any{
		queryMessages: {"long", 0, 100, 100, false}, queryCalls: {"long", 0, 100}, queryTurns: {"long"}, querySession: {"long"},
	} {
		for _, step := range list(t, db, "EXPLAIN QUERY PLAN "+selected(query), args...) {
			if strings.Contains(step, "SCAN agent") || strings.Contains(step, "SCAN m") || strings.Contains(step, "SCAN c") ||
				query == queryMessages && strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
}
