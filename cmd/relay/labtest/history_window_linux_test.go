package labtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/claudetest"
)

// historyCheck accepts every task.
const historyCheck = "go build ./... && go test ./..."

// historyTask is one commit as a task.
type historyTask struct {
	ID, Title      string
	Before, Commit string   // its change is the difference of these commits
	Files          []string // that it changes
	Needs          []string // ids of earlier tasks that it builds on

	needed  []string // as Needs, in plans that do not tell
	seconds float64  // of its check, alone
}

// historyPlan is what the agent of a history night knows.
type historyPlan struct {
	Source, Check string
	Idle          bool    // agents change nothing, and claim success
	Seconds       float64 // that an agent works beside the checks
	Tasks         []historyTask
}

// historyWindow is a row of consecutive commits of a repository.
type historyWindow struct {
	name   string
	source string // a bare repository
	cache  string // a build cache with the modules' packages in it
	tasks  []historyTask
}

// windows returns the window that is asked for, or the committed ones.
func windows(t *testing.T) []*historyWindow {
	t.Helper()
	if *historyRepo != "" {
		return []*historyWindow{openWindow(t, *historyRepo, *historyRange, *historyTasks)}
	}
	bundles, err := filepath.Glob("testdata/history/*.bundle")
	claudetest.Must(err)
	list := make([]*historyWindow, len(bundles))
	for i, bundle := range bundles {
		list[i] = openWindow(t, bundle, "", strings.TrimSuffix(bundle, ".bundle")+".json")
	}
	return list
}

// openWindow reads a window of a repository or bundle. The tasks come from a file, and go there when it does not exist.
func openWindow(t *testing.T, repo, span, tasks string) *historyWindow {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Base(strings.TrimSuffix(strings.TrimSuffix(repo, "/repo"), ".bundle"))
	w := &historyWindow{name: name, source: filepath.Join(dir, "source"), cache: cmp.Or(*historyCache, filepath.Join(dir, "cache"))}
	repo, err := filepath.Abs(repo)
	claudetest.Must(err)
	gitIn(dir, "clone", "-q", "--mirror", repo, w.source)
	text, err := os.ReadFile(tasks)
	if err == nil {
		claudetest.Must(json.Unmarshal(text, &w.tasks))
		w.warm(t, w.tasks[0].Before)
		return w
	}
	w.find(t, span)
	if tasks != "" {
		text, err := json.MarshalIndent(w.tasks, "", " ")
		claudetest.Must(err)
		claudetest.Must(os.WriteFile(tasks, append(text, '\n'), 0o644))
	}
	return w
}

// fill puts the files of a commit into a folder, and returns it.
func (w *historyWindow) fill(dir, commit string) string {
	claudetest.Must(os.MkdirAll(dir, 0o755))
	cmd := exec.Command("tar", "-x", "-C", dir)
	cmd.Stdin = bytes.NewReader(gitIn(w.source, "archive", commit))
	claudetest.Must(cmd.Run())
	return dir
}

// goEnv is what Go needs in a home that is not the user's.
func goEnv(cache string) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOFLAGS").Output()
	claudetest.Must(err)
	modules, flags, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return []string{"GOCACHE=" + cache, "GOMODCACHE=" + modules, "GOFLAGS=" + flags, "GOTOOLCHAIN=local", "CGO_ENABLED=0"}
}

// passes runs the check in a folder.
func (w *historyWindow) passes(dir string) bool {
	cmd := exec.Command("sh", "-c", historyCheck)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), goEnv(w.cache)...)
	return cmd.Run() == nil
}

// warm fills the build cache with the first commit, so that no night pays for the packages of others.
func (w *historyWindow) warm(t *testing.T, commit string) {
	t.Helper()
	if !w.passes(w.fill(t.TempDir(), commit)) {
		t.Fatalf("%s: the check fails on %s, where the window begins", w.name, commit)
	}
}

