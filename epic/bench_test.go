package epic

import (
	"fmt"
	"testing"
)

func benchmark(b *testing.B, run func(b *testing.B, src []byte)) {
	b.Helper()
	for _, shape := range []string{"flat", "chain", "layers"} {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				b.ReportAllocs()
				run(b, generate(n, shape))
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	benchmark(b, func(b *testing.B, src []byte) {
		b.Helper()
		for b.Loop() {
			if _, err := Read("epic.yml", src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNewGraph(b *testing.B) {
	benchmark(b, func(b *testing.B, src []byte) {
		b.Helper()
		e, err := Read("epic.yml", src)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := NewGraph(e); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	benchmark(b, func(b *testing.B, src []byte) {
		b.Helper()
		e, err := Read("epic.yml", src)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := e.Encode(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
