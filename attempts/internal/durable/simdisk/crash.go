package simdisk

import "math/rand/v2"

// Crash returns a disk as it may be found when the power comes back: everything that was synced, and of the rest
// whatever rng decides, or everything if rng is nil, which is what a killed process leaves. The disk itself is left as it
// is, so that it can crash in many ways.
func (d *Disk) Crash(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := &Disk{inodes: d.inodes, clock: d.clock}
	next.root = d.root.crash(rng, map[*node]*node{})
	return next
}

func (n *node) crash(rng *rand.Rand, done map[*node]*node) *node {
	if found := done[n]; found != nil {
		return found
	}
	out := &node{ino: n.ino, dir: n.dir, links: 1, touched: n.touched}
	done[n] = out
	if n.dir {
		out.entries = map[string]*node{}
		for name, child := range n.survivors(rng) {
			out.entries[name] = child.crash(rng, done)
		}
		out.synced = clone(out.entries)
		return out
	}
	out.data = n.rest(rng)
	out.safe = out.data
	return out
}

// survivors are the names that are left: a journal keeps the first so many operations, other disks keep any.
func (n *node) survivors(rng *rand.Rand) map[string]*node {
	if rng == nil {
		return n.entries
	}
	names := clone(n.synced)
	ordered, kept := rng.IntN(2) == 0, rng.IntN(len(n.changes)+1)
	for i, c := range n.changes {
		if ordered && i >= kept || !ordered && rng.IntN(2) == 0 {
			continue
		}
		for name, to := range c {
			if to == nil {
				delete(names, name)
			} else {
				names[name] = to
			}
		}
	}
	return names
}

// rest returns what is left of a file: each write that was not synced is kept, lost, torn or turned to zeros, in any order.
func (n *node) rest(rng *rand.Rand) []byte {
	if rng == nil {
		return n.data
	}
	data := n.safe
	for _, w := range n.writes {
		switch rng.IntN(5) {
		case 0: // lost
		case 1: // its size has arrived, its bytes have not
			if w.data != nil {
				data = write{w.at, make([]byte, len(w.data))}.apply(data)
			}
		case 2:
			if len(w.data) > 0 {
				data = write{w.at, w.data[:rng.IntN(len(w.data))]}.apply(data)
			}
		default:
			data = w.apply(data)
		}
	}
	return data
}
