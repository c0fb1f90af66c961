package process

import (
	"reflect"
	"testing"
	"time"
)

func TestPack(t *testing.T) {
	t.Parallel()
	for _, want := range []Command{
		{Argv: []string{}, Env: []string{}},
		{
			Argv: []string{"sh", "-c", "", "\xff\x00"}, Env: []string{"A=\n", "B="}, Dir: "/d", Stdin: "i", Stdout: "o", Stderr: "e",
			End: "end", Mark: "r/t/1", StopSignal: "INT", StopGrace: 90 * time.Second, StopAgain: time.Second,
		},
	} {
		packed := pack(want)
		if got, err := unpack(packed); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		for n := range packed {
			if got, err := unpack(packed[:n]); err == nil {
				t.Errorf("%d of %d bytes are taken for %+v", n, len(packed), got)
			}
		}
		if got, err := unpack(append(packed, 0)); err == nil {
			t.Errorf("a byte more is taken for %+v", got)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack(Command{Argv: []string{"true"}, Env: []string{"A=b"}}))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = unpack(b) })
}
