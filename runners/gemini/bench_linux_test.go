package gemini_test

import "testing"

func BenchmarkGeminiStream(b *testing.B) { capturedGemini().BenchmarkStream(b) }
