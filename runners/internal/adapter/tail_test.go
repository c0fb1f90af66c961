package adapter

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A poll of the output ends, whatever the lines are like: else a process that prints without end is never held to its limits.
func TestOnePollIsBounded(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"empty lines": "\n", "short lines": "y\n", "a line without end": "y"} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, bytes.Repeat([]byte(line), 3*pollBytes), 0o600); err != nil {
			t.Fatal(err)
		}
		read := Tail{Path: path, long: 100, Line: func([]byte) {}}
		all, err := read.Read()
		if err != nil || all != (name == "a line without end") || read.off > 2*pollBytes {
			t.Errorf("%s: %d bytes read, all of them %v: %v", name, read.off, all, err)
		}
		read.Close()
	}
}

// Nobody knows half a secret for one: the end of a file begins with a whole word.
func TestLastBytesBeginWithAWord(t *testing.T) {
	t.Parallel()
	const word = "ThisIsOneLongWordThatNobodyShallSeeHalfOf"
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("begin "+word+" end of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{20: " end of it", 10: " end of it", 1000: "begin " + word + " end of it"} {
		if got, err := LastBytes(log, limit); string(got) != want || err != nil {
			t.Errorf("the last %d bytes: got %q (%v), want %q", limit, got, err, want)
		}
	}
}
