package runners

import (
	"bytes"
	"os"
	"testing"
)

// BenchmarkLine measures what one CLI's stream costs to read, without a process or a disk.
func BenchmarkLine(b *testing.B) {
	for name, fresh := range map[string]func() stream{
		"claude":   func() stream { return &claudeStream{} },
		"codex":    func() stream { return &codexStream{} },
		"gemini":   func() stream { return &geminiStream{} },
		"opencode": func() stream { return &opencodeStream{} },
	} {
		b.Run(name, func(b *testing.B) {
			text, err := os.ReadFile("testdata/" + name + "/ok.jsonl")
			if err != nil {
				b.Fatal(err)
			}
			lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			lines = lines[1 : len(lines)-1]
			s, size := fresh(), 0
			for _, line := range lines {
				size += len(line) + 1
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, line := range lines {
					s.line(line)
				}
			}
		})
	}
}
