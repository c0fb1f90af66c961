package plaintext

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// EachLine calls do with each line of a stream without its end, at most one byte more than most of it, and with how many
// bytes it takes. The last one need not be whole. do keeps none. An error of do ends it.
func EachLine(from io.Reader, buffer, most int, do func(line []byte, size int64, whole bool) error) error {
	lines := bufio.NewReaderSize(from, buffer)
	var room []byte
	for {
		line, size, whole, err := nextLine(lines, most, room[:0])
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

// nextLine reads a line without its end into room, at most one byte more than most of it, and returns how many bytes it takes. It is not
// whole at the end of what there is.
func nextLine(from *bufio.Reader, most int, room []byte) (line []byte, size int64, whole bool, err error) {
	for line = room; ; {
		part, err := from.ReadSlice('\n')
		size += int64(len(part))
		if rest := most + 1 - len(line); len(part) > rest {
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
