package main

import "testing"

func TestSizeOfACheckout(t *testing.T) {
	t.Parallel()
	var s summing
	listed := "100644 blob 257cc5642cb1a054f08cc83f2d943e56fd3ebe99      40\ta name\t9 with\n5 numbers\x00" +
		"160000 commit 257cc5642cb1a054f08cc83f2d943e56fd3ebe99       -\tmodule\x00100755 blob 257cc5642cb1a054f08cc83f2d943e56fd3ebe99 2000000\tb\x00"
	for i := range len(listed) { // as it may come through a pipe
		if n, err := s.Write([]byte(listed[i : i+1])); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if s.bytes != 2000040 {
		t.Errorf("%d bytes", s.bytes)
	}
}

func TestRoomForWorktrees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		free, need uint64
		want       string
	}{{10 << 30, 1 << 30, stateOK}, {10 << 30, 9 << 30, stateWarn}, {10 << 30, 10 << 30, stateFail}, {10 << 30, 20 << 30, stateFail}} {
		if got := roomState(c.free, c.need); got != c.want {
			t.Errorf("%d free, %d needed: %s, want %s", c.free, c.need, got, c.want)
		}
	}
}
