package discussion

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/yamltext"
)

// FormError means that a file can be read, and not be added to without changing what is there.
type FormError struct {
	Line int // from 1
	Key  string
}

func (e *FormError) Error() string {
	return fmt.Sprintf("line %d: nothing can be added to %s in the form it has", e.Line, e.Key)
}

// withLineEnd returns the document with an end of its last line.
func (d *document) withLineEnd() (*document, error) {
	l := linesOf(d.raw)
	if last := l.line(l.count()); bytes.ContainsAny(last[len(last)-1:], "\r\n") {
		return d, nil
	}
	return parse(slices.Concat(d.raw, []byte(l.eol())))
}

// setStatus puts another word in the place of the status, and leaves every other byte as it is.
func (d *document) setStatus(s Status) (*document, error) {
	i := d.index(keyStatus)
	if i < 0 {
		return d.addKey(keyStatus, writeScalar(keyStatus, string(s)))
	}
	n := d.root.Content[i+1]
	refused := &FormError{n.Line, keyStatus}
	at, ok := linesOf(d.raw).offset(n.Line, n.Column)
	if !ok || n.Kind != yaml.ScalarNode {
		return nil, refused
	}
	word, now := n.Value, yamltext.Scalar(string(s))
	if quoted := n.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle); quoted != 0 {
		quote := string(d.raw[at:min(at+1, len(d.raw))])
		word, now = quote+word+quote, quote+string(s)+quote
	}
	if !bytes.HasPrefix(d.raw[at:], []byte(word)) {
		return nil, refused
	}
	if word == "" { // nothing stands behind the key
		at, ok = d.behindKey(i)
		now = " " + now
	}
	next, err := parse(slices.Concat(d.raw[:at], []byte(now), d.raw[at+len(word):]))
	if !ok || err != nil || !d.sameBut(next, keyStatus) || next.text(keyStatus) != string(s) {
		return nil, refused
	}
	return next, nil
}

func (d *document) behindKey(i int) (at int, ok bool) {
	key := d.root.Content[i]
	at, ok = linesOf(d.raw).offset(key.Line, key.Column)
	colon := bytes.IndexByte(d.raw[at:], ':')
	return at + colon + 1, ok && colon >= len(key.Value)
}

// writeItem writes something with a number of spaces before each line.
type writeItem func(y *yamltext.Writer, indent int)

func (d *document) written(indent int, write writeItem) []byte {
	var b bytes.Buffer
	y := newWriter(&b)
	write(y, indent)
	_ = y.Flush() // a buffer takes everything
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(linesOf(d.raw).eol()))
}

// maxIndent is how far the lines of a file may be indented that is added to.
const maxIndent = 16

func (d *document) addItem(key string, write writeItem) (*document, error) {
	i := d.index(key)
	if i < 0 {
		return d.addKey(key, func(y *yamltext.Writer, indent int) {
			y.Line(indent, key, ":")
			write(y, indent+2)
		})
	}
	n := d.root.Content[i+1]
	refused := &FormError{n.Line, key}
	indent, base := n.Column-1, d
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0:
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0 || isNull(n):
		var ok bool
		if base, ok = d.withoutValue(i); !ok {
			return nil, refused
		}
		indent = d.root.Column + 1
	default:
		return nil, refused
	}
	if indent < 0 || indent > maxIndent {
		return nil, refused
	}
	for _, at := range base.ends(i) {
		next, err := parse(slices.Concat(base.raw[:at], base.written(indent, write), base.raw[at:]))
		if err == nil && d.sameBut(next, key) && isBeginning(n, next.get(key)) {
			return next, nil
		}
	}
	return nil, refused
}

// withoutValue takes an empty list, or a null, from behind its key. ok is false when that is not all that stands there.
func (d *document) withoutValue(i int) (next *document, ok bool) {
	n := d.root.Content[i+1]
	at, ok := linesOf(d.raw).offset(n.Line, n.Column)
	word := n.Value
	if n.Kind == yaml.SequenceNode {
		rest := bytes.TrimLeft(d.raw[min(at+1, len(d.raw)):], " ")
		if !ok || !bytes.HasPrefix(d.raw[at:], []byte("[")) || !bytes.HasPrefix(rest, []byte("]")) {
			return nil, false
		}
		word = string(d.raw[at : len(d.raw)-len(rest)+1])
	}
	if !ok || !bytes.HasPrefix(d.raw[at:], []byte(word)) {
		return nil, false
	}
	before, rest := d.raw[:at], d.raw[at+len(word):]
	if bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r")) {
		before = bytes.TrimRight(before, " ")
	}
	next, err := parse(slices.Concat(before, rest))
	return next, err == nil
}

func (d *document) addKey(key string, write writeItem) (*document, error) {
	refused := &FormError{d.root.Line, key}
	indent, last := d.root.Column-1, len(d.root.Content)-2
	if d.root.Style&yaml.FlowStyle != 0 || last < 0 || indent > maxIndent {
		return nil, refused
	}
	for _, at := range d.ends(last) {
		next, err := parse(slices.Concat(d.raw[:at], d.written(indent, write), d.raw[at:]))
		if err == nil && d.sameBut(next, key) && next.get(key) != nil && d.get(key) == nil {
			return next, nil
		}
	}
	return nil, refused
}

// ends lists where the value of a key may end: before the blank lines and comments in front of what comes next, and behind them.
func (d *document) ends(i int) (at []int) {
	l := linesOf(d.raw)
	first, end := d.root.Content[i].Line, l.count()+1
	if i+2 < len(d.root.Content) {
		end = d.root.Content[i+2].Line
	}
	for n := first + 1; n < end; n++ {
		if text := string(l.line(n)); strings.HasPrefix(text, "...") || strings.HasPrefix(text, "---") {
			end = n
		}
	}
	if end < 1 || end > len(l.starts) {
		return nil
	}
	behind := l.starts[end-1]
	for n := end - 1; n > first; n-- {
		if text := strings.TrimSpace(string(l.line(n))); text != "" && text[0] != '#' {
			break
		}
		end = n
	}
	return []int{l.starts[end-1], behind}
}

// sameBut reports whether another document says what this one does, but for one key.
func (d *document) sameBut(other *document, key string) bool {
	return slices.EqualFunc(d.rest(key), other.rest(key), sameNode)
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
