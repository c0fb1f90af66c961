package process

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// flood runs a program that writes n bytes as lines of 64, with a last line of its own, and reads them as they come.
func flood(tb testing.TB, n string, limit int64) (lines int, last string, peak int64) {
	tb.Helper()
	if err := unix.Fallocate(int(written(tb, "x").Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 1); err != nil {
		tb.Skipf("the file system makes no holes: %v", err)
	}
	cmd := shell(tb, `yes 012345678901234567890123456789012345678901234567890123456789012 | head -c `+n+`; echo result`)
	p := start(tb, NewLocal(), cmd)
	gone := make(chan struct{})
	go func() { p.Wait(); close(gone) }()
	l, err := OpenLines(cmd.Stdout, LinesOptions{Gone: gone, Cap: limit})
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
		if lines%(1<<16) == 0 {
			peak = max(peak, onDisk(tb, cmd.Stdout))
		}
		last = string(line.Data)
	}
	if got := onDisk(tb, cmd.Stdout); got > limit+2*1<<20 {
		tb.Errorf("%d bytes on disk at the end, the limit is %d", got, limit)
	}
	if _, err := Compact(cmd.Stdout, limit); err != nil {
		tb.Error(err)
	}
	return lines, last, peak
}

func onDisk(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

func TestFlood(t *testing.T) {
	t.Parallel()
	lines, last, _ := flood(t, "64M", 4<<20)
	if lines != 1<<20+1 || last != "result" {
		t.Errorf("%d lines, the last is %q", lines, last)
	}
}

// BenchmarkFlood reads 1 GiB as it is written.
func BenchmarkFlood(b *testing.B) {
	b.SetBytes(1 << 30)
	var peak int64
	for b.Loop() {
		_, _, now := flood(b, "1G", 32<<20)
		peak = max(peak, now)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(peak)/(1<<20), "MiB-disk-peak")
	b.ReportMetric(float64(mem.HeapSys)/(1<<20), "MiB-heap")
}
