package epic

import (
	"fmt"
	"strings"
)

// shapes are the task graphs that tests and benchmarks run on.
var shapes = map[string]func(i, n int) []int{
	"flat":  func(int, int) []int { return nil },
	"chain": func(i, _ int) []int { return []int{i - 1} },
	"layers": func(i, n int) []int {
		layer := max(n/50, 1)
		if i < layer {
			return []int{-1}
		}
		return []int{i - layer, (i/layer-1)*layer + (i*7)%layer}
	},
}

// generate writes an epic of n tasks, about 150 bytes each.
func generate(n int, shape string) []byte {
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260111-generated\ntitle: Generated\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  T%d:\n    title: \"Task number %d\"\n    priority: p%d\n    points: %d\n", i, i, i%4, 1+i%5)
		fmt.Fprintf(&b, "    files: [src/file%d.go]\n    acceptance_criteria: [\"it works\"]\n", i)
		var deps []string
		for _, d := range shapes[shape](i, n) {
			if d >= 0 {
				deps = append(deps, fmt.Sprintf("T%d", d))
			}
		}
		fmt.Fprintf(&b, "    depends_on: [%s]\n", strings.Join(deps, ", "))
	}
	return []byte(b.String())
}
