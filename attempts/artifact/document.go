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
	front, body, bodyLine := d.split(strings.Split(plaintext.Clean(string(raw)), "\n"))
	reader := &nodeReader{lines: d.lines}
	first, err := reader.part(front, 1)
	if err != nil {
		return nil, err
	}
	second, err := reader.part(body, bodyLine)
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

// split returns the front matter and the body of a file, and the line on which the body begins. Without front matter all is body.
func (d *document) split(lines []string) (front, body []string, bodyLine int) {
	const layout = "a file begins with ---, front matter and ---"
	begin := 0
	for begin < len(lines) && strings.TrimSpace(lines[begin]) == "" {
		begin++
	}
	if begin == len(lines) || !separates(lines[begin]) {
		d.problem(1, "there is no front matter", layout)
		return nil, d.cut(lines, 0), 1
	}
	for i := begin + 1; i < len(lines); i++ {
		if separates(lines[i]) {
			front = append(make([]string, begin+1), lines[begin+1:i]...)
			return front, d.cut(lines[i+1:], i+1), i + 2
		}
	}
	d.problem(begin+1, "the front matter has no end", layout)
	return nil, append(make([]string, begin+1), lines[begin+1:]...), 1
}

func separates(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line == "---" || line == "..."
}

// cut returns the lines of the body as far as it is one YAML document. before is the number of lines before it.
func (d *document) cut(body []string, before int) []string {
	for i, line := range body {
		if !strings.HasPrefix(line, "---") && !separates(line) {
			continue
		}
		d.problem(before+i+1, "the line begins with "+line[:3]+", in the body", "readers of Continuous Claude see nothing of such a file: indent the line, or take it out")
		if separates(line) || strings.HasPrefix(line, "--- ") {
			return body[:i]
		}
	}
	return body
}

// part reads one part of a file, whose first line has the number given.
func (r *nodeReader) part(lines []string, number int) (Map, error) {
	var n yaml.Node
	r.offset = number - 1
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &n); err != nil {
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
