package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// MaxSize is how large the file of an artifact may be, in bytes.
const MaxSize = 1 << 20

// document is a file taken apart.
type document struct {
	root     *yaml.Node     // a mapping
	lines    map[string]int // of values, by path
	problems []Problem      // that keep other readers from the file, or make them read something else
}

// Decode reads the text of an artifact, as leniently as it can: problems says what other readers would stumble over. An error means that it
// is not an artifact at all.
func Decode(text []byte) (a *Artifact, problems []Problem, err error) {
	d, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	isKnown := func(key string) bool { return plaintext.Line(textOf(epic.ValueAt(d.root, key))) != "" }
	if !slices.ContainsFunc([]string{"mode", "event_type", "goal", "now"}, isKnown) {
		return nil, d.problems, errors.New("it is not an artifact: it has neither mode, goal nor now")
	}
	a = &Artifact{}
	fit(d.root, reflect.TypeFor[Artifact](), false)
	err = d.root.Decode(a)
	if old, ok := a.Extra["event_type"]; ok && a.Mode == "" { // the older layout
		a.Mode = Mode(oneLine(fmt.Sprint(old)))
		delete(a.Extra, "event_type")
	}
	if o, ok := ParseOutcome(string(a.Outcome)); ok {
		a.Outcome = o
	}
	return a, d.problems, err
}

// ReadFile reads the file of an artifact. It fails for other things, such as a pipe, and for a file of more than MaxSize.
func ReadFile(path string) (*Artifact, []Problem, error) {
	text, err := plaintext.ReadFile(path, MaxSize)
	if err != nil {
		return nil, nil, err
	}
	a, problems, err := Decode(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, problems, nil
}

// parse takes a file apart, and reads both its parts into one mapping.
func parse(raw []byte) (d *document, err error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("it has more than %d bytes", MaxSize)
	}
	d = &document{lines: make(map[string]int)}
	d.checkBytes(raw)
	front, body := d.split(plaintext.Clean(string(raw)))
	reader := &nodeReader{lines: d.lines}
	if d.root, err = reader.part(front); err != nil {
		return nil, err
	}
	second, err := reader.part(body)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(second.Content); i += 2 { // of a key that is in both that of the body counts
		key := second.Content[i].Value
		reader.put(d.root, "/"+key, key, second.Content[i+1], d.lines["/"+key])
	}
	d.problems = append(d.problems, reader.problems...)
	return d, nil
}

// checkBytes reports the first line of which plaintext.Clean removes something.
func (d *document) checkBytes(raw []byte) {
	clean, line := bytes.Split([]byte(plaintext.Clean(string(raw))), []byte("\n")), 0
	for text := range bytes.SplitSeq(raw, []byte("\n")) {
		if line >= len(clean) || !bytes.Equal(text, clean[line]) {
			d.problem(line+1, "the line has a byte order mark, a carriage return, a control character, or text that is not UTF-8",
				"readers of Continuous Claude see nothing of such a file: save it as UTF-8 with LF line ends")
			return
		}
		line++
	}
}

func (d *document) problem(line int, message, hint string) {
	d.problems = append(d.problems, Problem{Line: line, Message: message, Hint: hint})
}

// separator is a line that separates the parts of a file.
var separator = pattern.New(`(?m)^(---|\.\.\.)[ \t]*$`)

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
var begins = pattern.New(`(?m)^(---.*|\.\.\.[ \t]*)$`)

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

// part reads one part of a file into a mapping.
func (r *nodeReader) part(p part) (*yaml.Node, error) {
	var n yaml.Node
	r.offset = p.line - 1
	if err := yaml.Unmarshal([]byte(p.text), &n); err != nil {
		line, message := epic.Mistake(err)
		return nil, &SyntaxError{Line: r.offset + max(line, 1), Message: message}
	}
	if len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null" {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	m, err := r.node(n.Content[0], "", 0)
	if err == nil && m.Kind != yaml.MappingNode {
		err = &SyntaxError{Line: n.Content[0].Line + r.offset, Message: "a text stands where keys and values belong"}
	}
	return m, err
}

// SyntaxError is a part of a file that cannot be read.
type SyntaxError struct {
	Line    int
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: it is not YAML as artifacts have it: %s", e.Line, e.Message)
}
