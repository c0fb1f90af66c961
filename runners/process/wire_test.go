package process

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"
	"time"
)

// A request arrives as relay has sent it, text that is not UTF-8 too.
func TestRequestArrives(t *testing.T) {
	t.Parallel()
	want := request{Do: doStart, ID: 7, Command: Command{
		Argv: []string{"sh", "-c", "", "\xff\x00"}, Env: []string{"A=\n", "B="}, Dir: "/d", Stdin: "i", Stdout: "o", Stderr: "e",
		End: "end", Mark: "r/t/1", StopSignal: "INT", StopGrace: 90 * time.Second, StopAgain: time.Second,
	}}
	var sent bytes.Buffer
	var got request
	if err := gob.NewEncoder(&sent).Encode(want); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&sent).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
