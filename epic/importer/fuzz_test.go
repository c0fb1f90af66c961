package importer

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"relay/epic"
	"relay/epic/slowtest"
)

func FuzzSpeckit(f *testing.F)    { fuzzForm(f, "speckit") }
func FuzzOpenspec(f *testing.F)   { fuzzForm(f, "openspec") }
func FuzzKiro(f *testing.F)       { fuzzForm(f, "kiro") }
func FuzzTaskmaster(f *testing.F) { fuzzForm(f, "taskmaster") }
func FuzzRalph(f *testing.F)      { fuzzForm(f, "ralph") }
func FuzzBeads(f *testing.F)      { fuzzForm(f, "beads") }
func FuzzBmad(f *testing.F)       { fuzzForm(f, "bmad") }
func FuzzGsd(f *testing.F)        { fuzzForm(f, "gsd") }
func FuzzPlanmode(f *testing.F)   { fuzzForm(f, "planmode") }
func FuzzChecklist(f *testing.F)  { fuzzForm(f, "checklist") }

// FuzzIssues reads what gh says of an issue.
func FuzzIssues(f *testing.F) {
	f.Add("Title", "- [ ] a\n  - [x] b\n", "priority/high", 2, 3)
	f.Fuzz(func(t *testing.T, title, body, label string, part, blocker int) {
		plan, err := FromIssues([]Issue{
			{Number: 1, Title: title, Body: body, Labels: []Label{{label}}, Subissues: []int{part}},
			{Number: 2, Title: body, Body: title, BlockedBy: []Issue{{Number: blocker, State: label}}},
			{Number: part, Title: label, URL: title},
		}, title, now())
		if err == nil {
			wellMade(t, plan)
		}
	})
}

// fuzzForm wants of any text either an epic that can be written and read again and has no check that the text does not call one, or an
// error that says where.
func fuzzForm(f *testing.F, name string) {
	f.Helper()
	form, _ := Named(name)
	for _, seed := range seedsOf(f) {
		f.Add(seed, seed)
	}
	file := "plan.md"
	if len(form.Files) > 0 {
		file = strings.ReplaceAll(path.Base(form.Files[0]), "*", "a")
	}
	f.Fuzz(func(t *testing.T, data, beside []byte) {
		files := fstest.MapFS{file: {Data: data}}
		for _, other := range []string{"spec.md", "requirements.md", "proposal.md", "design.md", "epics.md", "1-1-a.md", "phases/01-a/01-01-PLAN.md", "specs/a/spec.md"} {
			files[other] = &fstest.MapFile{Data: beside}
		}
		for range Find(files, ".") {
			continue
		}
		plan, err := Read(form, files, file, "", now())
		if err != nil {
			return
		}
		if len(plan.Epic.Checks) > 0 && name != "ralph" {
			t.Errorf("the epic has checks: %v", plan.Epic.Checks)
		}
		wellMade(t, plan)
		ticked(t, form, files, file, plan)
	})
}

// wellMade wants an epic that can be written and read again, and in which no task has a check.
func wellMade(t *testing.T, plan *Plan) {
	t.Helper()
	for _, task := range plan.Epic.Tasks {
		if len(task.Checks) > 0 {
			t.Errorf("task %s has checks", task.ID)
		}
	}
	written, err := plan.Epic.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := epic.Read("epic.yml", written); err != nil {
		t.Errorf("%v\n%s", err, written)
	}
}

// ticked wants no other line of a plan to change than those of tasks that are ticked, and only what says that they are done.
func ticked(t *testing.T, form Format, files fstest.MapFS, file string, plan *Plan) {
	t.Helper()
	got, err := Tick(form, files, file, "", placesOf(plan.Epic))
	if err != nil {
		t.Fatal(err)
	}
	before, after := strings.Split(string(files[file].Data), "\n"), strings.Split(string(got.Data), "\n")
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	changed := 0
	for i, line := range before {
		if line != after[i] && strings.Replace(line, "[ ]", "[x]", 1) != after[i] { // boxes of criteria are ticked as well
			changed++
		}
	}
	if changed > len(got.Done) {
		t.Errorf("%d lines changed for %d tasks", changed, len(got.Done))
	}
	if len(got.Done) == 0 {
		return
	}
	files = maps.Clone(files)
	files[file] = &fstest.MapFile{Data: got.Data}
	left := 0
	if again, err := Read(form, files, file, "", now()); err == nil {
		left = len(again.Epic.Tasks)
	}
	if want := len(plan.Epic.Tasks) - len(got.Done); left > want {
		t.Errorf("%d tasks are left, want %d", left, want)
	}
}

