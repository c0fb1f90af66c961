package eventstream

import (
	"strings"
	"testing"

	"relay/runners/internal/jsonscan"
)

// TestLastMessage fails when a long message stays in memory whole.
func TestLastMessage(t *testing.T) {
	t.Parallel()
	var m LastMessage
	m.Set(jsonscan.String(`"`+strings.Repeat(`line\n`, 1<<20)+`"`), 1000)
	if got := m.Text(1000); got != strings.Repeat("line\n", 200) || len(m.raw) > maxRoom || len(m.head) > 1000 {
		t.Errorf("keeps %d and %d bytes, and says %d", len(m.raw), len(m.head), len(got))
	}
	m.Set(jsonscan.String(`"short"`), 1000)
	if got := m.Text(1000); got != "short" {
		t.Errorf("got %q", got)
	}
}
