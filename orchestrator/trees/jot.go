package trees

import (
	"bytes"
	"encoding/gob"
	"os"
	"strings"
)

// Jot writes down what a run goes by and the next one must know when this one is killed. Names are bytes, which JSON would
// change.
func Jot(path string, what any) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(what); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Jotted reads what Jot has written, and reports whether there is anything that can be read.
func Jotted(path string, what any) bool {
	return gob.NewDecoder(strings.NewReader(Plain(path, MaxPrinted))).Decode(what) == nil
}
