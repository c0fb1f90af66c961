package discussion

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/each"
)

// SyntaxError is a file that cannot be read as an entry.
type SyntaxError struct {
	Line    int // from 1
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// The keys of an entry.
const (
	keyID        = "entry_id"
	keyTopic     = "topic"
	keySummary   = "summary"
	keyPositions = "positions"
	keyStatus    = "status"
	keyCreated   = "created_at"
	keyRelated   = "related_entries"
	keyLinks     = "links"
	keyHistory   = "history"
	keyOrigin    = "origin"
)

// document is a file, and what it says.
type document struct {
	raw  []byte
	file *yaml.Node
	root *yaml.Node // the mapping in it
}

// Decode reads the text of an entry, as leniently as it can: values of another form than the format's are taken for what they most likely
// mean, and what is missing is empty. Its status is what the file says, else that of the last item of its history, else exploring.
// An error means that it is not an entry at all.
func Decode(text []byte) (*Entry, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	return d.entry(), nil
}

// parse takes a file apart. It fails for what is not one mapping of YAML in UTF-8, and where a key of the format stands twice.
func parse(raw []byte) (*document, error) {
	switch {
	case len(raw) > MaxSize:
		return nil, &SyntaxError{1, fmt.Sprintf("the file has more than %d bytes", MaxSize)}
	case !utf8.Valid(raw):
		return nil, &SyntaxError{lineOfInvalid(raw), "the file is not UTF-8"}
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, &SyntaxError{1, "the file is empty"}
	}
	var n, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&n); err != nil {
		return nil, syntaxError(err)
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 || n.Content[0].Kind != yaml.MappingNode {
		return nil, &SyntaxError{max(n.Line, 1), "it is not an entry: keys and values are missing"}
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, &SyntaxError{max(more.Line, 1), "a second document begins: an entry has a file of its own"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(err)
	}
	d := &document{raw: raw, file: &n, root: n.Content[0]}
	return d, d.checkKeys()
}

// checkKeys fails where a key of the format stands twice, and for a file that has none that says what is discussed.
func (d *document) checkKeys() error {
	known := []string{keyID, keyTopic, keySummary, keyPositions, keyStatus, keyCreated, keyRelated, keyLinks, keyHistory, keyOrigin}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		key := d.root.Content[i]
		if seen[key.Value] && key.Kind == yaml.ScalarNode && slices.Contains(known, key.Value) {
			return &SyntaxError{key.Line, "the key " + key.Value + " stands twice"}
		}
		seen[key.Value] = true
	}
	for _, key := range []string{keyID, keyTopic, keySummary, keyPositions, keyStatus, keyHistory} {
		if seen[key] {
			return nil
		}
	}
	return &SyntaxError{d.root.Line, "it is not an entry: it has neither topic, summary, positions nor status"}
}

func syntaxError(err error) error {
	line, message := epic.Mistake(err)
	return &SyntaxError{max(line, 1), "it is not YAML: " + message}
}

func lineOfInvalid(raw []byte) int {
	const never = "\xff" // stands in no text of UTF-8
	valid, _, _ := strings.Cut(strings.ToValidUTF8(string(raw), never), never)
	return 1 + strings.Count(valid, "\n")
}

func (d *document) entry() *Entry {
	e := &Entry{}
	fill(d.root, reflect.ValueOf(e).Elem())
	if n := len(e.History); e.Status == "" && n > 0 {
		e.Status = e.History[n-1].Status
	}
	e.Status = cmp.Or(e.Status, Exploring)
	return e
}

// items returns the items of a list: one value is a list of one.
func items(n *yaml.Node) []*yaml.Node {
	switch {
	case n == nil || n.Kind == yaml.AliasNode || isNull(n):
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	}
	return []*yaml.Node{n}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// fill reads a mapping into the fields of a struct. A text in place of a mapping is its stance, note or id.
func fill(n *yaml.Node, to reflect.Value) {
	for about, at := range to.Fields() {
		key, _, _ := strings.Cut(about.Tag.Get("yaml"), ",")
		var value *yaml.Node
		switch {
		case n.Kind == yaml.MappingNode:
			value = epic.ValueAt(n, key)
		case key == "stance", key == "note", key == keyID:
			value = n
		}
		if at.Kind() == reflect.String {
			at.SetString(textOf(value))
			continue
		}
		for _, item := range items(value) {
			at.Set(reflect.Append(at, reflect.Zero(at.Type().Elem())))
			if last := at.Index(at.Len() - 1); last.Kind() == reflect.String {
				last.SetString(textOf(item))
			} else {
				fill(item, last)
			}
		}
	}
}

// textOf returns a value as text. A mapping in place of a text is most often one with an unquoted colon. Aliases stand for
// texts only, so that what is read cannot become larger than the file.
func textOf(n *yaml.Node) string {
	if n != nil && n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode {
		n = n.Alias
	}
	if n == nil || isNull(n) {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	parts := each.Where(n.Content, func(part *yaml.Node) (string, bool) { return part.Value, part.Kind == yaml.ScalarNode })
	if n.Kind == yaml.MappingNode {
		return strings.Join(parts, ": ")
	}
	return strings.Join(parts, "; ")
}
