package relayfiles

import (
	"strconv"

	"relay/epic/pattern"
)

// MaxLine bounds a line, in bytes. A longer one cannot be read: the longest one measured had 1.6 MB.
const MaxLine = 8 << 20

// Dropped returns how many bytes are missing where a line of relay's own stands in a transcript that was cut to its head and its tail; 0:
// it is none.
func Dropped(line []byte) (dropped int64) {
	if m := droppedLine.FindSubmatch(line); m != nil {
		dropped, _ = strconv.ParseInt(string(m[1]), 10, 64) // digits
	}
	return dropped
}

var droppedLine = pattern.New(`^\[relay: (\d{1,18}) bytes dropped\]$`)
