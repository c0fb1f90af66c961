package importer

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"relay/epic"
	"relay/epic/importer/internal/placed"
	"relay/epic/plaintext"
)

// further is a folder of plans with keys that are held against what is made of them as well: one folder for each, as in testdata/shapes.
var further = flag.String("plans", "", "a folder with further plans and their keys")

// key is what a person finds in a plan that is read with care. Its lines:
//
//	form NAME              the form of the plan
//	plan FILE              where it is found, by the name of its folder
//	title TEXT             of the epic
//	done N                 tasks that stay out because they are done
//	task ID after A B..D | TITLE    with _ for a space in ids
//	check COMMAND          that the plan itself calls a check
//	told FILE:LINE TEXT    a line that is named, with a part of what is said of it
//	out FILE:A-B           lines that belong to what is done or left out
//	reads FILE             a file beside it that is read whole
//
// A..D are all tasks from A to D, in the order of the key.
type key struct {
	form, plan, title string
	done              int
	tasks             []keyTask
	checks            []string
	told              []string
	out               map[string]bool // FILE:LINE
	reads             []string
}

type keyTask struct {
	id, title string
	after     []string
}

// readKey reads the key of a folder.
func readKey(t *testing.T, name string) *key {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	k := &key{out: map[string]bool{}}
	for text := range strings.Lines(string(data)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		switch word {
		case "", "#":
		case "form":
			k.form = rest
		case "plan":
			k.plan = rest
			k.reads = append(k.reads, rest)
		case "title":
			k.title = rest
		case "done":
			k.done, err = strconv.Atoi(rest)
		case "task":
			k.task(rest)
		case "check":
			k.checks = append(k.checks, rest)
		case "told":
			k.told = append(k.told, rest)
		case "out":
			err = k.leftOut(rest)
		case "reads":
			k.reads = append(k.reads, rest)
		default:
			t.Fatalf("%s: %s", name, text)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", name, text, err)
		}
	}
	return k
}

func (k *key) task(text string) {
	head, title, _ := strings.Cut(text, " | ")
	id, after, _ := strings.Cut(head, " after ")
	id = spaced(id)
	task := keyTask{id: id, title: title}
	for name := range strings.FieldsSeq(after) {
		first, last, many := strings.Cut(spaced(name), "..")
		inside := false
		for _, other := range k.tasks {
			inside = inside || other.id == first
			if many && inside {
				task.after = append(task.after, other.id)
			}
			inside = inside && other.id != last
		}
		if !many {
			task.after = append(task.after, first)
		}
	}
	k.tasks = append(k.tasks, task)
}

func spaced(id string) string { return strings.ReplaceAll(id, "_", " ") }

