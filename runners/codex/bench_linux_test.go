package codex_test

import "testing"

func BenchmarkCodexStream(b *testing.B) { capturedCodex().BenchmarkStream(b) }
