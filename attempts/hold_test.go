package attempts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestHold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	me := Self("20260101-e", time.Unix(1, 0))
	h, err := Hold(path, me)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Hold(path, me); !errors.As(err, &held) || held.Holder != me || held.Path != path || held.Foreign {
		t.Errorf("a second one: got %v", err)
	}
	if who, err := HeldBy(path); err != nil || who == nil || *who != me {
		t.Errorf("held by %v, %v", who, err)
	}
	if !h.Intact() {
		t.Error("nobody has touched it")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if h.Intact() {
		t.Error("a lock that is gone is said to be intact")
	}
	next, err := Hold(path, me) // which is why somebody can take it now
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Held{next, h} {
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	}
	if who, err := HeldBy(path); err != nil || who != nil {
		t.Errorf("held by %v, %v", who, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// A folder that was moved away with the lock in it leaves the lock's place free.
func TestHoldOfAMovedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "git")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := Hold(filepath.Join(dir, "x.lock"), Self("", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+"-aside"); err != nil {
		t.Fatal(err)
	}
	if h.Intact() {
		t.Error("a lock that is elsewhere is said to be intact")
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}

// Many take a lock in turn, file and all: never two at a time.
func TestHoldInTurn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	var group sync.WaitGroup
	var inside, turns atomic.Int32
	for range 8 {
		group.Go(func() {
			for range 25 {
				h, err := HoldWithin(t.Context(), time.Hour, path, Self("", time.Now()))
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) > 1 {
					t.Error("two have the lock")
				}
				turns.Add(1)
				inside.Add(-1)
				if err := h.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := turns.Load(); got != 200 {
		t.Errorf("%d turns, want 200", got)
	}
}

// Waiting ends with patience, or with the run, and says which; what a killed process has left is no obstacle, and what
// another host has left is.
func TestHoldWithin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	me := Self("", time.Now())
	h, err := HoldWithin(t.Context(), time.Minute, path, me)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := HoldWithin(t.Context(), time.Millisecond, path, me); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	over := errors.New("the run is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if _, err := HoldWithin(ctx, time.Minute, path, me); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	for text, foreign := range map[string]bool{`{"pid":7,"host":"` + me.Host + `"}`: false, `{"pid":7,"host":"elsewhere","machine":"m"}`: true, "\x00": false} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		h, err := HoldWithin(t.Context(), time.Millisecond, path, me)
		if foreign != (errors.As(err, &held) && held.Foreign && held.Path == path) || !foreign && err != nil {
			t.Errorf("%s: got %v", text, err)
		}
		if h != nil {
			if err := h.Release(); err != nil {
				t.Error(err)
			}
		}
	}
}
