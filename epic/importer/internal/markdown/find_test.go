package markdown

import (
	"slices"
	"strings"
	"testing"
)

// TestStepsInOrder: the lines of steps ascend, and each stands there once, whatever labels stand in one another.
func TestStepsInOrder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"## Tasks\n\n   Tasks:\n\n1. one\n2. two\n3. three\n",
		"# A\n\n## Phase 1\n\n### 1.1 a\n\n**1.2 b**\n\n## Phase 2\n\n- 2.1 c\n- [ ] **2.2** d\n",
		strings.Repeat("  Tasks:\n", 3000) + strings.Repeat("- item\n", 3000),
	} {
		list := Lines([]byte(text))
		steps := Steps(list)
		if !slices.IsSorted(steps) || len(slices.Compact(slices.Clone(steps))) != len(steps) {
			t.Errorf("%.40q has the steps %v", text, steps[:min(10, len(steps))])
		}
		if len(steps) > 0 {
			SplitSteps(list, steps)
		}
	}
}
