package discussion

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/yamltext"
	"relay/internal/lazyregexp"
)

// FormError means that a file can be read, and not be added to without changing what is there.
type FormError struct {
	Line int // from 1
	Key  string
}

func (e *FormError) Error() string {
	return fmt.Sprintf("line %d: nothing can be added to %s in the form it has", e.Line, e.Key)
}

// lineEnd is what ends a line for the parser of YAML.
var lineEnd = lazyregexp.New("\r\n|[\n\r\u0085\u2028\u2029]")

// byteOrderMark may begin a file.
const byteOrderMark = "\xef\xbb\xbf"

// starts returns where the lines begin, and where the last of them ends.
func (d *document) starts() []int {
	starts := []int{0}
	for _, end := range lineEnd.FindAllIndex(d.raw, -1) {
		starts = append(starts, end[1])
	}
	if starts[len(starts)-1] < len(d.raw) {
		starts = append(starts, len(d.raw))
	}
	return starts
}

// eol is how the first line ends.
func (d *document) eol() string {
	if first := bytes.IndexByte(d.raw, '\n'); first > 0 && d.raw[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withLineEnd returns the document with an end of its last line.
func (d *document) withLineEnd() (*document, error) {
	if bytes.ContainsAny(d.raw[len(d.raw)-1:], "\r\n") {
		return d, nil
	}
	return parse(slices.Concat(d.raw, []byte(d.eol())))
}

// place finds the value of a key that is a word on one line, or an empty list. ok is false when the text does not have it as the parser
// reads it.
func (d *document) place(i int) (from, to int, ok bool) {
	key, n, starts := d.root.Content[i], d.root.Content[i+1], d.starts()
	from = starts[key.Line-1]
	from += bytes.IndexByte(d.raw[from:], ':') + 1
	word := n.Value
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		word = `"` + word + `"`
	case n.Style&yaml.SingleQuotedStyle != 0:
		word = "'" + word + "'"
	case n.Kind == yaml.SequenceNode:
		word = "["
	case word == "": // nothing stands behind the key
		return from, from, true
	}
	if n.Line > key.Line {
		from = starts[n.Line-1]
	}
	from = len(d.raw) - len(bytes.TrimLeft(d.raw[from:], " \t"))
	rest, ok := bytes.CutPrefix(d.raw[from:], []byte(word))
	if n.Kind == yaml.SequenceNode && ok {
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("]"))
	}
	return from, len(d.raw) - len(rest), ok
}

// changed returns the first of some texts that says what this one does, but for one key, and that fits.
func (d *document) changed(key string, texts [][]byte, fits func(next *document) bool) (*document, error) {
	for _, text := range texts {
		if next, err := parse(text); err == nil && slices.EqualFunc(d.rest(key), next.rest(key), sameNode) && fits(next) {
			return next, nil
		}
	}
	line := d.root.Line
	if n := d.get(key); n != nil {
		line = n.Line
	}
	return nil, &FormError{line, key}
}

// setStatus puts another word in the place of the status, and leaves every other byte as it is.
func (d *document) setStatus(s Status) (*document, error) {
	i := d.index(keyStatus)
	if i < 0 {
		return d.addKey(keyStatus, writeScalar(keyStatus, string(s)))
	}
	var texts [][]byte
	if from, to, ok := d.place(i); ok && d.root.Content[i+1].Kind == yaml.ScalarNode {
		word := yamltext.Scalar(string(s))
		switch {
		case from == to:
			word = " " + word
		case d.raw[from] == '"' || d.raw[from] == '\'':
			word = string(d.raw[from]) + string(s) + string(d.raw[from])
		}
		texts = [][]byte{slices.Concat(d.raw[:from], []byte(word), d.raw[to:])}
	}
	return d.changed(keyStatus, texts, func(next *document) bool { return next.text(keyStatus) == string(s) })
}

// writeItem writes something with a number of spaces before each line.
type writeItem func(y *yamltext.Writer, indent int)

