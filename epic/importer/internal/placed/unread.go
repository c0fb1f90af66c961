package placed

// Unread returns the keys of objects whose values no reader has used, once each in their order, and the first line of one.
func Unread(objects []*Node) (names []string, line int) {
	known := map[string]bool{}
	for _, n := range objects {
		for i, v := range n.Values[:len(n.Keys)] {
			if v.Used || !v.Says() || known[n.Keys[i]] {
				continue
			}
			known[n.Keys[i]] = true
			names = append(names, n.Keys[i])
			if line == 0 || v.Line < line {
				line = v.Line
			}
		}
	}
	return names, line
}
