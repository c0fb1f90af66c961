package claude_test

import "testing"

func BenchmarkClaudeStream(b *testing.B) { capturedClaude().BenchmarkStream(b) }
