package epic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/epic/pattern"
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

// Document parses the text of a YAML file that a person writes; name is what its problems call the file. The node is nil
// when there is nothing in it. The error is Problems.
func Document(name string, src []byte) (*yaml.Node, error) {
	p := problemList{file: name}
	switch {
	case len(src) > MaxSize:
		p.add(Place{}, "split the epic, or move long descriptions into files that the tasks name", "the file is larger than %d MiB", MaxSize>>20)
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")):
		p.add(Place{}, "save it as UTF-8", "the file is UTF-16")
	}
	if len(p.found) > 0 {
		return nil, p.err()
	}
	doc, rest, err := parseYAML(src)
	if err != nil {
		p.syntax(src, err)
		return nil, p.err()
	}
	if second, again := another(rest); again {
		p.add(second, "take the line with --- out, and what follows it", "the file has a second YAML document")
		return nil, p.err()
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	left := MaxSize + 2*len(src)
	if at := expand(doc.Content[0], &left); at != nil {
		p.add(placeOf(at), "write the values out", "the alias %s stands for too many values, or contains itself", plain(at.Value))
	}
	return doc.Content[0], p.err()
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

// aliasCost bounds how many aliases a file may follow, and how deep.
const aliasCost = 1000

// expand takes what a tree holds with its aliases written out, as values and bytes, from what is left. It returns the alias
// at which nothing is left any more, as at one that contains itself.
func expand(n *yaml.Node, left *int) *yaml.Node {
	if *left -= 1 + len(n.Value); *left < 0 {
		return n
	}
	if n.Kind == yaml.AliasNode {
		if *left -= aliasCost; expand(n.Alias, left) != nil {
			return n
		}
	}
	for _, c := range n.Content {
		if at := expand(c, left); at != nil {
			return at
		}
	}
	return nil
}

var yamlError = pattern.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// Mistake returns the line that an error of the YAML parser names, or 0, and what it says besides.
func Mistake(err error) (line int, message string) {
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, m[2]
	}
	return 0, err.Error()
}

// syntax reports what the YAML parser said, at the line where it had to say it.
func (l *problemList) syntax(src []byte, err error) {
	line, message := Mistake(err)
	if name, found := strings.CutPrefix(message, "unknown anchor '"); found {
		name, _, _ = strings.Cut(name, "'")
		line, column := position(src, max(bytes.Index(src, []byte("*"+name)), 0))
		l.add(Place{line, column}, "define it above with &"+name, "unknown anchor %s", Quoted(name))
		return
	}
	line = exactLine(src, message, max(line, 1))
	text := lineText(src, line)
	column := len(text) - len(bytes.TrimLeft(text, " ")) + 1
	l.add(Place{line, column}, syntaxHint(message, text), "YAML: %s", message)
}

// maxExact is the largest file that is parsed again to find the line of a mistake.
const maxExact = 256 << 10

// exactLine finds the first line with which the parser reports the mistake. The parser itself often names the line where the
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
	case strings.Contains(message, "control characters"), strings.Contains(message, "UTF-8"):
		return "save the file as UTF-8; in double quotes a control character can be written as an escape"
	case strings.Contains(message, "expected"):
		return "look at the indentation of this line and the one before, and for a bracket that is not closed"
	case strings.Contains(message, "max depth"):
		return "no more than five levels are needed"
	}
	return ""
}

// position turns an offset into a line and a column.
func position(src []byte, offset int) (line, column int) {
	begin := bytes.LastIndexByte(src[:offset], '\n') + 1
	return bytes.Count(src[:offset], []byte("\n")) + 1, utf8.RuneCount(src[begin:offset]) + 1
}
