package epic

import "gopkg.in/yaml.v3"

// MaxSize is the size, in bytes, of the largest epic.yml that is read: parsing needs many times the memory of the text.
const MaxSize = 16 << 20

// Read parses and validates an epic; name is what its problems call the file. The error is Problems, all at once.
func Read(name string, src []byte) (*Epic, error) {
	root, err := Document(name, src)
	if err != nil {
		return nil, err
	}
	const hint = "start with version: 2, id:, title: and tasks:"
	p := &problemList{file: name}
	r := reader{problems: p, epic: &Epic{}, top: newPlaces(Place{})}
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
	if err := p.err(); err != nil {
		return nil, err
	}
	return r.epic, nil
}
