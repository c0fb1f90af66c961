package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// written is a file that a test goes on writing.
func written(tb testing.TB, text string) *os.File {
	tb.Helper()
	f, err := os.OpenFile(filepath.Join(tb.TempDir(), "out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	put(tb, f, text)
	return f
}

func put(tb testing.TB, f *os.File, text string) {
	tb.Helper()
	if _, err := io.WriteString(f, text); err != nil {
		tb.Error(err)
	}
}

func open(tb testing.TB, f *os.File, o LinesOptions) *Lines {
	tb.Helper()
	l, err := OpenLines(f.Name(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*keepOfLine)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"one", "a\n", []string{"a"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"", "", "a", ""}},
		{"bytes", "a\x00\xff\r\n\x1b[0m\n", []string{"a\x00\xff\r", "\x1b[0m"}},
		{"larger than the first buffer", long[:2*keepOfLine] + "\nb\n", []string{long[:2*keepOfLine], "b"}},
	}
	for _, test := range tests {
		l := open(t, written(t, test.text), LinesOptions{MaxLine: 2 * keepOfLine})
		for i := 0; ; i++ {
			line, err := l.Next(t.Context())
			if errors.Is(err, io.EOF) && i == len(test.want) {
				break
			}
			if err != nil || i >= len(test.want) || string(line.Data) != test.want[i] || line.Dropped != 0 {
				t.Fatalf("%s: line %d: got %.40q, dropped %d, %v", test.name, i, line.Data, line.Dropped, err)
			}
		}
		if _, err := l.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("%s: after the end: %v", test.name, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{2*keepOfLine + 1, 3 * keepOfLine, floodBuffer + 5, 3 << 20, 200 << 20} {
		f := written(t, "before\nHEAD")
		// The middle is a hole of NULs: nothing has to be written for it.
		if err := f.Truncate(7 + size - 4); err != nil {
			t.Fatal(err)
		}
		put(t, f, "TAIL\nafter\n"+"SECOND"+strings.Repeat("y", 5*keepOfLine))
		l := open(t, f, LinesOptions{MaxLine: 2 * keepOfLine})
		if line, err := l.Next(t.Context()); err != nil || string(line.Data) != "before" {
			t.Fatalf("first line: %q, %v", line.Data, err)
		}
		line, err := l.Next(t.Context())
		if err != nil || line.Dropped != size-2*keepOfLine {
			t.Errorf("%d: dropped %d, want %d, %v", size, line.Dropped, size-2*keepOfLine, err)
		}
		mark := fmt.Sprintf(" [relay: %d bytes dropped] ", line.Dropped)
		if !bytes.HasPrefix(line.Data, []byte("HEAD")) || !bytes.HasSuffix(line.Data, []byte("TAIL")) ||
			!bytes.Contains(line.Data, []byte(mark)) || len(line.Data) != 2*keepOfLine+len(mark) {
			t.Errorf("%d: got %d bytes", size, len(line.Data))
		}
		if line, err := l.Next(t.Context()); err != nil || string(line.Data) != "after" || line.Dropped != 0 {
			t.Errorf("%d: the line after: %q, %v", size, line.Data, err)
		}
		if line, err := l.Next(t.Context()); err != nil || line.Dropped != 3*keepOfLine+6 || !bytes.HasPrefix(line.Data, []byte("SECOND")) {
			t.Errorf("%d: a long line without an end: dropped %d, %v", size, line.Dropped, err)
		}
		if len(l.buf) > 2*floodBuffer {
			t.Errorf("%d: holds %d bytes", size, len(l.buf))
		}
	}
}

// A large line that is handed out whole does not keep its memory.
func TestBufferShrinks(t *testing.T) {
	t.Parallel()
	f := written(t, strings.Repeat("z", 3<<20)+"\n"+strings.Repeat("a\n", 100))
	l := open(t, f, LinesOptions{})
	peak := 0
	for {
		line, err := l.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || line.Dropped > 0 {
			t.Fatal(line.Dropped, err)
		}
		peak = max(peak, len(l.buf))
	}
	if peak > defaultMaxLine+floodBuffer || len(l.buf) > floodBuffer {
		t.Errorf("held %d bytes, and %d at the end", peak, len(l.buf))
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := written(t, "one\ntw")
		gone := make(chan struct{})
		l := open(t, f, LinesOptions{Gone: gone})
		lines := make(chan string)
		go func() {
			defer close(lines)
			for {
				line, err := l.Next(t.Context())
				if err != nil {
					return
				}
				lines <- string(line.Data)
			}
		}()
		if got := <-lines; got != "one" {
			t.Errorf("got %q", got)
		}
		<-time.After(time.Hour) // of the bubble
		put(t, f, "o\nthree")
		began := time.Now()
		if got := <-lines; got != "two" {
			t.Errorf("got %q", got)
		}
		if waited := time.Since(began); waited > pollMax {
			t.Errorf("waited %v", waited)
		}
		put(t, f, " and four")
		began = time.Now()
		close(gone)
		if got := <-lines; got != "three and four" {
			t.Errorf("got %q", got)
		}
		if _, open := <-lines; open || time.Since(began) != 0 {
			t.Errorf("the end came late: %v", time.Since(began))
		}
	})
}

func TestNextGivesUp(t *testing.T) {
	t.Parallel()
	f := written(t, "par")
	gone := make(chan struct{})
	l := open(t, f, LinesOptions{Gone: gone})
	why := errors.New("silent")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := l.Next(ctx); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, ok, err := l.Now(); ok || err != nil {
		t.Errorf("a line that has not ended: %v, %v", ok, err)
	}
	put(t, f, "tial\n")
	if line, err := l.Next(t.Context()); err != nil || string(line.Data) != "partial" {
		t.Errorf("got %q, %v", line.Data, err)
	}
}

// An agent may cut its own output.
func TestCutUnderneath(t *testing.T) {
	t.Parallel()
	f := written(t, "a long first line\n")
	l := open(t, f, LinesOptions{Gone: make(chan struct{})})
	if _, err := l.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := l.Now(); ok || err != nil {
		t.Fatal(ok, err)
	}
	put(t, f, "next\n")
	if line, err := l.Next(t.Context()); err != nil || string(line.Data) != "next" {
		t.Errorf("got %q, %v", line.Data, err)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	numbered := text.String()
	tests := []struct {
		name, text string
		limit      int64
	}{
		{"lines", numbered, 10_000},
		{"one line", strings.Repeat("x", 200_000), 100_000},
		{"tiny limit", numbered, 100},
		{"no limit", numbered, 0},
	}
	for _, test := range tests {
		f := written(t, test.text)
		dropped, err := Compact(f.Name(), test.limit)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		mark := fmt.Sprintf("[relay: %d bytes dropped]\n", dropped)
		head, tail, ok := strings.Cut(string(got), mark)
		if !ok || int64(len(got)) > test.limit+markRoom {
			t.Fatalf("%s: %d bytes, mark: %v", test.name, len(got), ok)
		}
		if !strings.HasSuffix(test.text, tail) || !strings.HasPrefix(test.text, strings.TrimSuffix(head, "\n")) {
			t.Errorf("%s: head or tail is not the text's", test.name)
		}
		if test.name == "lines" && (!strings.HasPrefix(tail, "line ") || !strings.HasSuffix(head, "\n")) {
			t.Errorf("lines are cut: %.20q", tail)
		}
		if again, err := Compact(f.Name(), int64(len(got))); again != 0 || err != nil {
			t.Errorf("%s: again: %d, %v", test.name, again, err)
		}
	}
	small := written(t, "small\n")
	if dropped, err := Compact(small.Name(), 6); dropped != 0 || err != nil {
		t.Errorf("small: %d, %v", dropped, err)
	}
}

// FuzzLines checks that lines come out as they went in, however they are written and however long they are.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint8(1))
	f.Add(bytes.Repeat([]byte("0123456789\n"), 3000), uint8(200))
	f.Fuzz(func(t *testing.T, text []byte, pieces uint8) {
		out := written(t, "")
		gone := make(chan struct{})
		l := open(t, out, LinesOptions{Gone: gone})
		var got [][]byte
		rest := text
		for n := len(text)/(int(pieces)+1) + 1; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			put(t, out, string(rest[:min(n, len(rest))]))
			for line, ok, err := l.Now(); ok || err != nil; line, ok, err = l.Now() {
				got = append(got, bytes.Clone(line.Data))
			}
		}
		close(gone)
		for {
			line, err := l.Next(t.Context())
			if err != nil {
				break
			}
			got = append(got, bytes.Clone(line.Data))
		}
		if len(text) > 0 && text[len(text)-1] == '\n' {
			got = append(got, nil)
		}
		if joined := bytes.Join(got, []byte("\n")); !bytes.Equal(joined, text) {
			t.Errorf("got %.100q, want %.100q", joined, text)
		}
	})
}
