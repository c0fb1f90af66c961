package adapter

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/runners"
)

// The disk of the test is full for a floor that no disk has.
func TestDiskFilledByWhomItLostRoomTo(t *testing.T) {
	t.Parallel()
	const wrote = 1 << 20
	for name, test := range map[string]struct {
		floor, lost int64
		age         time.Duration // of what was written, when the process began
		want        bool
	}{
		"all of it":       {floor: runners.FloorPart, lost: wrote, want: true},
		"a quarter of it": {floor: runners.FloorPart, lost: 4 * wrote, want: true},
		"less":            {floor: runners.FloorPart, lost: 5 * wrote},
		"before it began": {floor: runners.FloorPart, lost: wrote, age: time.Hour},
		"no loss":         {floor: runners.FloorPart},
		"no floor":        {lost: wrote},
		"a part of it":    {floor: 2 * runners.FloorPart * wrote, lost: wrote},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "a", "file")
			at := time.Now().Add(-test.age)
			err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, make([]byte, wrote), 0o644), os.Chtimes(file, at, at))
			if err != nil {
				t.Fatal(err)
			}
			d := disk{dir: dir, floor: test.floor, began: time.Now().Add(-time.Minute)}
			d.isFull = func(string, int64) (uint64, bool) { return 0, test.floor > 0 }
			d.free = uint64(test.lost)
			if err := d.filled(); errors.Is(err, ErrFilled) != test.want {
				t.Errorf("filled: %v, want %v", err, test.want)
			}
		})
	}
	if _, full := runners.IsFull(t.TempDir(), math.MaxInt64); !full {
		t.Error("a disk has an exbibyte")
	}
}
