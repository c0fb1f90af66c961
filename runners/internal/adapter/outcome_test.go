package adapter

import (
	"testing"

	"relay/runners/process"
)

func TestLeftBehindInWords(t *testing.T) {
	t.Parallel()
	for strays, want := range []string{"", "it left a process running", "it left 2 processes running"} {
		if got := LeftBehind(process.Exit{Strays: strays}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
