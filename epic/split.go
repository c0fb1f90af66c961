package epic

import "bytes"

// A tree of YAML nodes takes some twenty times the memory of its text, and nearly all of an epic is its tasks. So a file in
// the usual form (tasks: on a line of its own, the tasks indented below it) is cut between tasks and parsed a few at a time.
// Whatever looks unusual, and whatever does not parse, is left to the parser of whole files: the cut is a saving, not a dialect.

// parts is an epic's text cut into pieces, each a YAML mapping.
type parts struct {
	head, tail fragment
	tasks      fragment // the line with the key
	body       []fragment
	count      int // how many tasks there seem to be
	indent     int
}

// fragment is a piece of a file and the number of lines before it.
type fragment struct {
	text []byte
	line int
}

// split cuts a file so that each piece of the body has at least the given size.
func split(src []byte, least int) (parts, bool) {
	if least <= 0 || oddBreaks(src) {
		return parts{}, false
	}
	s := splitter{src: src, least: least}
	for s.next() {
		if !s.step() {
			return parts{}, false
		}
	}
	return s.parts, s.finish()
}

// oddBreaks tells whether the file has line breaks other than LF and CR LF, which YAML counts and the splitter does not.
func oddBreaks(src []byte) bool {
	for i := bytes.IndexByte(src, '\r'); i >= 0; {
		if i+1 == len(src) || src[i+1] != '\n' {
			return true
		}
		next := bytes.IndexByte(src[i+1:], '\r')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return bytes.Contains(src, []byte("\u0085")) || bytes.Contains(src, []byte("\u2028")) || bytes.Contains(src, []byte("\u2029"))
}

type splitter struct {
	parts
	src   []byte
	least int

	begin, end int // the line
	number     int // lines before it
	started    int // where the open fragment begins, in bytes
	startLine  int
	where      region
}

type region uint8

const (
	inHead region = iota
	inBody
	inTail
)

func (s *splitter) next() bool {
	if s.end > 0 {
		s.number++
	}
	s.begin = s.end
	if s.begin >= len(s.src) {
		return false
	}
	if n := bytes.IndexByte(s.src[s.begin:], '\n'); n >= 0 {
		s.end = s.begin + n + 1
	} else {
		s.end = len(s.src)
	}
	return true
}

// step looks at one line. It reports whether the file still has the usual form.
func (s *splitter) step() bool {
	line := bytes.TrimRight(s.src[s.begin:s.end], "\r\n")
	// A head may begin with ---; anything else that ends a document or changes the syntax is for the whole parser.
	if bytes.HasPrefix(line, []byte("...")) ||
		s.where != inHead && (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("%"))) {
		return false
	}
	switch s.where {
	case inHead:
		if isTasksLine(line) {
			s.head = s.cut()
			s.tasks = fragment{line, s.number}
			s.started, s.startLine, s.where = s.end, s.number+1, inBody
		}
	case inBody:
		return s.bodyLine(line)
	default: // the tail holds no tasks
	}
	return true
}

func (s *splitter) bodyLine(line []byte) bool {
	text := bytes.TrimLeft(line, " ")
	indent := len(line) - len(text)
	switch {
	case len(text) == 0 || text[0] == '#':
		return true
	case !isWordByte(text[0]) && (s.indent == 0 || indent <= s.indent):
		return false
	case indent == 0:
		s.body = append(s.body, s.cut())
		s.where = inTail
		return s.indent > 0
	case s.indent == 0:
		s.indent = indent
	case indent < s.indent:
		return false
	}
	if indent == s.indent {
		s.count++
		if s.begin-s.started >= s.least {
			s.body = append(s.body, s.cut())
		}
	}
	return true
}

// cut ends the open fragment before the current line.
func (s *splitter) cut() fragment {
	f := fragment{s.src[s.started:s.begin], s.startLine}
	s.started, s.startLine = s.begin, s.number
	return f
}

func (s *splitter) finish() bool {
	switch s.where {
	case inHead:
		return false
	case inBody:
		s.body = append(s.body, s.cut())
	case inTail:
		s.tail = s.cut()
	}
	return s.indent > 0
}

func isTasksLine(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("tasks:"))
	if !found {
		return false
	}
	text := bytes.TrimLeft(rest, " ")
	return len(text) == 0 || len(text) < len(rest) && text[0] == '#'
}

func isWordByte(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || c == '_'
}
