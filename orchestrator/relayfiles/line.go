package relayfiles

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// MaxLine bounds a line, in bytes. A longer one cannot be read: the longest one measured had 1.6 MB.
const MaxLine = 8 << 20

// EachLine calls do with each line of a stream without its end, at most MaxLine+1 bytes of it, and with how many bytes it takes. The last
// one need not be whole. do keeps none. An error of do ends it.
func EachLine(from io.Reader, buffer int, do func(line []byte, size int64, whole bool) error) error {
	lines := bufio.NewReaderSize(from, buffer)
	var room []byte
	for {
		line, size, whole, err := nextLine(lines, room[:0])
		if err != nil || size == 0 {
			return err
		}
		if err := do(line, size, whole); err != nil || !whole {
			return err
		}
		if room = line; cap(room) > maxRoom {
			room = nil
		}
	}
}

const maxRoom = 64 << 10 // of a line that the next one is read into

// nextLine reads a line without its end into room, at most MaxLine+1 bytes of it, and returns how many bytes it takes. It is not whole at
// the end of what there is.
func nextLine(from *bufio.Reader, room []byte) (line []byte, size int64, whole bool, err error) {
	for line = room; ; {
		part, err := from.ReadSlice('\n')
		size += int64(len(part))
		if rest := MaxLine + 1 - len(line); len(part) > rest {
			part = part[:rest]
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), size, true, nil
		case errors.Is(err, io.EOF):
			return line, size, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, false, err
		}
	}
}

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
