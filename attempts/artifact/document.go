package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/durable"
	"relay/epic"
	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
)

// MaxSize is how large the file of an artifact may be, in bytes.
const MaxSize = 1 << 20

// document is a file taken apart.
type document struct {
	values   Map
	lines    map[string]int // of values, by path
	problems []Problem      // that keep other readers from the file, or make them read something else
}

// Decode reads the text of an artifact, as leniently as it can: problems says what other readers would stumble over. An error means that it
// is no artifact at all.
func Decode(text []byte) (a *Artifact, problems []Problem, err error) {
	d, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	if !known(d.values) {
		return nil, d.problems, errors.New("it is no artifact: it has neither mode, goal nor now")
	}
	return fromMap(d.values), d.problems, nil
}

// ReadFile reads the file of an artifact. What is no file, a pipe for example, is not opened, and one of more than MaxSize not read.
func ReadFile(path string) (*Artifact, []Problem, error) {
	text, err := ReadText(path)
	if err != nil {
		return nil, nil, err
	}
	a, problems, err := Decode(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, problems, nil
}

// ReadText reads a file of at most MaxSize bytes. What is no file is not opened: a pipe could keep the reader for ever.
func ReadText(path string) ([]byte, error) {
	f, err := durable.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("the file has more than %d bytes", MaxSize)}
	}
	return text, err
}

// parse takes a file apart, and reads both its parts into one mapping.
func parse(raw []byte) (*document, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("it has more than %d bytes", MaxSize)
	}
	d := &document{lines: make(map[string]int)}
	d.checkBytes(raw)
	front, body := d.split(plaintext.Clean(string(raw)))
	reader := &nodeReader{lines: d.lines}
	first, err := reader.part(front)
	if err != nil {
		return nil, err
	}
	second, err := reader.part(body)
	if err != nil {
		return nil, err
	}
	d.problems = append(d.problems, reader.problems...)
	d.merge(first, second)
	return d, nil
}

// checkBytes tells of what plaintext.Clean takes out before anything is read.
func (d *document) checkBytes(raw []byte) {
	const unseen = "readers of Continuous Claude see nothing of such a file: "
	lineOf := func(at int) int { return 1 + bytes.Count(raw[:at], []byte("\n")) }
	if bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
		d.problem(1, "the file begins with a byte order mark", unseen+"save it as UTF-8 without one")
		raw = raw[3:]
	}
	if at := bytes.IndexByte(raw, '\r'); at >= 0 {
		d.problem(lineOf(at), "the line ends with a carriage return", unseen+"save it with LF line ends")
	}
	if !utf8.Valid(raw) {
		const never = "\xff" // stands in no text of UTF-8
		valid, _, _ := strings.Cut(strings.ToValidUTF8(string(raw), never), never)
		d.problem(lineOf(len(valid)), "the file is not UTF-8", "save it as UTF-8")
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }
	if at := bytes.IndexFunc(raw, control); at >= 0 {
		d.problem(lineOf(at), "the line has a control character", "take it out: YAML does not allow it")
	}
}

func (d *document) problem(line int, message, hint string) {
	d.problems = append(d.problems, Problem{Line: line, Message: message, Hint: hint})
}

// separator is a line that separates the parts of a file.
var separator = lazyregexp.New(`(?m)^(---|\.\.\.)[ \t]*$`)

// part is one part of a file, and the line on which it begins.
type part struct {
	text string
	line int
}

// split returns the front matter and the body of a file. Without front matter all is body.
func (d *document) split(text string) (front, body part) {
	const layout = "a file begins with ---, front matter and ---"
	lineOf := func(at int) int { return 1 + strings.Count(text[:at], "\n") }
	marks := separator.FindAllIndex([]byte(text), 2)
	switch {
	case len(marks) == 0 || strings.TrimSpace(text[:marks[0][0]]) != "":
		d.problem(1, "there is no front matter", layout)
		return part{"", 1}, d.cut(part{text, 1})
	case len(marks) == 1:
		line := lineOf(marks[0][0])
		d.problem(line, "the front matter has no end", layout)
		return part{"", 1}, part{text[marks[0][1]:], line}
	}
	return part{text[marks[0][1]:marks[1][0]], lineOf(marks[0][0])}, d.cut(part{text[marks[1][1]:], lineOf(marks[1][0])})
}

// begins is a line of a body that begins as a separator does.
var begins = lazyregexp.New(`(?m)^(---.*|\.\.\.[ \t]*)$`)

// cut returns the body as far as it is one YAML document.
func (d *document) cut(body part) part {
	for _, at := range begins.FindAllIndex([]byte(body.text), -1) {
		line := body.text[at[0]:at[1]]
		d.problem(body.line+strings.Count(body.text[:at[0]], "\n"), "the line begins with "+line[:3]+", in the body", "readers of Continuous Claude see nothing of such a file: indent the line, or take it out")
		if separator.MatchString(line) || strings.HasPrefix(line, "--- ") {
			return part{body.text[:at[0]], body.line}
		}
	}
	return body
}

// part reads one part of a file.
func (r *nodeReader) part(p part) (Map, error) {
	var n yaml.Node
	r.offset = p.line - 1
	if err := yaml.Unmarshal([]byte(p.text), &n); err != nil {
		line, message := epic.Mistake(err)
		return nil, &SyntaxError{Line: r.offset + max(line, 1), Message: message}
	}
	if n.Kind == 0 || len(n.Content) == 0 {
		return nil, nil
	}
	v, err := r.value(n.Content[0], "", 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(Map)
	if !ok && v != nil {
		return nil, &SyntaxError{Line: n.Content[0].Line + r.offset, Message: "a text stands where keys and values belong"}
	}
	return m, nil
}

// SyntaxError is a part of a file that cannot be read.
type SyntaxError struct {
	Line    int
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: it is not YAML as artifacts have it: %s", e.Line, e.Message)
}

// merge puts both parts together. Of a key that is in both that of the body counts.
func (d *document) merge(front, body Map) {
	d.values = front
	at := make(map[string]int, len(front))
	for i, f := range front {
		at[f.Key] = i
	}
	for _, f := range body {
		before, twice := at[f.Key]
		if !twice {
			d.values = append(d.values, f)
			continue
		}
		d.values[before].Value = f.Value
		d.problems = append(d.problems, duplicate(d.lines["/"+f.Key], f.Key))
	}
}
