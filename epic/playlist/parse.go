package playlist

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"relay/epic"
)

// The keys of a list and of one of its epics, as hints list them.
var (
	listKeys = []string{
		"version", "name", "created_at", "status", "current", "started_at", "ended_at", "duration_minutes", "continue_on_failure", "epics",
	}
	entryKeys = []string{"file", "status", "started_at", "completed_at", "failed_at"}
	states    = []Status{Pending, InProgress, Completed, Failed}
)

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

func place(n *yaml.Node) (at epic.Place) {
	if n != nil {
		at = epic.Place{Line: n.Line, Column: n.Column}
	}
	return at
}

// root reads the list itself.
func (p *parser) root(n *yaml.Node) {
	values := p.mapping(n, listKeys, "the playlist")
	switch v := values["version"]; {
	case v == nil:
		p.add(n, "add version: 1", "version is missing")
	case epic.Follow(v).Kind != yaml.ScalarNode || epic.Follow(v).Value != "1":
		p.add(v, "relay reads version: 1", "version must be 1, not %s", epic.KindOf(v))
	}
	p.list.Name, p.list.Status = strings.TrimSpace(p.text(values["name"], "name")), p.status(values["status"])
	p.list.StartedAt, _ = time.Parse(time.RFC3339, p.text(values["started_at"], "started_at")) // nothing depends on it
	if n := values["continue_on_failure"]; n != nil && !epic.IsNull(n) && epic.Follow(n).Decode(&p.list.ContinueOnFailure) != nil {
		p.add(n, "", "continue_on_failure must be true or false, not %s", epic.KindOf(n))
	}
	p.epics(n, values["epics"])
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
	at := values["file"]
	e := Entry{File: p.text(at, "file"), Status: p.status(values["status"])}
	switch {
	case at == nil:
		p.add(item, "add file: epics/NAME.yml", "the epic has no file")
		return
	case !isText(at): // as text has said
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
		p.list.Warnings.Add(p.name, place(at), hint, "unknown key %q in %s is kept and not used", key.Value, what)
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

func isText(n *yaml.Node) bool {
	return epic.Follow(n).Kind == yaml.ScalarNode && epic.Follow(n).ShortTag() != "!!binary"
}
