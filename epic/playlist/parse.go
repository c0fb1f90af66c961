package playlist

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"relay/epic"
)

// The keys of a list and of one of its epics, as hints list them.
//
//nolint:gochecknoglobals // tables
var (
	listKeys  = append([]string{"version"}, keysOf[List]()...)
	entryKeys = keysOf[Entry]()
	states    = []Status{Pending, InProgress, Completed, Failed}
)

func keysOf[T any]() (keys []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// parser reads the nodes of a playlist and collects what is wrong with them.
type parser struct {
	name     string
	list     *List
	problems epic.Problems
}

// Parse reads the text of a playlist without looking at the files it names; name is what its problems call it. The error is
// epic.Problems, all at once.
func Parse(name string, src []byte) (*List, error) {
	p := &parser{name: name, list: &List{Path: name}}
	if len(src) > MaxSize {
		p.add(nil, "split the list", "the file is larger than %d MiB", MaxSize>>20)
		return nil, p.problems
	}
	root, err := epic.Document(name, src)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		p.add(nil, "start with version: 1 and epics:", "the playlist is empty")
	case epic.Follow(root).Kind != yaml.MappingNode:
		p.add(root, "start with version: 1 and epics:", "a playlist must be a mapping, not %s", epic.KindOf(root))
	default:
		p.root(epic.Follow(root))
	}
	if len(p.problems) > 0 {
		return nil, p.problems.Sorted()
	}
	p.list.Warnings = p.list.Warnings.Sorted()
	return p.list, nil
}

func (p *parser) add(n *yaml.Node, hint, format string, args ...any) {
	p.problems.Add(p.name, place(n), hint, format, args...)
}

func (p *parser) warn(n *yaml.Node, hint, format string, args ...any) {
	p.list.Warnings.Add(p.name, place(n), hint, format, args...)
}

func place(n *yaml.Node) (at epic.Place) {
	if n != nil {
		at = epic.Place{Line: n.Line, Column: n.Column}
	}
	return at
}

// root reads the list itself.
func (p *parser) root(n *yaml.Node) {
	values := p.mapping(n, listKeys, "the playlist")
	p.version(n, values["version"])
	p.fields(p.list, values)
	p.list.Name = strings.TrimSpace(p.list.Name)
	p.epics(n, values["epics"])
}

// fields reads values into the fields of a struct that have their keys.
func (p *parser) fields(to any, values map[string]*yaml.Node) {
	for f, field := range reflect.ValueOf(to).Elem().Fields() {
		key := f.Tag.Get("yaml")
		if key == "" {
			continue
		}
		switch v := field.Addr().Interface().(type) {
		case *string:
			*v = p.text(values[key], key)
		case *Status:
			*v = p.status(values[key])
		case *time.Time:
			*v = p.time(values[key], key)
		case *int:
			p.decode(values[key], v, key, "!!int", "a number of an epic, from 0")
		case *float64:
			p.decode(values[key], v, key, "!!float", "a number")
		case *bool:
			p.decode(values[key], v, key, "!!bool", "true or false")
		}
	}
}

func (p *parser) version(root, n *yaml.Node) {
	switch {
	case n == nil:
		p.add(root, "add version: 1", "version is missing")
	case epic.Follow(n).Kind != yaml.ScalarNode || epic.Follow(n).Value != "1":
		p.add(n, "relay reads version: 1", "version must be 1, not %s", epic.KindOf(n))
	}
}

func (p *parser) epics(root, n *yaml.Node) {
	const hint = "write each as - file: epics/NAME.yml"
	switch {
	case n == nil:
		p.add(root, "add epics:, and "+hint, "epics is missing")
		return
	case epic.IsNull(n) || epic.Follow(n).Kind == yaml.SequenceNode && len(epic.Follow(n).Content) == 0:
		p.add(n, hint, "the playlist has no epics")
		return
	case epic.Follow(n).Kind != yaml.SequenceNode:
		p.add(n, hint, "epics must be a list, not %s", epic.KindOf(n))
		return
	}
	items := epic.Follow(n).Content
	if len(items) > MaxEpics {
		p.add(items[MaxEpics], "split the list", "there are %d epics, more than the %d that relay reads", len(items), MaxEpics)
		return
	}
	seen := map[string]int{}
	for _, item := range items {
		if epic.Follow(item).Kind != yaml.MappingNode {
			p.add(item, hint, "an epic must be a mapping with file, not %s", epic.KindOf(item))
			continue
		}
		p.entry(item, seen)
	}
}