// addItem adds an item to a list, behind all others.
func (d *document) addItem(key string, of any) (*document, error) {
	i := d.index(key)
	if i < 0 {
		return d.addKey(key, func(y *yamltext.Writer, indent int) {
			y.Line(indent, key, ":")
			y.Entry(indent+2, of)
		})
	}
	n := d.root.Content[i+1]
	var texts [][]byte
	switch write := func(y *yamltext.Writer, indent int) { y.Entry(indent, of) }; {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0:
		texts = d.inserted(i, n.Column-1, write)
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0 || isNull(n):
		from, to, ok := d.place(i)
		if base, err := parse(slices.Concat(bytes.TrimRight(d.raw[:from], " "), d.raw[to:])); ok && err == nil {
			texts = base.inserted(i, d.root.Column+1, write)
		}
	}
	return d.changed(key, texts, func(next *document) bool { return isBeginning(n, next.get(key)) })
}

func (d *document) addKey(key string, write writeItem) (*document, error) {
	var texts [][]byte
	if last := len(d.root.Content) - 2; d.root.Style&yaml.FlowStyle == 0 && last >= 0 {
		texts = d.inserted(last, d.root.Column-1, write)
	}
	return d.changed(key, texts, func(next *document) bool { return next.get(key) != nil && d.get(key) == nil })
}

// inserted returns the texts that come of something written behind the value of a key.
func (d *document) inserted(i, indent int, write writeItem) (texts [][]byte) {
	const maxIndent = 16
	if indent < 0 || indent > maxIndent {
		return nil
	}
	var b bytes.Buffer
	y := newWriter(&b)
	write(y, indent)
	_ = y.Flush() // a buffer takes everything
	written := bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.eol()))
	for _, at := range d.ends(i) {
		texts = append(texts, slices.Concat(d.raw[:at], written, d.raw[at:]))
	}
	return texts
}

// ends lists where the value of a key may end: before the blank lines and comments in front of what comes next, and behind them.
func (d *document) ends(i int) (at []int) {
	starts := d.starts()
	line := func(n int) string { return string(d.raw[starts[n-1]:starts[n]]) }
	first, end := d.root.Content[i].Line, len(starts)
	if i+2 < len(d.root.Content) {
		end = d.root.Content[i+2].Line
	}
	for n := first + 1; n < end; n++ {
		if strings.HasPrefix(line(n), "...") || strings.HasPrefix(line(n), "---") {
			end = n
		}
	}
	if end < 1 || end > len(starts) {
		return nil
	}
	behind := starts[end-1]
	for n := end - 1; n > first; n-- {
		if text := strings.TrimSpace(line(n)); text != "" && text[0] != '#' {
			break
		}
		end = n
	}
	return []int{starts[end-1], behind}
}

func (d *document) rest(key string) (nodes []*yaml.Node) {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if n := d.root.Content[i]; n.Kind != yaml.ScalarNode || n.Value != key {
			nodes = append(nodes, n, d.root.Content[i+1])
		}
	}
	return nodes
}

// isBeginning reports whether a list begins with all items of another one, and has one more.
func isBeginning(was, is *yaml.Node) bool {
	return is != nil && len(is.Content) == len(was.Content)+1 && growsTo(was, is)
}

// sameNode reports whether two values are the same, whatever comments stand beside them.
func sameNode(x, y *yaml.Node) bool {
	return x.Kind == y.Kind && x.Value == y.Value && x.Tag == y.Tag && x.Anchor == y.Anchor && x.Style == y.Style &&
		slices.EqualFunc(x.Content, y.Content, sameNode)
}

// Grown reports whether an entry was only added to: it has all that it had before, but for another status. What cannot be read has not.
func Grown(before, after []byte) bool {
	was, err := parse(before)
	if err != nil {
		return false
	}
	is, err := parse(after)
	if err != nil {
		return false
	}
	for i := 0; i+1 < len(was.root.Content); i += 2 {
		key, old := was.root.Content[i].Value, was.root.Content[i+1]
		now := is.get(key)
		if key == keyStatus && now != nil {
			continue
		}
		if now == nil || !sameNode(old, now) && !growsTo(old, now) {
			return false
		}
	}
	return true
}

// growsTo reports whether a list begins with all items of another one. One that is empty or null can be any list.
func growsTo(was, is *yaml.Node) bool {
	return is.Kind == yaml.SequenceNode && len(is.Content) >= len(was.Content) && (was.Kind == yaml.SequenceNode || isNull(was)) &&
		slices.EqualFunc(was.Content, is.Content[:len(was.Content)], sameNode)
}
