package runners_test

import (
	"bytes"
	"testing"

	"relay/runners"
)

func TestTimes(t *testing.T) {
	t.Parallel()
	text := "10 1000\n30 2000\nx y\n20 3000\n40 -1\n30 2500\n50 4000\n60 50"
	times := runners.ParseTimes([]byte(text))
	for _, c := range []struct{ size, want int64 }{{0, 1000}, {10, 1000}, {11, 2000}, {30, 2000}, {31, 4000}, {50, 4000}, {51, 4000}} {
		if got := times.At(c.size); got != c.want {
			t.Errorf("byte %d was seen at %d, want %d", c.size, got, c.want)
		}
	}
	if times.Size() != 50 || times.Last() != 4000 {
		t.Errorf("got %d bytes until %d", times.Size(), times.Last())
	}
	var none runners.MessageTimes
	if none.At(3) != 0 || none.Size() != 0 || none.Last() != 0 {
		t.Error("nothing was seen, and there is a time")
	}
}

// FuzzTimes fails when a file of times goes back, or says something else when it is read line by line.
func FuzzTimes(f *testing.F) {
	f.Add([]byte("10 1000\n30 2000\n"))
	f.Add([]byte("10 1000\n9 1\n\n  7\n99999999999999999999 1\n11 5"))
	f.Fuzz(func(t *testing.T, text []byte) {
		times := runners.ParseTimes(text)
		for size := int64(0); size <= 64; size++ {
			at := times.At(size)
			if at < 0 || size > 0 && size <= times.Size() && at == 0 {
				t.Errorf("byte %d was seen at %d", size, at)
			}
		}
		cut := runners.ParseTimes(text[:bytes.LastIndexByte(text, '\n')+1])
		if cut.Size() != times.Size() {
			t.Error("a line without an end counts")
		}
	})
}
