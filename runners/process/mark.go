package process

import (
	"bytes"
)

// findMark returns the mark in an environment block: variables ended by NUL.
func findMark(block []byte) string {
	for len(block) > 0 {
		var v []byte
		v, block, _ = bytes.Cut(block, []byte{0})
		if mark, ok := bytes.CutPrefix(v, []byte(markVariable+"=")); ok {
			return string(mark)
		}
	}
	return ""
}
