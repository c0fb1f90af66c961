package epic

// MaxSize is the size, in bytes, of the largest epic.yml that is read: parsing needs many times the memory of the text.
const MaxSize = 16 << 20

// splitFrom is the size from which a file is parsed in fragments; below it the whole tree of nodes costs nothing worth saving.
const splitFrom = 64 << 10

// fragmentSize is how much text is parsed at a time.
const fragmentSize = 16 << 10

// Read parses and validates an epic; name is what its problems call the file. The error is Problems, all at once.
func Read(name string, src []byte) (*Epic, error) {
	least := fragmentSize
	if len(src) < splitFrom {
		least = 0
	}
	return read(name, src, least)
}

// read is Read with the least size of a fragment, or 0 to parse the file as one.
func read(name string, src []byte, fragment int) (*Epic, error) {
	if p, bad := scan(src); bad {
		p.File = name
		return nil, Problems{p}
	}
	if parts, ok := split(src, fragment); ok && fragment > 0 {
		r := newReader(name)
		if r.fragments(parts) {
			return r.finish()
		}
		// An error may be the cut's: the whole file decides.
	}
	r := newReader(name)
	r.document(src)
	return r.finish()
}

// finish checks what only the whole epic can tell.
func (r *reader) finish() (*Epic, error) {
	if r.broken {
		return nil, r.err()
	}
	r.header()
	if !r.tasksLost {
		r.links()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.epic, nil
}