func (k *key) leftOut(text string) error {
	file, lines, _ := strings.Cut(text, ":")
	first, last, many := strings.Cut(lines, "-")
	if !many {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	to, err := strconv.Atoi(last)
	for n := from; n <= to; n++ {
		k.out[fmt.Sprintf("%s:%d", file, n)] = true
	}
	return err
}

// TestShapes holds what is made of plans, in the shapes in which they are found in public repositories, against keys that a person has
// written: tasks, order and titles are equal, no check is made up, and each line is carried over or named.
func TestShapes(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/shapes/*/key")
	if *further != "" {
		more, _ := filepath.Glob(filepath.Join(*further, "*", "key"))
		folders = append(folders, more...)
	}
	if err != nil || len(folders) < 20 {
		t.Fatal(len(folders), err)
	}
	forms := map[string]int{}
	for _, name := range folders {
		k := readKey(t, name)
		forms[k.form]++
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			k.compare(t, os.DirFS(filepath.Dir(name)))
		})
	}
	for _, f := range Formats() {
		if forms[f.Name] < 2 {
			t.Errorf("there are %d plans of %s", forms[f.Name], f.Name)
		}
	}
}

func (k *key) compare(t *testing.T, files fs.FS) {
	t.Helper()
	found := Find(files, k.plan)
	if len(found) != 1 || found[0].Format.Name != k.form || found[0].File != k.plan {
		t.Fatalf("found %+v", found)
	}
	plan, err := Read(found[0].Format, files, k.plan, "", now())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Epic.Title != k.title || plan.Done != k.done {
		t.Errorf("the title is %q and %d are done; want %q and %d", plan.Epic.Title, plan.Done, k.title, k.done)
	}
	var checks []string
	for _, c := range plan.Epic.Checks {
		checks = append(checks, c.Run)
	}
	for _, task := range plan.Epic.Tasks {
		for _, c := range task.Checks {
			checks = append(checks, task.ID+": "+c.Run)
		}
	}
	if !slices.Equal(checks, k.checks) {
		t.Errorf("the checks are %q, want %q", checks, k.checks)
	}
	k.compareTasks(t, plan.Epic)
	k.compareTold(t, plan.Told)
	k.nothingLost(t, files, plan)
	copied := fstest.MapFS{}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		copied[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ticked(t, found[0].Format, copied, k.plan, plan)
	t.Logf("%s: %d tasks, %d edges, %d done, %d lines told", k.form, len(plan.Epic.Tasks), k.edges(), plan.Done, len(plan.Told))
}

func (k *key) edges() (n int) {
	for _, task := range k.tasks {
		n += len(task.after)
	}
	return n
}

// sourceOf returns the line and the id that a task has in its plan.
func sourceOf(task *epic.Task) (place, id string) {
	place, id, _ = strings.Cut(strings.TrimSuffix(task.Source, ")"), " (")
	return place, id
}

func (k *key) compareTasks(t *testing.T, e *epic.Epic) {
	t.Helper()
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i := range e.Tasks {
		var on []string
		for _, d := range g.Deps(i) {
			_, id := sourceOf(&e.Tasks[d])
			on = append(on, id)
		}
		slices.Sort(on)
		_, id := sourceOf(&e.Tasks[i])
		got = append(got, fmt.Sprintf("%s after %s | %s", id, strings.Join(on, " "), e.Tasks[i].Title))
	}
	for _, task := range k.tasks {
		slices.Sort(task.after)
		want = append(want, fmt.Sprintf("%s after %s | %s", task.id, strings.Join(slices.Compact(task.after), " "), task.title))
	}
	slices.Sort(got)
	slices.Sort(want)
	for _, text := range got {
		if !slices.Contains(want, text) {
			t.Errorf("there is  %s", text)
		}
	}
	for _, text := range want {
		if !slices.Contains(got, text) {
			t.Errorf("there is no %s", text)
		}
	}
}

func (k *key) compareTold(t *testing.T, told []Told) {
	t.Helper()
	missing := slices.Clone(k.told)
	for _, l := range told {
		at := slices.IndexFunc(missing, func(want string) bool {
			place, part, _ := strings.Cut(want, " ")
			return strings.HasPrefix(l.String(), place+": ") && strings.Contains(l.Why, part)
		})
		if at < 0 {
			t.Errorf("told: %s", l)
			continue
		}
		missing = slices.Delete(missing, at, at+1)
	}
	for _, want := range missing {
		t.Errorf("not told: %s", want)
	}
}

// written is all that agents are told of an epic, without what is no letter and no digit.
func written(e *epic.Epic) string {
	var b strings.Builder
	b.WriteString(e.Title + " " + e.Description)
	for _, g := range e.Groups {
		b.WriteString(" " + g.Name)
	}
	for _, task := range e.Tasks {
		b.WriteString(" " + task.Title + " " + task.Description + " " + task.Source)
		for _, c := range task.Criteria {
			b.WriteString(" " + c.Text)
		}
	}
	for _, c := range e.Checks {
		b.WriteString(" " + c.Run)
	}
	return letters(b.String())
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

var (
	listMark = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	wants    = regexp.MustCompile(`^_?Requirements?:\s*([\d., ]+)_?$`)
	// What the fields of a phase of GSD say is the order of the phases.
	ofPhase = regexp.MustCompile(`^\*\*(?:Depends on|Success Criteria|Plans)(?::\*\*|\*\*)`)
	// What all such files have, and project, which is the title.
	rootField = regexp.MustCompile(`(?m)^([a-z_]+):(?: .*)?$`)
)

// texts are what agents are told, and what is said of fields that they are not told.
type texts struct{ all, fields string }

// nothingLost wants each line of what has been read to be in the epic or to be told, unless it belongs to what is done.
func (k *key) nothingLost(t *testing.T, files fs.FS, plan *Plan) {
	t.Helper()
	w := texts{all: written(plan.Epic)}
	named := map[string]bool{}
	for _, l := range plan.Told {
		named[fmt.Sprintf("%s:%d", l.File, l.Line)] = true
		w.fields += " " + l.Why + " "
	}
	for i := range plan.Epic.Tasks {
		place, _ := sourceOf(&plan.Epic.Tasks[i])
		named[place] = true
	}
	for _, name := range k.reads {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if path.Ext(name) != ".md" {
			k.fieldsKept(t, name, data, w)
			continue
		}
		n := 0
		for text := range strings.Lines(string(data)) {
			n++
			if place := fmt.Sprintf("%s:%d", name, n); !named[place] && !k.out[place] {
				k.markdownKept(t, place, text, w.all)
			}
		}
	}
}

func (k *key) markdownKept(t *testing.T, place, text, all string) {
	t.Helper()
	text = listMark.ReplaceAllString(strings.TrimSpace(text), "")
	if ofPhase.MatchString(text) {
		return
	}
	if m := wants.FindStringSubmatch(text); m != nil {
		for number := range strings.SplitSeq(m[1], ",") {
			if !strings.Contains(all, letters(number)) {
				t.Errorf("%s: requirement %s is lost", place, number)
			}
		}
		return
	}
	if !strings.Contains(all, letters(text)) {
		t.Errorf("%s is lost: %s", place, text)
	}
}

// fieldsKept looks for the texts of JSON, and for the names of fields in YAML. Words that say a state, and ids, say nothing more.
func (k *key) fieldsKept(t *testing.T, name string, data []byte, w texts) {
	t.Helper()
	n := 0
	switch path.Ext(name) {
	case ".json":
		root, err := placed.Parse(data, 1)
		if err != nil {
			t.Fatal(err)
		}
		k.fieldKept(t, name, "", root, w)
	case ".jsonl":
		for text := range bytes.Lines(data) {
			n++
			object, err := placed.Parse(text, n)
			if err != nil {
				t.Fatal(err)
			}
			k.fieldKept(t, name, "", object, w)
		}
	default:
		for _, m := range rootField.FindAllStringSubmatch(string(data), -1) {
			if !slices.Contains([]string{"project", "development_status"}, m[1]) && !strings.Contains(w.fields, " "+m[1]+" ") && !strings.Contains(w.fields, " "+m[1]+",") {
				t.Errorf("%s: %s is lost", name, m[1])
			}
		}
	}
}

func (k *key) fieldKept(t *testing.T, file, name string, n *placed.Node, w texts) {
	t.Helper()
	state := slices.Contains([]string{"status", "priority", "issue_type", "type", "id", "issue_id", "depends_on_id"}, name)
	named := name != "" && (strings.Contains(w.fields, " "+name+" ") || strings.Contains(w.fields, " "+name+","))
	if state || named || k.out[fmt.Sprintf("%s:%d", file, n.Line)] {
		return
	}
	if n.Kind == placed.String {
		for line := range strings.Lines(plaintext.Clean(n.Text)) {
			if !strings.Contains(w.all, letters(line)) {
				t.Errorf("%s:%d is lost: %s: %s", file, n.Line, name, line)
			}
		}
	}
	for i, v := range n.Values {
		inner := name
		if n.Kind == placed.Object {
			inner = n.Keys[i]
		}
		k.fieldKept(t, file, inner, v, w)
	}
}
