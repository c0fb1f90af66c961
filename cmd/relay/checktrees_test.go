package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSizeOfACheckout(t *testing.T) {
	t.Parallel()
	s := summing{root: t.TempDir()}
	for name, size := range map[string]int{"a name 9 with 5 numbers": 40, "b": 5000} {
		if err := os.WriteFile(filepath.Join(s.root, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []byte("a name 9 with 5 numbers\x00deleted\x00.\x00b\x00") { // as it may come through a pipe
		if n, err := s.Write([]byte{c}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if s.bytes != 3*block {
		t.Errorf("%d bytes", s.bytes)
	}
}

func TestRoomForWorktrees(t *testing.T) {
	t.Parallel()
	const fix = "make room, choose another disk with relay.worktree.dir, or lower relay.jobs"
	for _, c := range []struct {
		size, free       uint64
		unknown          error
		state, text, fix string
	}{
		{5 << 30, 20 << 30, nil, stateOK, "room for 2 checkouts of 5.0 GiB", ""},
		{5 << 30, 11 << 30, nil, stateWarn, "there is hardly room for 2 checkouts of 5.0 GiB", fix},
		{5 << 30, 10 << 30, nil, stateFail, "there is no room for 2 checkouts of 5.0 GiB", fix},
		{5 << 30, 1 << 30, nil, stateFail, "there is no room for 2 checkouts of 5.0 GiB", fix},
		{7 << 20, 20 << 30, nil, stateOK, "room for 2 checkouts of 7 MiB", ""},
		{7, 0, errors.New("no such disk"), stateWarn, "it is not known whether there is room for 2 checkouts of less than 1 MiB: no such disk", ""},
	} {
		if state, text, fix := room(2, c.size, c.free, c.unknown); state != c.state || text != c.text || fix != c.fix {
			t.Errorf("got %s %q, %q; want %s %q, %q", state, text, fix, c.state, c.text, c.fix)
		}
	}
}

func TestBytesText(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{0: "less than 1 MiB", 7 << 20: "7 MiB", 1<<30 - 1: "1023 MiB", 3 << 29: "1.5 GiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