// measure runs the check of each task alone, after that of the one before it.
func (w *historyWindow) measure(t *testing.T) {
	t.Helper()
	dir := w.fill(t.TempDir(), w.tasks[0].Before)
	for i := range w.tasks {
		claudetest.Must(applyAll(dir, fileChanges(w.source, w.tasks[i].Before, w.tasks[i].Commit)))
		started := time.Now()
		w.passes(dir)
		w.tasks[i].seconds = time.Since(started).Seconds()
	}
}

// find makes tasks of the commits of a span, FROM..TO, along first parents: those that change Go files and pass the
// check. The changes of all others belong to the next one.
func (w *historyWindow) find(t *testing.T, span string) {
	t.Helper()
	from, _, ok := strings.Cut(span, "..")
	if !ok {
		t.Fatalf("%q is not FROM..TO", span)
	}
	before := strings.TrimSpace(string(gitIn(w.source, "rev-parse", from+"^{commit}")))
	w.warm(t, before)
	for commit := range strings.FieldsSeq(string(gitIn(w.source, "rev-list", "--reverse", "--first-parent", span))) {
		parent := strings.TrimSpace(string(gitIn(w.source, "rev-parse", commit+"^")))
		list := fileChanges(w.source, before, commit)
		if !slices.ContainsFunc(fileChanges(w.source, parent, commit), fileChange.counts) || !w.passes(w.fill(t.TempDir(), commit)) {
			continue
		}
		title := strings.TrimSpace(string(gitIn(w.source, "show", "-s", "--format=%s", commit)))
		task := historyTask{ID: fmt.Sprintf("T%02d", len(w.tasks)+1), Title: title, Before: before, Commit: commit}
		for _, c := range list {
			task.Files = append(task.Files, c.path)
		}
		w.tasks, before = append(w.tasks, task), commit
		w.depend(t, len(w.tasks)-1)
	}
	if len(w.tasks) == 0 {
		t.Fatalf("%s has no commits that change Go files and pass", span)
	}
}

// counts reports whether the check of a Go module depends on the file.
func (c fileChange) counts() bool {
	return strings.HasSuffix(c.path, ".go") || strings.HasPrefix(c.path, "go.") || strings.Contains(c.path, "testdata/")
}

// depend finds what a task needs: the last earlier task at each of its files, and those without which it cannot be done.
func (w *historyWindow) depend(t *testing.T, i int) {
	t.Helper()
	needed := map[int]bool{}
	need := func(k int) {
		if !needed[k] {
			w.tasks[i].Needs = append(w.tasks[i].Needs, w.tasks[k].ID)
			w.closure(k, needed)
		}
	}
	for _, file := range w.tasks[i].Files {
		for k := i - 1; k >= 0; k-- {
			if slices.Contains(w.tasks[k].Files, file) {
				need(k)
				break
			}
		}
	}
	wanted := *historyTasks != "" || strings.Contains(*historyPlans, "good") // else the files are enough for what is printed
	for wanted && !w.buildable(t, i, needed, 0) {
		// The first n earlier tasks are enough, and fewer are not: the last of them is needed.
		n := sort.Search(i, func(n int) bool { return w.buildable(t, i, needed, n) })
		if n == 0 || needed[n-1] {
			t.Fatalf("%s cannot be done again: %s", w.tasks[i].ID, w.tasks[i].Title)
		}
		need(n - 1)
	}
}

// closure adds a task and all that it needs.
func (w *historyWindow) closure(k int, to map[int]bool) {
	to[k] = true
	for _, id := range w.tasks[k].Needs {
		w.closure(w.index(id), to)
	}
}

func (w *historyWindow) index(id string) int {
	return slices.IndexFunc(w.tasks, func(t historyTask) bool { return t.ID == id })
}

// buildable reports whether a task can be done after the tasks of a set and the first n.
func (w *historyWindow) buildable(t *testing.T, i int, after map[int]bool, n int) bool {
	t.Helper()
	dir := w.fill(t.TempDir(), w.tasks[0].Before)
	for k := range i + 1 {
		if k != i && k >= n && !after[k] {
			continue
		}
		if applyAll(dir, fileChanges(w.source, w.tasks[k].Before, w.tasks[k].Commit)) != nil {
			return false
		}
	}
	return w.passes(dir)
}

