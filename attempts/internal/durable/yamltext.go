package durable

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// YAMLWriter writes YAML. Its methods remember the first error for Flush.
type YAMLWriter struct {
	Whole bool // empty texts and lists are written, too

	w     *bufio.Writer
	entry bool      // the next line begins an entry of a list
	open  []section // that the next line is in
	types yamlTypes
}

// NewYAMLWriter makes a YAMLWriter on w.
func NewYAMLWriter(w io.Writer) *YAMLWriter {
	return &YAMLWriter{w: bufio.NewWriterSize(w, 32<<10), types: yamlTypes{}}
}

// Flush writes what is buffered and returns the first error there was.
func (y *YAMLWriter) Flush() error { return y.w.Flush() }

const spaces = "                                "

// Line writes the parts as one line.
func (y *YAMLWriter) Line(indent int, parts ...string) {
	if len(y.open) > 0 {
		names := y.open
		y.open = y.open[:0]
		for _, s := range names {
			y.Line(s.indent, s.name, ":")
		}
	}
	line := append(y.w.AvailableBuffer(), spaces[:indent]...)
	if y.entry {
		y.entry = false
		line[indent-2] = '-'
	}
	for _, p := range parts {
		line = append(line, p...)
	}
	y.w.Write(append(line, '\n'))
}

// Number writes a number that is finite.
func (y *YAMLWriter) Number(indent int, name string, v float64) {
	y.Line(indent, name, ": ", strconv.FormatFloat(v, 'f', -1, 64))
}

// Time writes a time, unless it is zero.
func (y *YAMLWriter) Time(indent int, name string, t time.Time) {
	if !t.IsZero() {
		y.Line(indent, name, `: "`, t.UTC().Format(time.RFC3339Nano), `"`)
	}
}

// Text writes a string of any content: as a block when it has lines that a person may want to read, else as a scalar.
func (y *YAMLWriter) Text(indent int, name, s string) {
	if s == "" {
		return
	}
	if !blocky(s) {
		y.Line(indent, name, ": ", YAMLScalar(s))
		return
	}
	mark := "|-"
	if body, ended := strings.CutSuffix(s, "\n"); ended {
		s, mark = body, "|"
	}
	y.Line(indent, name, ": ", mark)
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			y.w.WriteByte('\n')
			continue
		}
		y.Line(indent+2, line)
	}
}

// blocky reports whether a literal block holds the string exactly as it is.
func blocky(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.ContainsAny(s[:1], " \t\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && !printable(r) })
}

// printable reports whether YAML lets the character stand for itself everywhere.
func printable(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

// YAMLScalar writes a string on one line: bare when it is a plain word that no reader takes for something else, else in
// double quotes.
func YAMLScalar(s string) string {
	if bare(s) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case printable(r):
			b = utf8.AppendRune(b, r)
		default: // no rune beyond these four digits is not printable
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return string(append(b, '"'))
}

// bare reports whether a string may stand without quotes: letters first, then what task ids, words and paths are made of.
func bare(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		inside := c >= '0' && c <= '9' || c == '-' || c == '.' || c == '/'
		if !letter && (i == 0 || !inside) {
			return false
		}
	}
	switch strings.ToLower(s[:min(len(s), 6)]) { // none of these is longer than five
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
