package process

import (
	"bytes"
	"fmt"
)

// cut removes the next whole line from the buffer and returns it.
func (l *Lines) cut() (Line, bool) {
	i := bytes.IndexByte(l.buf[l.scan:l.w], '\n')
	if i < 0 {
		l.scan = l.w
		return Line{}, false
	}
	return l.take(l.scan+i, l.scan+i+1), true
}

// take hands out the line that ends before end; the next one begins at next.
func (l *Lines) take(end, next int) Line {
	line := Line{Data: l.buf[l.r:end:end]}
	if l.head != nil || len(line.Data) > l.o.MaxLine {
		line = l.joined(line.Data)
	}
	l.r, l.scan = next, next
	l.head, l.dropped = nil, 0
	return line
}

// joined returns a line that is too long: its head, how much is missing, and the end of rest.
func (l *Lines) joined(rest []byte) Line {
	if l.head == nil {
		l.head, rest = rest[:keepOfLine:keepOfLine], rest[keepOfLine:]
	}
	tail := rest[max(0, len(rest)-keepOfLine):]
	dropped := l.dropped + int64(len(rest)-len(tail))
	mark := fmt.Appendf(nil, " [relay: %d bytes dropped] ", dropped)
	return Line{Data: bytes.Join([][]byte{l.head, mark, tail}, nil), Dropped: dropped}
}

// room makes place for the next read: it moves what is left to the front, drops the middle of a line that is too
// long, gives back a buffer that a long line has needed, and lets it grow for a long line or a flood.
func (l *Lines) room() {
	if l.w-l.r > l.o.MaxLine && l.head == nil {
		l.head = bytes.Clone(l.buf[l.r : l.r+keepOfLine])
		l.r += keepOfLine
	}
	if l.head != nil && l.w-l.r > keepOfLine {
		l.dropped += int64(l.w - l.r - keepOfLine)
		l.r = l.w - keepOfLine
	}
	left := l.w - l.r
	size := len(l.buf)
	switch {
	case size == 0:
		size = firstBuffer
	case size > floodBuffer && left < floodBuffer/2:
		size = floodBuffer
	case left == size:
		size = min(2*size, l.o.MaxLine+floodBuffer)
	case l.flooded && size < floodBuffer:
		size *= 4
	}
	if size != len(l.buf) {
		buf := make([]byte, size)
		copy(buf, l.buf[l.r:l.w])
		l.buf = buf
	} else if l.r > 0 {
		copy(l.buf, l.buf[l.r:l.w])
	}
	l.scan -= l.r
	l.r, l.w = 0, left
	l.scan = max(0, min(l.scan, l.w))
}
