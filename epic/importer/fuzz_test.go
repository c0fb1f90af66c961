package importer

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"relay/epic"
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
		if len(plan.Epic.Checks) > 0 && name != "ralph" && name != "taskmaster" {
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
