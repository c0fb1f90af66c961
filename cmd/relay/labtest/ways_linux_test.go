package labtest

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var waysOnly = flag.String("ways", "", "ways whose names have this in them; all when it is empty")

// wrongProject is a small project with wrong code, the check that shows it, and the change that puts it right.
type wrongProject struct {
	Files        map[string]string
	Check, Right string
}

// way is one way to pass a check with wrong code, and the right change beside it. The scripts run in the project's folder.
type way struct {
	Name, Class, Project string

	Given        string   // changes the project before the run
	Files        []string // that the task declares
	Check        string   // "": the project's
	Wrong, Right string   // changes; honest.yml has no wrong ones, and an empty right one is the project's
	Want         string   // of the wrong change
	Looks        bool     // the right change alters tests that the task does not declare, and needs a look

	language string
	files    map[string]string // of the project
}

// What relay makes of a change.
const (
	wayCaught = "caught" // charged, gated, or not done
	wayLook   = "look"   // done, and needs a look
	wayMissed = "missed" // done
)

// TestWays has relay judge changes that pass their checks with wrong code, and the right changes. A wrong one must be refused or need a
// look, but for those of a class that only a reviewer can see; a right one must be completed, and need a look only if it alters tests.
func TestWays(t *testing.T) {
	t.Parallel()
	needsMore(t)
	list := readWays(t)
	wrong := slices.DeleteFunc(slices.Clone(list), func(w way) bool { return w.Wrong == "" })
	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		got := judgeWays(t, wrong, func(w *way) string { return w.Wrong })
		for _, w := range wrong {
			if got[w.Name] != w.Want {
				t.Errorf("%s (%s): a wrong change is %s, want %s", w.Name, w.Class, got[w.Name], w.Want)
			}
		}
		t.Log(tableOfWays(wrong, got))
	})
	t.Run("right", func(t *testing.T) {
		t.Parallel()
		got := judgeWays(t, list, func(w *way) string { return w.Right })
		for _, w := range list {
			want := wayMissed
			if w.Looks {
				want = wayLook
			}
			if got[w.Name] != want {
				t.Errorf("%s: a right change is %s, want %s", w.Name, got[w.Name], want)
			}
		}
	})
}

// readWays reads the ways in testdata/ways: one of eight, and with -full all, or those that -ways names.
func readWays(t *testing.T) (list []way) {
	t.Helper()
	names, err := filepath.Glob("testdata/ways/*.yml")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no ways", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Projects map[string]wrongProject
			Ways     []way
		}
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&read); err != nil {
			t.Fatal(name, err)
		}
		for i, w := range read.Ways {
			p := read.Projects[w.Project]
			w.language, w.files = strings.TrimSuffix(filepath.Base(name), ".yml"), p.Files
			w.Check, w.Right = cmp.Or(w.Check, p.Check), cmp.Or(w.Right, p.Right)
			if (*waysOnly == "" || slices.ContainsFunc(strings.Split(*waysOnly, ","), func(s string) bool { return strings.Contains(w.Name, s) })) && (*full || i%8 == 0) {
				list = append(list, w)
			}
		}
	}
	return list
}

// judgeWays has relay do a task for each way, with a change as its work, and returns what relay makes of each.
func judgeWays(t *testing.T, list []way, change func(w *way) string) map[string]string {
	t.Helper()
	var plan strings.Builder
	plan.WriteString("version: 2\nid: 20260101-lab\ntitle: Ways\ntasks:\n")
	for i := range list {
		w := &list[i]
		declared := make([]string, len(w.Files))
		for i, f := range w.Files {
			declared[i] = w.Name + "/" + f
		}
		fmt.Fprintf(&plan, "  %s: {title: Mend %[1]s, max_attempts: 1, files: [%s], checks: [{name: check, run: %q}]}\n",
			w.Name, quoted(declared), "cd "+w.Name+" && "+w.Check)
	}
	l := newLab(t, plan.String(), `cd "$RELAY_TASK" && sh -e "$HOME/acts/$RELAY_TASK" >&2 && ok || bad "it cannot be done"`)
	bin, err := filepath.Abs("testdata/ways/bin")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+bin+":"+os.Getenv("PATH"), "RELAY_ISOLATION=worktree", "RELAY_JOBS=2", "RELAY_MAX_FAILED_IN_A_ROW=0",
		"GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=", "GOTOOLCHAIN=local", "PYTHONDONTWRITEBYTECODE=1")
	for i := range list {
		w := &list[i]
		for name, text := range w.files {
			l.write(filepath.Join(w.Name, name), text)
		}
		given := exec.Command("sh", "-e", "-c", w.Given)
		given.Dir, given.Env = l.path(w.Name), l.env
		if said, err := given.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", w.Name, err, said)
		}
		l.write(l.inHome("acts/"+w.Name), change(w))
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Projects")
	r := l.begin(l.prepared(nil, "work"))
	<-r.done
	got := make(map[string]string)
	ledger := l.ledger()
	for _, w := range list {
		switch {
		case ledger.TaskStatus[w.Name] != "completed":
			got[w.Name] = wayCaught
			t.Logf("%s: %s", w.Name, l.last(w.Name).Receipt.ErrorSummary)
		case len(l.last(w.Name).Receipt.Looks) > 0:
			got[w.Name] = wayLook
		default:
			got[w.Name] = wayMissed
		}
	}
	if len(got) == 0 {
		t.Fatalf("nothing was judged\n%s", r.stderr.String())
	}
	return got
}

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	return b.String()
}

// tableOfWays counts verdicts by class and by language.
func tableOfWays(list []way, got map[string]string) string {
	var b strings.Builder
	for _, by := range []func(w *way) string{func(w *way) string { return w.Class }, func(w *way) string { return w.language }} {
		counts := make(map[string]map[string]int)
		for i := range list {
			key := by(&list[i])
			if counts[key] == nil {
				counts[key] = make(map[string]int)
			}
			counts[key][got[list[i].Name]]++
		}
		fmt.Fprintf(&b, "\n%-24s caught  look  missed\n", "")
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			c := counts[key]
			fmt.Fprintf(&b, "%-24s %6d %5d %7d\n", key, c[wayCaught], c[wayLook], c[wayMissed])
		}
	}
	return b.String()
}
