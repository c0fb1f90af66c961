package importer

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"relay/epic"
)

var update = flag.Bool("update", false, "write what is wanted")

func now() time.Time { return time.Date(2026, 1, 11, 0, 0, 0, 0, time.UTC) }

// archived returns the files of a test, without what is wanted.
func archived(t *testing.T, name string) (*txtar.Archive, fstest.MapFS) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range a.Files {
		if f.Name != "want" {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return a, files
}

// TestPlans reads a plan of each form. What is wanted was written by hand, or read with care.
func TestPlans(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, files := archived(t, name)
			var got strings.Builder
			seen := map[string]bool{}
			for _, f := range a.Files {
				top, _, _ := strings.Cut(f.Name, "/")
				if f.Name == "want" || seen[top] {
					continue
				}
				seen[top] = true
				show(&got, files, top)
			}
			compare(t, a, name, got.String())
		})
	}
}

func compare(t *testing.T, a *txtar.Archive, name, got string) {
	t.Helper()
	last := &a.Files[len(a.Files)-1]
	if *update {
		if last.Name != "want" {
			a.Files = append(a.Files, txtar.File{Name: "want"})
			last = &a.Files[len(a.Files)-1]
		}
		last.Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if last.Name != "want" || string(last.Data) != got {
		t.Errorf("got\n%s\nwant\n%s", got, last.Data)
	}
}

// show prints what is made of the plans in a folder or file.
func show(b *strings.Builder, files fs.FS, name string) {
	for _, found := range Find(files, name) {
		fmt.Fprintf(b, "%s: %s\n", found.File, found.Format.Name)
		plan, err := Read(found.Format, files, found.File, "", now())
		if err != nil {
			fmt.Fprintf(b, "%v\n\n", err)
			continue
		}
		e := plan.Epic
		fmt.Fprintf(b, "%s: %s, %d done\n%s\n", e.ID, e.Title, plan.Done, indented(e.Description))
		for _, c := range e.Checks {
			fmt.Fprintf(b, "check: %s\n", c.Run)
		}
		g, err := epic.NewGraph(e)
		if err != nil {
			fmt.Fprintf(b, "%v\n", err)
			continue
		}
		for i, task := range e.Tasks {
			var on []string
			for _, d := range g.Deps(i) {
				on = append(on, g.ID(d))
			}
			fmt.Fprintf(b, "%s: %s [p%d %s %g] after %s; %s\n%s", task.ID, task.Title, task.Priority, task.Kind, task.Points,
				strings.Join(on, " "), task.Source, indented(task.Description))
			for _, c := range task.Criteria {
				fmt.Fprintf(b, "  - %s\n", c.Text)
			}
			if len(task.Checks) > 0 {
				fmt.Fprintf(b, "  checks: %v\n", task.Checks)
			}
		}
		for _, o := range plan.Offered {
			fmt.Fprintf(b, "offered: %s:%d: %s\n", o.File, o.Line, o.Run)
		}
		for _, l := range plan.Told {
			fmt.Fprintf(b, "told: %s\n", l)
		}
		b.WriteString("\n")
	}
}

func indented(text string) string {
	if text == "" {
		return ""
	}
	return "  | " + strings.ReplaceAll(text, "\n", "\n  | ") + "\n"
}

// What is ticked is done when the plan is read again, and nothing else has changed.
func TestTick(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	ticked, untickable := 0, []string(nil)
	for _, name := range names {
		_, files := archived(t, name)
		for file := range files {
			for _, found := range Find(files, file) {
				before, err := Read(found.Format, files, file, "", now())
				if err != nil {
					continue
				}
				ids := placesOf(before.Epic)
				first, err := Tick(found.Format, files, file, "", append([]Place{{ID: "nothing"}}, ids[0]))
				if err != nil || len(first.Told) == 0 || first.Told[0].Why != "relay finds no nothing in it" {
					t.Errorf("%s: %+v, %v", file, first.Told, err)
				}
				all, err := Tick(found.Format, files, file, "", ids)
				if err != nil {
					t.Fatal(err)
				}
				for _, told := range all.Told {
					if found.Format.Name == "planmode" {
						continue // its steps have no boxes
					}
					untickable = append(untickable, told.Why)
				}
				again := maps.Clone(files)
				again[file] = &fstest.MapFile{Data: all.Data}
				after, err := Read(found.Format, again, file, "", now())
				left := 0
				if err == nil {
					left = len(after.Epic.Tasks)
				}
				if want := len(before.Epic.Tasks) - len(all.Done); left != want {
					t.Errorf("%s: %d tasks are left, want %d: %v", file, left, want, err)
				}
				ticked += len(all.Done)
			}
		}
	}
	slices.Sort(untickable)
	if want := []string{"2.1 has nothing that could say that it is done", "B has nothing that could say that it is done", "First has nothing that could say that it is done", "bd-1 has nothing that could say that it is done"}; !slices.Equal(untickable, want) {
		t.Errorf("told %q, want %q", untickable, want)
	}
	if ticked < 25 {
		t.Errorf("%d tasks were ticked", ticked)
	}
}

// In a plan that has been numbered anew the box of the task itself is ticked, and not the one that has its id by now.
func TestTickRenumbered(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"tasks.md": {Data: []byte("# Tasks: Shop\n\n## Phase 1: Shop\n- [ ] T001 Log in\n- [ ] T002 Write tests\n- [ ] T003 Ship\n- [ ] T004 Ship\n")}}
	got, err := Tick(Formats()[0], files, "tasks.md", "", []Place{
		{"T001", "Write tests", 4}, {"T002", "Draw a logo", 5}, {"T004", "Ship", 7}, {"T009", "Send mail", 9}, {"T008", "Ship", 8}, {"7", "Ship", 6},
	})
	want := "# Tasks: Shop\n\n## Phase 1: Shop\n- [ ] T001 Log in\n- [x] T002 Write tests\n- [x] T003 Ship\n- [x] T004 Ship\n"
	if err != nil || string(got.Data) != want {
		t.Errorf("%v\n%s", err, got.Data)
	}
	var told []string
	for _, left := range got.Told {
		told = append(told, left.Why)
	}
	if want := []string{"T002 is another task by now: Write tests", "relay finds no T009 in it", "relay finds no T008 in it"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// placesOf returns where the tasks of an epic stand in their plan.
func placesOf(e *epic.Epic) (list []Place) {
	for i := range e.Tasks {
		place, id := sourceOf(&e.Tasks[i])
		line, _ := strconv.Atoi(place[strings.LastIndex(place, ":")+1:])
		list = append(list, Place{id, e.Tasks[i].Title, line})
	}
	return list
}

// A blueprint is no plan of another tool, and a folder without a plan holds none.
func TestNothingIsFound(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"plan.md":         {Data: []byte("# Plan\n\n## Tasks\n\n- [ ] write it\n- [ ] T1: test it\n")},
		"docs/tasks.json": {Data: []byte(`{"tasks": {"a": 1}}`)},
		"docs/other.json": {Data: []byte(`[1, 2`)},
		"tasks.md":        {Mode: fs.ModeDir | 0o700},
	}
	for _, name := range []string{".", "plan.md", "docs", "docs/tasks.json", "docs/other.json", "tasks.md", "nothing", "../up"} {
		if found := Find(files, name); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// What is too large, deep or no text fails with a word about it.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, data, want string }{
		"large":  {"prd.json", `{"userStories": [` + strings.Repeat(" ", MaxSize) + `]}`, "larger than 10 MiB"},
		"deep":   {"prd.json", `{"userStories": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "values stand more than 100 deep in one another"},
		"binary": {"tasks.md", "- [ ] T001 a\x00b\n", "is not text"},
		"cut":    {"prd.json", "{\n\"userStories\": [{\"id\": \"A\"", "prd.json:2:1: unexpected EOF"},
		"more":   {"prd.json", "{\"userStories\": []}\n{}", "something follows the value"},
		"none":   {"prd.json", `{"userStories": []}`, "no task was found in it"},
		"folder": {"prd.json/x", "", "prd.json is not a file"},
		"steps":  {"plan.md", "# A\n\n1. one\n", "no task was found in it"},
		"other":  {"tasks.json", `{"name": "x"}`, "no task was found in it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form := "ralph"
			switch c.file {
			case "tasks.md":
				form = "speckit"
			case "plan.md":
				form = "planmode"
			case "tasks.json":
				form = "taskmaster"
			}
			f, _ := Named(form)
			name, _, _ := strings.Cut(c.file, "/")
			_, err := Read(f, fstest.MapFS{c.file: {Data: []byte(c.data)}}, name, "", now())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A plan whose tasks wait for more than can be kept is refused, and not read for hours.
func TestTooManyEdges(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"tasks": [{"id": "1", "title": "a", "subtasks": [{"id": 1, "title": "b"}`)
	for i := range 2000 {
		fmt.Fprintf(&b, `, {"id": %d, "title": "b"}`, i+2)
	}
	b.WriteString("]}")
	for i := range 600 {
		fmt.Fprintf(&b, `, {"id": "x%d", "title": "c", "dependencies": ["1"]}`, i)
	}
	b.WriteString("]}")
	_, err := Read(Formats()[3], fstest.MapFS{"tasks.json": {Data: []byte(b.String())}}, "tasks.json", "", now())
	if want := "tasks.json:1:1: its tasks wait for more than 1000000 others"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The description leaves out front matter, and steps may have dotted numbers without a mark behind them.
func TestSteps(t *testing.T) {
	t.Parallel()
	text := "---\ndescription: A plan\n---\n\n# Plan: Accounts\n\nWhy.\n\n## Base\n\n### 1.1 Log in\n\n### 1.2 Log out\n"
	form, _ := Named("planmode")
	plan, err := Read(form, fstest.MapFS{"plan.md": {Data: []byte(text)}}, "plan.md", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	got := plan.Epic.Description
	for _, task := range plan.Epic.Tasks {
		got += "|" + task.ID + " " + task.Title
	}
	if want := "Why.|T1-1 Log in|T1-2 Log out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A checklist in sections: what is done before a release comes before all, and what is done after it after all; rounds of what was done are
// not its steps; boxes that the names of their sections make no tasks are told.
func TestChecklists(t *testing.T) {
	t.Parallel()
	form, _ := Named("checklist")
	for text, want := range map[string]string{
		"# Upgrade\n\n## Pre-Upgrade\n- [ ] Back up\n\n## Code\n- [ ] Port\n\n## Post-upgrade\n- [ ] Look\n":                   "Back up, Port < Pre-Upgrade, Look < Code Pre-Upgrade",
		"# Go\n\n- [ ] Begin\n\n## Post-release\n- [ ] Tell\n\n## Pre-merge hook\n- [ ] Hook\n\n## Code\n- [ ] Port\n":         "Begin, Tell, Hook, Port",
		"# Go\n\n- [ ] One\n\n## Success criteria\n- [ ] It runs\n- [ ] It ends\n":                                             "One",
		"# Blog\n\n## Post editor\n- [ ] Edit\n\n## Preview\n- [ ] Show\n":                                                     "Edit, Show",
		"# Queue\n\n## Done\n\n### Round 1\n- [x] Fix\n\n### Round 2\n- [x] Build\n\n## Next\n- [ ] Sign\n":                    "Sign",
		"# Upgrade\n\n- [ ] spdlog\n\n## Steps\n\n**Testing Checklist:**\n\n- [ ] It compiles\n- [ ] It runs\n\n## After it\n": "spdlog; 9: 2 boxes from here on are not tasks, for the names of their sections",
	} {
		files := fstest.MapFS{"TODO.md": {Data: []byte(text)}}
		plan, err := Read(form, files, "TODO.md", "", time.Time{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var tasks []string
		for _, task := range plan.Epic.Tasks {
			for _, g := range plan.Epic.Groups {
				if slices.Contains(g.Tasks, task.ID) && len(g.BlockedBy) > 0 {
					task.Title += " < " + strings.Join(g.BlockedBy, " ")
				}
			}
			tasks = append(tasks, task.Title)
		}
		got := strings.Join(tasks, ", ")
		for _, told := range plan.Told {
			if !told.Beside {
				got += fmt.Sprintf("; %d: %s", told.Line, told.Why)
			}
		}
		if found := Find(files, "TODO.md"); got != want || len(found) == 0 || found[0].Format.Name != "checklist" {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
