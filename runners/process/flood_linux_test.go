package process

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
)

// flood runs a program that writes n bytes as lines of 64, with a last line of its own, and reads them as they come.
func flood(tb testing.TB, n string, limit int64) (lines int, last string) {
	tb.Helper()
	cmd := shell(tb, `yes 012345678901234567890123456789012345678901234567890123456789012 | head -c `+n+`; echo result`)
	p := start(tb, NewLocal(), cmd)
	gone := make(chan struct{})
	go func() { p.Wait(); close(gone) }()
	l, err := OpenLines(cmd.Stdout, LinesOptions{Gone: gone})
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	for ; ; lines++ {
		line, err := l.Next(tb.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || line.Dropped > 0 {
			tb.Fatal(line.Dropped, err)
		}
		last = string(line.Data)
	}
	if _, err := Compact(cmd.Stdout, limit); err != nil {
		tb.Error(err)
	}
	if info, err := os.Stat(cmd.Stdout); err != nil || info.Size() > limit {
		tb.Errorf("%v, %v: want at most %d bytes", info, err, limit)
	}
	return lines, last
}

func TestFlood(t *testing.T) {
	t.Parallel()
	lines, last := flood(t, "64M", 4<<20)
	if lines != 1<<20+1 || last != "result" {
		t.Errorf("%d lines, the last is %q", lines, last)
	}
}

// BenchmarkFlood reads 1 GiB as it is written.
func BenchmarkFlood(b *testing.B) {
	b.SetBytes(1 << 30)
	for b.Loop() {
		flood(b, "1G", 32<<20)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapSys)/(1<<20), "MiB-heap")
}
