package playlist

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"relay/epic"
)

// errPlace means that a state cannot be written into a playlist without changing something else in it.
var errPlace = errors.New("its values are written in a way that a state cannot be added to: write every epic as a mapping of its own, without anchors")

// Update reads the file of the list again, calls change to set states and times, and calls replace to write the file if its text
// differs. Edits that others made meanwhile stay: comments, order and unknown keys too. It fails without writing when the file
// has mistakes now.
func (l *List) Update(replace func(path string, text []byte) error, change func(now *List)) error {
	src, err := readFile(l.Path)
	if err != nil {
		return err
	}
	out, err := Edit(l.name, src, change)
	if err != nil || bytes.Equal(out, src) {
		return err
	}
	path, err := filepath.EvalSymlinks(l.Path) // a link stays one
	if err != nil {
		return err
	}
	return replace(path, out)
}

// Edit returns the text of a playlist with the states, the times, the duration and the index that change sets; a value that is empty
// afterwards becomes null. All else stays as it is, byte for byte; only where the text is written in a way that cannot be edited
// line by line does Edit write it from its nodes, which keep comments and order. name is what problems call the file.
func Edit(name string, src []byte, change func(now *List)) ([]byte, error) {
	before, root, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	want, _, _ := parse(name, src) // it has just been read
	change(want)
	sets := want.differences(before, epic.Follow(root))
	if len(sets) == 0 {
		return src, nil
	}
	out := editLines(src, sets)
	if !reads(name, out, want) {
		if out, err = encodeNodes(root, sets); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !reads(name, out, want) {
			return nil, fmt.Errorf("%s: %w", name, errPlace)
		}
	}
	return out, nil
}

// reads reports whether a text is a playlist with the states that are wanted.
func reads(name string, text []byte, want *List) bool {
	now, root, err := parse(name, text)
	return err == nil && len(now.Epics) == len(want.Epics) && len(now.Warnings) == len(want.Warnings) &&
		len(want.differences(now, epic.Follow(root))) == 0
}

// set is a value that a mapping is to have under one of its keys.
type set struct {
	in    *yaml.Node // the mapping
	key   string
	value string   // as YAML; null when there is none
	order []string // of the keys, for where a new one goes
}

// differences lists the values to set in the tree of an old list to make it this one.
func (l *List) differences(old *List, root *yaml.Node) (sets []set) {
	differ := func(in *yaml.Node, order []string, was, is reflect.Value) {
		for f, v := range was.Fields() {
			key := f.Tag.Get("yaml")
			old, now := written(v), written(is.FieldByIndex(f.Index))
			if key == "current" && lookup(root, key) < 0 && l.Status != "" { // whoever reads how far the list is wants to know where
				old = none
			}
			if key != "" && old != now {
				sets = append(sets, set{in, key, now, order})
			}
		}
	}
	differ(root, listKeys, reflect.ValueOf(*old), reflect.ValueOf(*l))
	items := entryNodes(root)
	for i := range min(len(l.Epics), len(old.Epics), len(items)) {
		differ(epic.Follow(items[i]), entryKeys, reflect.ValueOf(old.Epics[i]), reflect.ValueOf(l.Epics[i]))
	}
	return sets
}

// before returns the last key of a mapping that comes before another one in the order of the format, and "" when it has none.
func before(mapping *yaml.Node, order []string, key string) string {
	for _, k := range slices.Backward(order[:slices.Index(order, key)]) {
		if lookup(mapping, k) >= 0 {
			return k
		}
	}
	return ""
}

// entryNodes returns the nodes of the epics of a list that has been read.
func entryNodes(root *yaml.Node) []*yaml.Node {
	if at := lookup(root, "epics"); at >= 0 {
		return epic.Follow(root.Content[at+1]).Content
	}
	return nil
}

// lookup returns the index of a key among the nodes of a mapping, or -1.
func lookup(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if epic.Follow(mapping.Content[i]).Value == key {
			return i
		}
	}
	return -1
}

const none = "null"

// written returns the value of a field as YAML.
func written(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case v.IsZero() || v.Kind() == reflect.Slice || !v.CanInterface():
		return none
	case v.Kind() == reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case v.Type() == reflect.TypeFor[time.Time]():
		return instant(v.Interface().(time.Time))
	}
	return fmt.Sprint(v.Interface())
}

func instant(t time.Time) string {
	return strconv.Quote(t.UTC().Truncate(time.Second).Format(time.RFC3339))
}

// encodeNodes sets the values in the tree, and writes it out with the indentation of most files.
func encodeNodes(root *yaml.Node, sets []set) ([]byte, error) {
	for _, s := range slices.Backward(sets) { // each goes in front of those before it
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(s.value), &value); err != nil {
			return nil, err
		}
		scalar := value.Content[0]
		if at := lookup(s.in, s.key); at >= 0 {
			old := s.in.Content[at+1]
			scalar.LineComment, scalar.HeadComment, scalar.FootComment = old.LineComment, old.HeadComment, old.FootComment
			s.in.Content[at+1] = scalar
			continue
		}
		at := 0
		if last := lookup(s.in, before(s.in, s.order, s.key)); last >= 0 {
			at = last + 2
		}
		rest := append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: s.key}, scalar}, s.in.Content[at:]...)
		s.in.Content = append(s.in.Content[:at:at], rest...)
	}
	return epic.EncodeNode(root)
}

// editLines sets the values in the text, where each stands on one line or can be put on a line of its own. The caller has to
// read the result again: it can differ where the text has an unusual form.
func editLines(src []byte, sets []set) []byte {
	lines := strings.SplitAfter(string(src), "\n")
	behind := map[int][]string{} // lines to go behind one, by its index
	for _, s := range sets {
		at, key := lookup(s.in, s.key), s.key
		if at < 0 {
			key = before(s.in, s.order, s.key)
			at = lookup(s.in, key)
		}
		if at < 0 {
			continue
		}
		node, value := s.in.Content[at], s.in.Content[at+1]
		i := value.Line - 1
		if node.Line != value.Line || i < 0 || i >= len(lines) {
			continue
		}
		if key == s.key {
			lines[i] = replaceValue(lines[i], value, s.value)
			continue
		}
		ending := "\n"
		if strings.HasSuffix(lines[i], "\r\n") {
			ending = "\r\n"
		}
		behind[i] = append(behind[i], strings.Repeat(" ", max(node.Column-1, 0))+s.key+": "+s.value+ending)
	}
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(line)
		if len(behind[i]) > 0 && !strings.HasSuffix(line, "\n") {
			out.WriteByte('\n')
		}
		for _, more := range behind[i] {
			out.WriteString(more)
		}
	}
	return []byte(out.String())
}

// replaceValue returns a line with another value in the place of the one that a node says stands there.
func replaceValue(line string, old *yaml.Node, value string) string {
	from := len(string([]rune(line)[:min(max(old.Column-1, 0), len([]rune(line)))]))
	rest := line[from:]
	length := len(old.Value)
	switch {
	case old.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && rest != "":
		length = strings.Index(rest[1:], rest[:1]) + 2
	case old.Value == "":
		value = " " + value // there was nothing behind the colon
	}
	if length < 0 || length > len(rest) {
		return line
	}
	return line[:from] + value + rest[length:]
}