// entry reads one epic of the list; seen has the lines of the files before it.
func (p *parser) entry(item *yaml.Node, seen map[string]int) {
	values := p.mapping(epic.Follow(item), entryKeys, "the epic")
	e, at := Entry{}, values["file"]
	p.fields(&e, values)
	switch {
	case at == nil:
		p.add(item, "add file: epics/NAME.yml", "the epic has no file")
		return
	case !isText(at): // as fields has said
		return
	}
	if fault, hint := pathFault(e.File); fault != "" {
		p.add(at, hint, "%s", fault)
		return
	}
	e.Line = at.Line
	if first := seen[path.Clean(e.File)]; first > 0 {
		p.add(at, "name each file once", "epic %q is already on line %d", e.File, first)
		return
	}
	seen[path.Clean(e.File)] = e.Line
	p.list.Epics = append(p.list.Epics, e)
}

// pathFault reports what is wrong with the path of an epic as text, and how to put it right; both empty when nothing is.
func pathFault(file string) (fault, hint string) {
	const relative = "write it relative to the folder of the playlist"
	switch {
	case strings.TrimSpace(file) == "":
		return "file is empty", "name the epic's file, as in epics/NAME.yml"
	case len(file) > 4096:
		return "file is longer than 4096 characters", relative
	case strings.ContainsFunc(file, unicode.IsControl):
		return fmt.Sprintf("file %q contains a control character", file), "take the character out"
	case strings.HasPrefix(file, "/") || strings.HasPrefix(file, `\`) || len(file) >= 2 && file[1] == ':':
		return fmt.Sprintf("file %q is absolute", file), relative
	case strings.Contains(file, `\`):
		return fmt.Sprintf(`file %q contains \`, file), "write paths with /"
	}
	return "", ""
}

// mapping returns the values of a mapping by their keys. One that is not known is a warning; one that is given twice is a mistake.
func (p *parser) mapping(n *yaml.Node, known []string, what string) map[string]*yaml.Node {
	values, lines := map[string]*yaml.Node{}, map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := n.Content[i]
		key := epic.Follow(at)
		switch first := lines[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			p.add(at, "", "a key of %s must be a word", what)
			continue
		case first > 0:
			p.add(at, "take one of the two out", "key %q is given twice, first on line %d", key.Value, first)
			continue
		}
		lines[key.Value] = max(at.Line, 1)
		if slices.Contains(known, key.Value) {
			values[key.Value] = n.Content[i+1]
			continue
		}
		hint := "the keys are " + strings.Join(known, ", ")
		if near, ok := epic.Nearest(key.Value, known); ok {
			hint = "did you mean " + near + "?"
		}
		p.warn(at, hint, "unknown key %q in %s is kept and not used", key.Value, what)
	}
	return values
}

// text reads a text; one that is not there, or empty, is "".
func (p *parser) text(n *yaml.Node, key string) string {
	if n == nil || epic.IsNull(n) {
		return ""
	}
	if !isText(n) {
		p.add(n, "", "%s must be text, not %s", key, epic.KindOf(n))
		return ""
	}
	return epic.Follow(n).Value
}

func (p *parser) status(n *yaml.Node) Status {
	text := p.text(n, "status")
	if text != "" && !slices.Contains(states, Status(text)) {
		p.add(n, "use pending, in_progress, completed or failed; relay work writes it itself", "unknown status %q", text)
		return ""
	}
	return Status(text)
}

// time reads a time. Nothing depends on it: another form of it is a warning.
func (p *parser) time(n *yaml.Node, key string) time.Time {
	text := p.text(n, key)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.warn(n, "write it as 2026-01-31T07:30:00Z", "%s %q is not a time that relay reads", key, text)
		return time.Time{}
	}
	return t
}

// decode reads a number or a boolean into value, which stays as it is when there is none.
func (p *parser) decode(n *yaml.Node, value any, key, tag, want string) {
	if n == nil || epic.IsNull(n) {
		return
	}
	f := epic.Follow(n)
	fits := f.ShortTag() == tag || tag == "!!float" && f.ShortTag() == "!!int"
	if current, ok := value.(*int); f.Kind != yaml.ScalarNode || !fits || f.Decode(value) != nil || ok && *current < 0 {
		p.add(n, "", "%s must be %s, not %s", key, want, epic.KindOf(n))
	}
}

func isText(n *yaml.Node) bool {
	return epic.Follow(n).Kind == yaml.ScalarNode && epic.Follow(n).ShortTag() != "!!binary"
}
