package attempts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTail(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	s := b.open(t, "20260101T000000Z-aa")
	tail := NewTail(b.dir)
	seen := func() (list []uint64) {
		t.Helper()
		if err := tail.Next(func(e Event) error { list = append(list, e.Seq); return nil }); err != nil {
			t.Fatal(err)
		}
		return list
	}
	first := seen()
	if err := s.Append(started("T1", 1)); err != nil {
		t.Fatal(err)
	}
	second := seen()
	if n := len(first); len(second) != 1 || n > 0 && second[0] != first[n-1]+1 {
		t.Errorf("one event more gives %v after %v", second, first)
	}
	if again := seen(); len(again) > 0 {
		t.Errorf("no event more gives %v", again)
	}
	// The beginning of a line is no event yet.
	path := filepath.Join(b.dir, EventsPath("20260101T000000Z-aa"))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString(`{"crc":"`)
	if torn := seen(); len(torn) > 0 {
		t.Errorf("a torn line gives %v", torn)
	}
	s.Close()
	later := b.open(t, "20260102T000000Z-bb")
	defer later.Close()
	if err := later.Append(succeeded("T1", 1)); err != nil {
		t.Fatal(err)
	}
	third := seen()
	if len(third) == 0 || third[0] <= second[0] || !slices.IsSorted(third) {
		t.Errorf("the log of another run gives %v after %v", third, second)
	}
}
