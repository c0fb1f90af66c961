package epic

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// MaxSize is the size, in bytes, of the largest epic.yml that is read: parsing needs many times the memory of the text.
const MaxSize = 16 << 20

// Read parses and validates an epic; name is what its problems call the file. The error is Problems, all at once.
func Read(name string, src []byte) (*Epic, error) {
	if len(src) > partSize {
		if frame, parts := split(src); len(parts) > 1 {
			if e, err := read(name, frame, parts); err == nil {
				return e, nil
			} // as a whole it may be good, and otherwise its problems have the right lines
		}
	}
	return read(name, src, nil)
}

// partSize is the size of the parts in which a long epic is parsed: the nodes of a text need many times its memory.
const partSize = 64 << 10

// part is some of the tasks of an epic, as text.
type part struct {
	text []byte
	line int // lines before it
}

// split returns an epic without its tasks, and these in parts: each begins with a line as deep as the first task. There are none if they
// stand in another way than below a line "tasks:". A part that begins within a text is not valid.
func split(src []byte) (frame []byte, parts []part) {
	key := []byte("\ntasks:\n")
	begin := bytes.Index(src, key) + len(key)
	if begin < len(key) || !bytes.HasPrefix(src[begin:], []byte("  ")) || !isID(src[begin+2:]) {
		return nil, nil
	}
	at, line := begin, bytes.Count(src[:begin], []byte("\n"))
	for end := begin; end < len(src); {
		next := end + bytes.IndexByte(src[end:], '\n') + 1
		if next == end {
			next = len(src)
		}
		last := next == len(src) || bytes.IndexByte([]byte(" \n#"), src[next]) < 0
		if last || next-at > partSize && bytes.HasPrefix(src[next:], []byte("  ")) && isID(src[next+2:]) {
			parts = append(parts, part{src[at:next], line})
			line += bytes.Count(src[at:next], []byte("\n"))
			at = next
		}
		if end = next; last {
			break
		}
	}
	return append(bytes.Clone(src[:begin]), src[at:]...), parts
}

// isID reports whether a text begins as the id of a task does.
func isID(text []byte) bool {
	return len(text) > 0 && (text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
}

// read reads an epic whose tasks are in parts; none: they are in the text.
func read(name string, src []byte, parts []part) (*Epic, error) {
	root, err := Document(name, src)
	if err != nil {
		return nil, err
	}
	const hint = "start with version: 2, id:, title: and tasks:"
	p := &problemList{file: name}
	r := reader{problems: p, epic: &Epic{}, top: newPlaces(Place{}), task: *newPlaces(Place{}), parts: parts}
	r.check = validator{problems: p, epic: r.epic, at: r.where}
	switch {
	case root == nil:
		p.add(Place{}, hint, "the epic is empty")
		return nil, p.err()
	case Follow(root).Kind != yaml.MappingNode:
		p.add(placeOf(root), hint, "an epic must be a mapping, not %s", KindOf(root))
		return nil, p.err()
	}
	r.mapping(root, epicKeys, "the epic", r.top, r.epic)
	r.check.header()
	if !r.tasksLost {
		r.check.links()
	}
	if r.parts != nil {
		p.add(Place{}, "", "tasks: is not a key of it")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return r.epic, nil
}
