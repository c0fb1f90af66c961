package opencode_test

import "testing"

func BenchmarkOpencodeStream(b *testing.B) { capturedOpencode().BenchmarkStream(b) }