// planned returns the tasks in the order of a plan, numbered in it, with what it tells of them.
func (w *historyWindow) planned(plan string, dice *rand.Rand) []historyTask {
	order := dice.Perm(len(w.tasks))
	if plan != "shuffled" {
		slices.Sort(order)
	}
	ids := map[string]string{}
	tasks := make([]historyTask, len(order))
	for at, i := range order {
		tasks[at] = w.tasks[i]
		tasks[at].ID = fmt.Sprintf("T%02d", at+1)
		ids[w.tasks[i].ID] = tasks[at].ID
	}
	for at := range tasks {
		t := &tasks[at]
		for _, id := range t.Needs {
			t.needed = append(t.needed, ids[id])
		}
		if t.Needs = t.needed; plan != "good" {
			t.Needs = nil
		}
		if plan != "good" && plan != "files" {
			t.Files = nil
		}
	}
	return tasks
}

// historyEpic is a plan as relay reads it.
func historyEpic(tasks []historyTask) string {
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-lab\ntitle: A history\ntasks:\n")
	for _, t := range tasks {
		fmt.Fprintf(&b, "  %s:\n    title: %q\n    checks: ['%s']\n", t.ID, t.Title, historyCheck)
		if len(t.Needs) > 0 {
			fmt.Fprintf(&b, "    depends_on: [%s]\n", strings.Join(t.Needs, ", "))
		}
		if len(t.Files) > 0 {
			text, err := json.Marshal(t.Files) // a list in JSON is one in YAML
			claudetest.Must(err)
			fmt.Fprintf(&b, "    files: %s\n", text)
		}
	}
	return b.String()
}

// ownLines are the lines that only one commit of a window adds (true) or removes (false), by file.
type ownLines map[string]map[string]bool

// in reports whether all of them are so in a commit of a repository.
func (o ownLines) in(repo, commit string) bool {
	for path, lines := range o {
		have := linesAt(repo, commit, path)
		for line, there := range lines {
			if have[line] != there {
				return false
			}
		}
	}
	return true
}

// linesAt returns the lines of a file of a commit; none when there is no such file.
func linesAt(repo, commit, path string) map[string]bool {
	text, err := exec.Command("git", "-C", repo, "show", commit+":"+path).Output()
	if err != nil {
		return nil
	}
	return lineSet(text)
}

// lineSet returns the lines of a text that say something.
func lineSet(text []byte) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); len(line) > 2 {
			set[line] = true
		}
	}
	return set
}

// ownLines returns the own lines of each commit of the window, as the last commit has them.
func (w *historyWindow) ownLines() map[string]ownLines {
	touched := map[string]int{} // file and line: by how many commits
	changes := make([][]fileChange, len(w.tasks))
	for i, t := range w.tasks {
		changes[i] = fileChanges(w.source, t.Before, t.Commit)
		for _, c := range changes[i] {
			for line := range differing(c) {
				touched[c.path+"\x00"+line]++
			}
		}
	}
	last := w.tasks[len(w.tasks)-1].Commit
	own := map[string]ownLines{}
	for i, t := range w.tasks {
		own[t.Commit] = ownLines{}
		for _, c := range changes[i] {
			have, lines := linesAt(w.source, last, c.path), differing(c)
			maps.DeleteFunc(lines, func(line string, there bool) bool { return touched[c.path+"\x00"+line] > 1 || have[line] != there })
			own[t.Commit][c.path] = lines
		}
	}
	return own
}

// differing returns the lines that a change adds (true) or removes (false).
func differing(c fileChange) map[string]bool {
	before, after := lineSet(c.before), lineSet(c.after)
	lines := map[string]bool{}
	for line := range after {
		if !before[line] {
			lines[line] = true
		}
	}
	for line := range before {
		if !after[line] {
			lines[line] = false
		}
	}
	return lines
}
