package agentlog

import (
	"strings"
	"testing"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	line := strings.Repeat("x", 99) + "\n"
	all := strings.Repeat(line, 3*most/100)
	got, from, pages := "", int64(0), 0
	for next := int64(1); next > 0; pages++ {
		w := &Window{From: from, Most: most}
		for part := range strings.SplitAfterSeq(all, line) {
			if _, err := w.Write([]byte(part)); err != nil {
				break
			}
		}
		var text string
		text, next = w.Text()
		got, from = got+text, next
	}
	if got != all || pages < 3 {
		t.Errorf("%d pages give %d bytes, want %d", pages, len(got), len(all))
	}
}
