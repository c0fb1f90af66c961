package process

import (
	"errors"
	"io"
	"os"

	"relay/runners/process/punchhole"
)

const (
	defaultMaxLine = 4 << 20 // the longest line measured had 1.6 MB; two agents with two streams each stay small
	keepOfLine     = 32 << 10
	firstBuffer    = 8 << 10
	floodBuffer    = 256 << 10
)

// LinesOptions say how to read.
type LinesOptions struct {
	Gone    <-chan struct{} // closed when all writers of the file are gone; nil: they are gone now
	MaxLine int             // bytes of the longest line handed out whole; 0: 4 MiB
	Cap     int64           // bytes of the file to keep on disk, head and tail, while it grows (Linux only); 0: all
}

// Line is one line without its end.
type Line struct {
	Data    []byte // valid until the next call; of a line over MaxLine its head and its tail, 32 KiB each
	Dropped int64  // bytes missing between the two; 0: this is the whole line
}

// Lines reads the lines of a regular file that somebody is still writing. It is for one goroutine.
//
// Memory is bounded by MaxLine and a half, whatever is written. With a Cap the middle of what has been read is given
// back to the disk as the file grows, which keeps its offsets; [Compact] closes the gap at the end.
type Lines struct {
	o    LinesOptions
	f    *os.File
	off  int64 // read so far
	hole punchhole.Hole

	buf        []byte
	r, scan, w int // the line begins at r; no end of line before scan; data ends at w
	flooded    bool
	head       []byte // of a line over MaxLine; nil: the line is not that long so far
	dropped    int64
}

// OpenLines opens the file at path, which has to exist: Start creates it.
func OpenLines(path string, o LinesOptions) (*Lines, error) {
	flag := os.O_RDONLY
	if o.Cap > 0 {
		flag = os.O_RDWR // a hole is a write
	}
	f, err := OpenRegular(path, flag)
	if err != nil {
		return nil, err
	}
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	o.MaxLine = max(o.MaxLine, 2*keepOfLine)
	l := &Lines{o: o, f: f, hole: punchhole.New(o.Cap)}
	return l, nil
}

// Close closes the file.
func (l *Lines) Close() error { return l.f.Close() }

// Now returns the next line without waiting; ok is false when no whole line is there yet.
func (l *Lines) Now() (line Line, ok bool, err error) {
	for {
		if line, ok := l.cut(); ok {
			return line, true, nil
		}
		gone := l.gone() // asked first: what is read after it is all there will be
		n, err := l.fill()
		if err != nil {
			return Line{}, false, err
		}
		if n > 0 {
			continue
		}
		if !gone {
			return Line{}, false, nil
		}
		if l.r == l.w && l.head == nil {
			return Line{}, false, io.EOF
		}
		return l.take(l.w, l.w), true, nil
	}
}

func (l *Lines) gone() bool {
	if l.o.Gone == nil {
		return true
	}
	select {
	case <-l.o.Gone:
		return true
	default:
		return false
	}
}

// fill reads once, behind what is buffered. It returns 0 at the end of the file.
func (l *Lines) fill() (int, error) {
	l.room()
	n, err := l.f.ReadAt(l.buf[l.w:], l.off)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, err
	}
	l.flooded = n == len(l.buf)-l.w
	if n == 0 {
		return 0, l.follow()
	}
	l.w += n
	l.off += int64(n)
	l.hole.FreeBefore(l.f, l.off)
	return n, nil
}

// follow goes back to the end of a file that was cut: an agent can do that to its own output.
func (l *Lines) follow() error {
	info, err := l.f.Stat()
	if err == nil && info.Size() < l.off {
		l.off = info.Size()
		l.hole = punchhole.New(l.o.Cap)
	}
	return err
}
