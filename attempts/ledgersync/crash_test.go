package ledgersync

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"testing"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
)

// appendSome appends entries one by one, as far as the disk lets it, and returns how many were acknowledged.
func appendSome(fsys durable.FS, from, to int) (acked int, err error) {
	w, err := NewWriter(fsys, "demo", nil)
	if err != nil {
		return 0, err
	}
	for n := from; n < to; n++ {
		if _, err := w.Append(entryOf(n)); err != nil {
			return n - from, err
		}
	}
	return to - from, nil
}

// ledgerOf counts the entries of the ledger on a disk.
func ledgerOf(t *testing.T, fsys durable.FS) (times map[string]int, skipped []int) {
	t.Helper()
	f, err := fsys.OpenFile(path.Join(Folder, LedgerFile), os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	times = make(map[string]int)
	skipped, err = ReadAll(bytes.NewReader(text), func(_ int, e *Entry) error { times[e.ID]++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return times, skipped
}

// Whenever the machine goes off, what was acknowledged is there once, and the next entry can be read.
func TestCrash(t *testing.T) {
	t.Parallel()
	whole := simdisk.New()
	if _, err := appendSome(whole, 0, 3); err != nil {
		t.Fatal(err)
	}
	for stop := 1; stop < whole.Ops(); stop++ {
		for seed := range uint64(8) {
			disk := simdisk.New()
			disk.StopAt(stop)
			acked, err := appendSome(disk, 0, 3)
			if !errors.Is(err, simdisk.ErrCrashed) {
				t.Fatalf("operation %d: %v", stop, err)
			}
			next := disk.Crash(rand.New(rand.NewPCG(uint64(stop), seed)))
			if _, err := appendSome(next, 3, 5); err != nil {
				t.Fatalf("operation %d, seed %d: %v", stop, seed, err)
			}
			times, _ := ledgerOf(t, next)
			for n := range 5 {
				if got := times[entryOf(n).ID]; n < acked && got != 1 || n >= 3 && got != 1 || got > 1 {
					t.Errorf("operation %d, seed %d: entry %d is there %d times, and %d were acknowledged", stop, seed, n, got, acked)
				}
			}
		}
	}
}

// A relay that is killed at any point of an append leaves no line that a reader stumbles over once it has appended again.
func TestCutAppend(t *testing.T) {
	t.Parallel()
	for _, point := range []string{durable.BeforeWrite, durable.TornWrite, durable.AfterWrite, durable.AfterSync} {
		disk := simdisk.New()
		if _, err := appendSome(disk, 0, 1); err != nil {
			t.Fatal(err)
		}
		killed := errors.New("killed")
		w, err := NewWriter(disk, "demo", func(at string) error {
			if at == point {
				return killed
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(entryOf(1)); !errors.Is(err, killed) {
			t.Fatalf("%s: %v", point, err)
		}
		if _, err := appendSome(disk, 2, 3); err != nil {
			t.Fatal(err)
		}
		times, skipped := ledgerOf(t, disk)
		want := map[string]int{entryOf(0).ID: 1, entryOf(2).ID: 1}
		if point == durable.AfterWrite || point == durable.AfterSync {
			want[entryOf(1).ID] = 1
		}
		if fmt.Sprint(times) != fmt.Sprint(want) || len(skipped) > 0 {
			t.Errorf("%s: got %v, skipped %v, want %v", point, times, skipped, want)
		}
	}
}
