package plaintext

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds, in lines and bytes.
const (
	most    = 3
	maxLine = 200
	maxScan = 2000 // of a line: what is longer is data
	// lastLines are looked at when nothing is found: the last of them that says anything is all there is to tell.
	lastLines = 64
	stub      = 4 // bytes of a word that a cut goes through: half of a secret would not be known for one
)

// found is a line and how much it tells.
type found struct {
	rank, at int
	text     string
}

// finder looks through the lines of an output.
type finder struct {
	at, shown int // lines seen, and those of text
	list      []found
	last      [lastLines]string // lines of text, by the rest that their number leaves
}

// TellingLines returns the lines of an output that say why its command failed, in their order: at most three, each clean, without its
// indentation and of at most 200 bytes. There are none in an empty output.
func TellingLines(output string) []string {
	lines, _ := readTelling(bufio.NewReaderSize(strings.NewReader(output), min(len(output), longLine))) // a text can be read
	return lines
}

// ReadTelling is Lines for an output of any length, which is read once and not held. With an error it returns what it found until then.
func ReadTelling(output io.Reader) ([]string, error) {
	return readTelling(bufio.NewReaderSize(output, longLine))
}

// longLine is the length of a line, in bytes, of which only the end is looked at.
const longLine = 64 << 10

func readTelling(r *bufio.Reader) ([]string, error) {
	var f finder
	var begin []byte // of a line that is longer than the buffer of r
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			begin = current(append(begin, part...))
			continue
		}
		if len(begin) > 0 {
			part = append(begin, part...)
		}
		f.line(string(current(part)))
		begin = begin[:0]
		if errors.Is(err, io.EOF) {
			return f.lines(), nil
		}
		if err != nil {
			return f.lines(), err
		}
	}
}

// current returns what a terminal still shows of a line, or of the begin of one: what stood before a carriage return was written over. Of a
// line that is too long to be looked at no more is kept than tells that.
func current(line []byte) []byte {
	body := bytes.TrimRight(line, "\r\n")
	begin := bytes.LastIndexByte(body, '\r') + 1
	if len(body)-begin > maxScan && len(body) < len(line) { // what follows may stand in its place
		return line[len(body):]
	}
	return line[begin:min(len(line), begin+maxScan+1)]
}

// line looks at one line.
func (f *finder) line(raw string) {
	f.at++
	raw = strings.TrimRight(raw, "\r\n")
	if len(raw) > maxScan || !readable(raw) {
		return
	}
	text := strings.TrimSpace(Clean(raw))
	if text == "" {
		return
	}
	f.last[f.shown%lastLines] = text
	f.shown++
	rank := rankOf(text)
	full := len(f.list) == most && f.list[most-1].rank <= rank
	if rank == 0 || full || isNoise(text) || slices.ContainsFunc(f.list, func(g found) bool { return g.text == text }) {
		return
	}
	f.list = append(f.list, found{rank, f.at, text})
	slices.SortStableFunc(f.list, func(a, b found) int { return cmp.Compare(a.rank, b.rank) })
	f.list = f.list[:min(len(f.list), most)]
}

// readable reports whether a line is text: in data there are bytes that are in no text.
func readable(raw string) bool {
	odd := 0
	for _, r := range raw {
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\x1b' && r != '\b' && r != '\a' {
			odd++
		}
	}
	return odd*10 <= len(raw)
}

// lines returns what was found: the lines that tell the most or, without any, the last one that says anything.
func (f *finder) lines() []string {
	for i := 0; i < lastLines && len(f.list) == 0; i++ {
		if text := f.last[(f.shown+lastLines-1-i)%lastLines]; text != "" && !isNoise(text) {
			f.list = []found{{text: text}}
		}
	}
	if len(f.list) > 0 && f.list[0].rank < mildest { // the others are of no failure
		f.list = slices.DeleteFunc(f.list, func(g found) bool { return g.rank == mildest })
	}
	slices.SortFunc(f.list, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	lines := make([]string, 0, len(f.list))
	for _, g := range f.list {
		lines = append(lines, clip(g.text))
	}
	return lines
}

// TellingText returns an output without the lines that say nothing to a person, such as the places of calls on a stack.
func TellingText(output string) string {
	var kept []string
	for raw := range strings.Lines(Clean(output)) {
		if text := strings.TrimSpace(raw); text != "" && !isNoise(text) {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n")
}

// MostTelling returns the one of these lines that tells the most; "" when there is none.
func MostTelling(lines []string) string {
	best, rank := "", 0
	for _, line := range lines {
		if r := rankOf(line); best == "" || r > 0 && (rank == 0 || r < rank) {
			best, rank = line, r
		}
	}
	return best
}

// clip cuts a line between two words.
func clip(text string) string {
	if len(text) <= maxLine {
		return text
	}
	short := Head(text, maxLine-len("…"))
	if word := strings.LastIndexAny(short, " \t") + 1; len(short)-word > stub {
		short = Head(short, word+stub)
	}
	return strings.TrimSpace(short) + "…"
}