// seedsOf returns the files of all plans that tests have.
func seedsOf(tb testing.TB) (seeds [][]byte) {
	tb.Helper()
	names, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range a.Files {
			seeds = append(seeds, file.Data)
		}
	}
	err = filepath.WalkDir("testdata/shapes", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "key" {
			return err
		}
		data, err := os.ReadFile(filepath.Clean(name))
		seeds = append(seeds, data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return seeds
}

// TestLargeFiles reads plans with tens of thousands of tasks, and has one of 10 MB refused.
func TestLargeFiles(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const large = 1 << 20 // a quarter of what may be read, so that a busy machine has the time
	for _, c := range []struct{ form, file, begin, each, end string }{
		{"speckit", "tasks.md", "# Tasks: a\n## Phase 1: b\n- [ ] T999 b\nwhat is said\n", "- [ ] T%d a task (depends on T999)\n", ""},
		{"openspec", "tasks.md", "## 1. a\nwhat is said\n", "- [ ] 1.%d a task\n  - a part of it\n", ""},
		{"kiro", "tasks.md", "# a\n- [ ] 1. all\n  - what is said\n", "- [ ] 1.%d a task\n  - _Requirements: 1.1_\n", ""},
		{"taskmaster", "tasks.json", `{"tasks": [{"id": 1, "title": "a", "subtasks": [{"id": 1, "title": "b"}]}`, ",\n{\"id\": %d, \"title\": \"a\", \"dependencies\": [1]}", "]}"},
		{"ralph", "prd.json", `{"userStories": [{"id": "a", "title": "a"}`, ",\n{\"id\": \"%d\", \"title\": \"a\", \"extra\": 1}", "]}"},
		{"beads", "issues.jsonl", `{"id":"e","title":"e","issue_type":"epic","description":"what is said"}` + "\n", `{"id":"%d","title":"a","dependencies":[{"depends_on_id":"e","type":"parent-child"}]}` + "\n", ""},
		{"bmad", "sprint-status.yaml", "project: a\ndevelopment_status:\n", "  1-%d-a-story: backlog\n", ""},
		{"gsd", "ROADMAP.md", "# a\n- [ ] **Phase 1: b** - c\n### Phase 1: b\nwhat is said\n", "- [ ] 01-%d: a plan\n", ""},
		{"planmode", "plan.md", "# a\n## Steps\n", "### Step 9: a\nwhat is said in %d words\n", ""},
		{"checklist", "plan.md", "# a\nwhat is said\n", "- [ ] a box %d\n  - [ ] a part\n", ""},
		{"checklist", "parts.md", "# a\n", "### Phase %d: a\n- [ ] a box in `a.go`\n", ""},
		{"bmad", "epics.md", "# a\n", "### Story 1.%d: a\n**Prerequisites:** Story 1.1000\n", ""},
	} {
		form, _ := Named(c.form)
		var b strings.Builder
		b.WriteString(c.begin)
		for n := 1000; b.Len() < large; n++ {
			b.WriteString(strings.Replace(c.each, "%d", strconv.Itoa(n), 1))
		}
		b.WriteString(c.end)
		files := fstest.MapFS{c.file: {Data: []byte(b.String())}}
		begin := time.Now()
		found := Find(files, c.file)
		plan, err := Read(form, files, c.file, "", now())
		if err != nil {
			t.Errorf("%s: %v", c.form, err)
			continue
		}
		few := *plan
		ByHeading(&few)
		took := time.Since(begin)
		if took > time.Minute {
			t.Errorf("%s: it took %v", c.form, took)
		}
		t.Logf("%s: %d tasks of %d bytes in %v", c.form, len(plan.Epic.Tasks), b.Len(), took.Round(10*time.Millisecond))
		if len(found) > 0 && found[0].Format.Name != c.form {
			t.Errorf("%s: found %s", c.form, found[0].Format.Name)
		}
		files[c.file] = &fstest.MapFile{Data: slices.Concat(files[c.file].Data, []byte(strings.Repeat(" \n", 5<<20)))}
		begin = time.Now()
		_, err = Read(form, files, c.file, "", now())
		if want := c.file + " is larger than 4 MiB"; err == nil || err.Error() != want || len(Find(files, c.file)) > 0 {
			t.Errorf("%s: %v, want %s", c.form, err, want)
		}
		t.Logf("%s: 10 MB refused in %v", c.form, time.Since(begin).Round(time.Millisecond))
	}
}
