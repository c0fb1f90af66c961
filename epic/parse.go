package epic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/internal/lazyregexp"
)

// maxNodes bounds the values in a file, maxAliased those that aliases add to them, and maxAliasedText the bytes of these: what
// a small file can make the reader do and remember.
const (
	maxNodes       = 3_000_000
	maxAliased     = 1_000_000
	maxAliasedText = MaxSize
)

// parseYAML parses the first document in src into nodes. The parser reports some faults by panicking.
func parseYAML(src []byte) (doc *yaml.Node, rest *yaml.Decoder, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("yaml: the parser gave up: %v", p)
		}
	}()
	doc = new(yaml.Node)
	rest = yaml.NewDecoder(bytes.NewReader(src))
	if err := rest.Decode(doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return doc, rest, nil
}

// document reads a whole file.
func (r *reader) document(src []byte) {
	root := r.tree(src)
	switch {
	case r.broken:
	case root == nil:
		r.fail(Place{}, "start with version: 2, id:, title: and tasks:", "the epic is empty")
	default:
		r.root(root)
	}
}

// Document parses the text of another YAML file that a person writes, with the limits that an epic's text has; name is what its
// problems call the file. The node is nil when there is nothing in it. The error is Problems.
func Document(name string, src []byte) (*yaml.Node, error) {
	if p, bad := scan(src); bad {
		p.File = name
		return nil, Problems{p}
	}
	r := newReader(name)
	root := r.tree(src)
	return root, r.err()
}

// tree parses a whole file, and reports what is wrong with it as YAML; nil when that is so or when the file holds no value.
func (r *reader) tree(src []byte) *yaml.Node {
	if nodes := estimateNodes(src); nodes > maxNodes {
		r.fail(Place{}, "split the epic", "the file holds more values than relay reads")
		return nil
	}
	doc, rest, err := parseYAML(src)
	if err != nil {
		r.syntax(src, err)
		return nil
	}
	if second, again := another(rest); again {
		r.fail(second, "take the line with --- out, and what follows it", "the file has a second YAML document")
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	doc.Content = nil
	w := aliasWalk{size: map[*yaml.Node]expanse{}}
	w.walk(root)
	if w.fault != "" {
		r.fail(placeOf(w.at), "write the values out", "%s", w.fault)
		return nil
	}
	return root
}

// another tells whether the stream goes on after its first document, and where.
func another(rest *yaml.Decoder) (at Place, again bool) {
	defer func() {
		if recover() != nil {
			again = true
		}
	}()
	var second yaml.Node
	err := rest.Decode(&second)
	if errors.Is(err, io.EOF) {
		return Place{}, false
	}
	return Place{second.Line, second.Column}, true
}

// estimateNodes counts the characters that make values: at least half as many as there are nodes.
func estimateNodes(src []byte) int {
	count := func(s string) int { return bytes.Count(src, []byte(s)) }
	return count("\n") + count(": ") + 2*count(",") + count("[") + count("{") + count("- ")
}

// aliasWalk counts what a tree would hold with its aliases written out. The depth is the parser's, at most 10,000.
type aliasWalk struct {
	size  map[*yaml.Node]expanse // of nodes with an anchor; -1 values while one is being walked
	added expanse
	fault string
	at    *yaml.Node
}

// expanse measures a part of a tree.
type expanse struct{ values, bytes int }

func (e *expanse) add(other expanse) {
	e.values = min(e.values+other.values, maxAliased)
	e.bytes = min(e.bytes+other.bytes, maxAliasedText)
}

func (w *aliasWalk) walk(n *yaml.Node) expanse {
	if w.fault != "" {
		return expanse{}
	}
	if n.Kind == yaml.AliasNode {
		size, done := w.size[n.Alias]
		switch {
		case !done || size.values < 0:
			w.fault, w.at = fmt.Sprintf("the anchor %s contains itself", plain(n.Value)), n
		case w.added.values+size.values > maxAliased:
			w.fault, w.at = "the aliases stand for too many values", n
		case w.added.bytes+size.bytes > maxAliasedText:
			w.fault, w.at = fmt.Sprintf("the aliases stand for more than %d MiB of text", maxAliasedText>>20), n
		}
		w.added.add(size)
		return size
	}
	if n.Anchor != "" {
		w.size[n] = expanse{values: -1}
	}
	size := expanse{1, len(n.Value)}
	for _, c := range n.Content {
		size.add(w.walk(c))
	}
	if n.Anchor != "" {
		w.size[n] = size
	}
	return size
}

var yamlError = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// Mistake returns the line that an error of the YAML parser names, or 0, and what it says besides.
func Mistake(err error) (line int, message string) {
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, m[2]
	}
	return 0, err.Error()
}

// syntax reports what the YAML parser said, at the line where it had to say it.
func (r *reader) syntax(src []byte, err error) {
	line, message := Mistake(err)
	if name, found := strings.CutPrefix(message, "unknown anchor '"); found {
		name, _, _ = strings.Cut(name, "'")
		line, column := position(src, max(bytes.Index(src, []byte("*"+name)), 0))
		r.fail(Place{line, column}, "define it above with &"+name, "unknown anchor %s", Quoted(name))
		return
	}
	line = exactLine(src, message, max(line, 1))
	text := lineText(src, line)
	column := len(text) - len(bytes.TrimLeft(text, " ")) + 1
	r.fail(Place{line, column}, syntaxHint(message, text), "YAML: %s", message)
}

// maxExact is the largest file that is parsed again to find the line of a mistake.
const maxExact = 256 << 10

// exactLine finds the first line with which the parser makes its complaint. What it reports itself is often where the
// enclosing mapping began, which can be far away.
func exactLine(src []byte, message string, reported int) int {
	if len(src) > maxExact {
		return reported
	}
	var ends []int
	for i, c := range src {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(src) > 0 && src[len(src)-1] != '\n' {
		ends = append(ends, len(src))
	}
	from := min(reported, len(ends)) - 1
	if from < 0 {
		return reported
	}
	k := sort.Search(len(ends)-from, func(k int) bool {
		_, _, err := parseYAML(src[:ends[from+k]])
		return err != nil && strings.HasSuffix(err.Error(), message)
	})
	if from+k >= len(ends) {
		return min(reported, len(ends))
	}
	return from + k + 1
}

func lineText(src []byte, line int) []byte {
	for ; line > 1; line-- {
		_, src, _ = bytes.Cut(src, []byte("\n"))
	}
	text, _, _ := bytes.Cut(src, []byte("\n"))
	return text
}

func syntaxHint(message string, line []byte) string {
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	switch {
	case bytes.ContainsRune(indent, '\t'):
		return "YAML does not indent with tabs: use spaces"
	case strings.Contains(message, "mapping values are not allowed"):
		return `correct the indentation, or put text that contains ": " in quotes`
	case strings.Contains(message, "cannot start any token"):
		return "put text that begins with a special character in quotes"
	case strings.Contains(message, "unknown escape"):
		return "use single quotes, in which a backslash is a backslash"
	case strings.Contains(message, "unexpected end of stream"):
		return "a quote or bracket that begins here is never closed"
	case strings.Contains(message, "expected"):
		return "look at the indentation of this line and the one before, and for a bracket that is not closed"
	case strings.Contains(message, "max depth"):
		return "no more than five levels are needed"
	}
	return ""
}
