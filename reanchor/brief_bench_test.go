package reanchor

import (
	"testing"
)

func BenchmarkBrief(b *testing.B) {
	for _, c := range []struct {
		name string
		in   Input
	}{{"first", first()}, {"third", third()}, {"huge", huge()}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(Brief(c.in)) == 0 {
					b.Fatal("empty")
				}
			}
		})
	}
}
