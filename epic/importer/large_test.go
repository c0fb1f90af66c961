package importer

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"relay/epic/blueprint"
	"relay/epic/grouping"
	"relay/epic/slowtest"
)

// large is a plan of any size: a beginning, lines with a number, an end.
type large struct{ form, file, begin, each, end string }

// larges are plans of every form, and texts that are hard to read: long lines, marks without an end, lists in one another.
func larges() []large {
	const box = "- [ ] a\n"
	list := []large{
		{"speckit", "tasks.md", "# Tasks: a\n## Phase 1: b\n- [ ] T999 b\nwhat is said\n", "- [ ] T%d a task (depends on T999)\n", ""},
		{"openspec", "tasks.md", "## 1. a\nwhat is said\n", "- [ ] 1.%d a task\n  - a part of it\n", ""},
		{"kiro", "tasks.md", "# a\n- [ ] 1. all\n  - what is said\n", "- [ ] 1.%d a task\n  - _Requirements: 1.1_\n", ""},
		{"taskmaster", "tasks.json", `{"tasks": [{"id": 1, "title": "a", "subtasks": [{"id": 1, "title": "b"}]}`, ",\n{\"id\": %d, \"title\": \"a\", \"dependencies\": [1]}", "]}"},
		{"ralph", "prd.json", `{"userStories": [{"id": "a", "title": "a"}`, ",\n{\"id\": \"%d\", \"title\": \"a\", \"extra\": 1}", "]}"},
		{"beads", "issues.jsonl", `{"id":"e","title":"e","issue_type":"epic","description":"what is said"}` + "\n", `{"id":"%d","title":"a","dependencies":[{"depends_on_id":"e","type":"parent-child"}]}` + "\n", ""},
		{"bmad", "sprint-status.yaml", "project: a\ndevelopment_status:\n", "  1-%d-a-story: backlog\n", ""},
		{"bmad", "epics.md", "# a\n", "### Story 1.%d: a\n**Prerequisites:** Story 1.1000\n", ""},
		{"gsd", "ROADMAP.md", "# a\n- [ ] **Phase 1: b** - c\n### Phase 1: b\nwhat is said\n", "- [ ] 01-%d: a plan\n", ""},
		{"planmode", "plan.md", "# a\n## Steps\n", "### Step 9: a\nwhat is said in %d words\n", ""},
		{"checklist", "plan.md", "# a\nwhat is said\n", "- [ ] a box %d\n  - [ ] a part\n", ""},
		{"checklist", "parts.md", "# a\n", "### Phase %d: a\n- [ ] a box in `a.go`\n", ""},
		{"blueprint", "plan.md", "# a\n## Tasks\n### T1: b\n", "### T%d: a task\n**Depends on:** T1\nIt is `here`.\n", ""},
		{"blueprint", "plan.md", "# a\n## Tasks\n### T1: b\n", "- [ ] box %d of `a.go`\n", ""},
	}
	for _, each := range []string{"a`b`` ", "**a %d", "- ", "> ", "[a](", "# ", "depends on ", "<!-- ", "| a ", "\t", "_", "1. ", "``` "} {
		list = append(list, large{"checklist", "hard.md", "# a\n" + box, each, ""}, large{"blueprint", "plan.md", "# a\n## Tasks\n### T1: b\n", each, ""},
			large{"planmode", "hard.md", "# a\n## Steps\n1. a\n2. b\n", each, ""})
	}
	return list
}

func (l large) text(size int) []byte {
	var b strings.Builder
	b.WriteString(l.begin)
	for n := 1000; b.Len() < size; n++ {
		b.WriteString(strings.Replace(l.each, "%d", strconv.Itoa(n), 1))
	}
	return []byte(b.String() + l.end)
}

// read reads it as relay init does, and returns how many tasks and criteria it has.
func (l large) read(tb testing.TB, text []byte) int {
	tb.Helper()
	files := fstest.MapFS{l.file: {Data: text}}
	found := Find(files, l.file)
	var plan *Plan
	var err error
	if form, known := Named(l.form); known && len(found) > 0 && found[0].Format.Name == l.form {
		plan, err = found[0].Read("", now())
	} else if known {
		plan, err = Read(form, files, l.file, "", now())
	} else {
		plan, err = blueprint.Parse(l.file, text, now())
	}
	if err != nil {
		tb.Fatalf("%s: %v", l.form, err)
	}
	if len(found) > 0 && found[0].Format.Name != l.form && l.file != "hard.md" {
		tb.Errorf("%s: found %s", l.form, found[0].Format.Name)
	}
	few := *plan
	grouping.ByHeading(&few)
	n := 0
	for i := range plan.Epic.Tasks {
		n += 1 + len(plan.Epic.Tasks[i].Criteria)
	}
	return n
}

// BenchmarkLarge reads the largest plans.
func BenchmarkLarge(b *testing.B) {
	for i, l := range larges() {
		b.Run(l.form+strconv.Itoa(i), func(b *testing.B) {
			text := l.text(MaxSize - 1000)
			b.SetBytes(MaxSize)
			for b.Loop() {
				if n, least := l.read(b, text), strings.Count(string(text), "\n")/4; strings.Contains(l.each, "\n") && n < least {
					b.Errorf("it has %d tasks and criteria, and %d lines", n, 4*least)
				}
			}
		})
	}
}

// TestLinear wants four times the time, and not sixteen, for a text of four times the size.
//
//nolint:paralleltest // it measures
func TestLinear(t *testing.T) {
	slowtest.Skip(t)
	for _, l := range larges() {
		took := func(size int) time.Duration {
			text := l.text(size)
			var all []time.Duration
			for range 2 {
				begin := processorTime(t)
				l.read(t, text)
				all = append(all, processorTime(t)-begin)
			}
			return slices.Min(all)
		}
		small, most := took(1<<17), took(1<<19)
		t.Logf("%s of %q: %v, %v", l.form, l.each, small, most)
		if most > 9*small {
			t.Errorf("%s of %q: %v for 128 KiB, %v for 512 KiB", l.form, l.each, small, most)
		}
	}
}

// processorTime is what this process has used, which a busy machine does not change much.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"plan.md": {Data: []byte(strings.Repeat(" \n", MaxSize/2+1))}}
	form, _ := Named("checklist")
	_, err := Read(form, files, "plan.md", "", now())
	if want := "plan.md is larger than 10 MiB"; err == nil || err.Error() != want || len(Find(files, "plan.md")) > 0 {
		t.Errorf("%v, want %s", err, want)
	}
}
