package epic

// MaxSize is the size, in bytes, of the largest epic.yml that is read: parsing needs many times the memory of the text.
const MaxSize = 16 << 20

// Read parses and validates an epic; name is what its problems call the file. The error is Problems, all at once.
func Read(name string, src []byte) (*Epic, error) {
	if p, bad := scan(src); bad {
		p.File = name
		return nil, Problems{p}
	}
	r := newReader(name)
	r.document(src)
	if r.broken {
		return nil, r.err()
	}
	r.header() // what only the whole epic can tell
	if !r.tasksLost {
		r.links()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.epic, nil
}
