package relayfiles

import (
	"bytes"
	"strconv"
)

// MaxLine bounds a line, in bytes. A longer one cannot be read: the longest one measured had 1.6 MB.
const MaxLine = 8 << 20

// Dropped returns how many bytes are missing where a line of relay's own stands in a transcript that was cut to its head and its tail; 0:
// it is none.
func Dropped(line []byte) int64 {
	text, ok := bytes.CutPrefix(line, []byte("[relay: "))
	if !ok {
		return 0
	}
	if text, ok = bytes.CutSuffix(text, []byte(" bytes dropped]")); !ok {
		return 0
	}
	dropped, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || dropped < 0 {
		return 0
	}
	return dropped
}
