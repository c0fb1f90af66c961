package blueprint

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/epic"
)

var update = flag.Bool("update", false, "write the golden files anew")

func day() time.Time { return time.Date(2026, 1, 11, 23, 30, 0, 0, time.FixedZone("", -3600)) }

// epicOf is Parse without what it says of lines.
func epicOf(name string, src []byte, now time.Time) (*epic.Epic, error) {
	plan, err := Parse(name, src, now)
	if err != nil {
		return nil, err
	}
	return plan.Epic, nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no blueprints: %v", err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e, err := epicOf(filepath.Base(file), src, day())
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			path := strings.TrimSuffix(file, ".md") + ".yml"
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			crlf := bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
			if again, err := epicOf(filepath.Base(file), crlf, day()); err != nil || !reflect.DeepEqual(again, e) {
				t.Errorf("with CR LF: %+v, %v", again, err)
			}
		})
	}
}

// top begins a blueprint; what follows starts on line 3.
const top = "# X\n\n"

// notField returns the problems of lines that are nearly fields of the epic, by their places.
func notField(placed ...string) string {
	var all []string
	for at := range slices.Chunk(placed, 2) {
		all = append(all, at[0]+": "+epic.Quoted(at[1])+" is not a field of the epic (an epic has **Checks:** and **Protected:**, with values in `backticks`, in a paragraph of their own; without the colon it is description)")
	}
	return strings.Join(all, "\n")
}

var mistakes = []struct{ name, src, want string }{
	{"empty", "", "1:1: the blueprint has no task that relay recognises (write tasks like this:\n" + Form + ")\n1:1: the blueprint has no title (begin with # and a few words)"},
	{"no task", top + "## Tasks\n\n- a bullet\n1. a number\n", "3:1: the blueprint has no task that relay recognises (write tasks like this:\n" + Form + ")"},
	{"box without a task", top + "## Tasks\n\n- [ ] T1:\n", "5:3: the task has no title (write - [ ] and a few words)"},
	{"budget", top + "## T1: a\n- **Budget:** lots\n", `4:15: budget cannot be "lots" (write dollars, such as 2.50)`},
	{"unknown field", top + "## T1: a\n- **Prioritty:** p1\n- **Owner:** me\n", `4:3: unknown field "Prioritty" in task T1 (did you mean **Priority:**?)`},
	{
		"values", top + "## T1: a\n- **Priority:** p9 | **Points:** many\n- **Kind:** bug\n- **Timeout:** 9999999\n- **Max attempts:** 1.5\n- **Allow no change:** perhaps\n- **Points:** 3\n",
		`4:17: priority cannot be "p9" (use p0, p1, p2 or p3)
4:34: points cannot be "many" (use a number from 0 up, such as 2)
5:13: kind "bug" is not known (use feature, bugfix, review, chore, verify or person)
6:16: timeout cannot be "9999999" (write minutes, such as 30)
7:21: max attempts cannot be "1.5" (write a whole number, such as 3)
8:24: allow no change cannot be "perhaps" (write yes or no)
9:3: Points of task T1 is given twice (take one of the two out)`,
	},
	{"no title", top + "## T1:\n", "3:1: task T1 has no title (write ## T1: and a few words)"},
	{"same id", top + "## T1: a\n## T1: b\n## t1: c\n", `4:1: task "T1" is defined twice, first on line 3 (give each task an id of its own)
5:1: task ids "T1" and "t1" differ only in upper and lower case (choose ids that differ by more than case: they become folder names)`},
	{"dependencies", top + "## T1: a\n- **Depends on:** T1, T9\n", `4:19: task T1 depends on itself (take the entry out)
4:23: task T1 depends on T9, which does not exist (the tasks are T1)`},
	{"cycle", top + "## T1: a\n- **Depends on:** T2\n## T2: b\n- **Depends on:** T1\n", "4:19: dependency cycle: T1 -> T2 -> T1 (take one of these dependencies out)"},
	{"paths", top + "## T1: a\n- **Files:** /etc/passwd, `../x`\n", `4:14: path "/etc/passwd" is absolute (write it relative to the root of the repository)
4:27: path "../x" leaves the repository (take the .. out)`},
	{"matrix", top + "## T1: a\n\n| Group | Tasks | Blocked By |\n|--|--|--|\n| A | T1, T2 | Z |\n| B | | | x |\n", `7:11: group "A" names task T2, which does not exist (the tasks are T1)
7:16: group "A" is blocked by "Z", which does not exist (the groups are A)
8:1: the row has more cells than the table has columns (write \| for a bar inside a cell)`},
	{"block of checks", top + "## T1: a\n- **Checks:**\n  ```\n  make\n  make lint\n  ```\n", "5:1: the checks of task T1 are a block of several lines (write one command in backticks for each check)"},
	{"block of checks of the epic", top + "**Checks:**\n```\nmake\nmake lint\n```\n## T1: a\n", "4:1: the checks of the epic are a block of several lines (write one command in backticks for each check)"},
	{"check of the epic twice", top + "- **Checks:** `make`, `make`\n## T1: a\n", "3:15: two checks are called \"make\" (give each check a name of its own)"},
	{"field of the epic misspelt", top + "- **Checks:** `make` | **Protectd:** `x`\n\n**Chekcs:** `make`\n## T1: a\n", notField("3:3", "**Checks:** `make` | **Protectd:** `x`", "5:1", "**Chekcs:** `make`")},
	{
		"field of the epic without backticks", top + "**Checks:** make test\n\n- **Protected:** tests/**\n\n**Checks:**\nmake\n## T1: a\n",
		notField("3:1", "**Checks:** make test", "5:3", "**Protected:** tests/**", "8:1", "make"),
	},
	{"values of the epic without backticks", top + "**Checks:**\n- make\n\n**Protected:**\n\nthe tests\n## T1: a\n", notField("4:3", "make", "8:1", "the tests")},
	{"more than fields of the epic", top + "- **Checks:** `make`\n- **Points:** 3\n- and more\n## T1: a\n", notField("4:3", "**Points:** 3")},
	{"NUL", "# a\x00", "1:4: the blueprint contains a NUL byte (save it as UTF-8 text)"},
	{"bytes", "# \ufffd\n\xff", "2:1: the blueprint is not valid UTF-8 (save it as UTF-8)"},
	{"size", strings.Repeat("a", MaxSize+1), "1:1: the blueprint is larger than 10 MiB (split it into several blueprints)"},
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("plan.md", []byte(test.src), day())
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), "plan.md:", "")
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestForm checks that what the error shows is what is understood.
func TestForm(t *testing.T) {
	t.Parallel()
	e, err := epicOf("plan.md", []byte("# X\n\n"+Form), day())
	if err != nil {
		t.Fatal(err)
	}
	want := epic.Task{
		ID: "T1", Title: "Title of the task", Description: "What is to be done.", Kind: epic.KindFeature, Priority: 1, Points: 2,
		Files: []string{"src/a.go", "src/b.go"}, Line: 5,
		Checks:   []epic.Check{{Name: "go test ./...", Run: "go test ./...", Expect: epic.ExpectPass}},
		Criteria: []epic.Criterion{{Text: "something that can be checked"}},
	}
	if len(e.Tasks) != 1 || !reflect.DeepEqual(e.Tasks[0], want) {
		t.Errorf("got %+v, want %+v", e.Tasks, want)
	}
}

// Fields before the first task are the epic's; words are words.
func TestGlobsAreNotBold(t *testing.T) {
	t.Parallel()
	plan, err := Parse("plan.md", []byte("# P\n\n## T1: a\n- **Files:** **/pages/**, **/a.go, **b.go**\n"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan.Epic.Tasks[0].Files, []string{"**/pages/**", "**/a.go", "b.go"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

func TestFieldsOfTheEpic(t *testing.T) {
	t.Parallel()
	const task = "\n## Implementation Tasks\n\n##### T1: a\n- **Checks:** `own`\n"
	for name, test := range map[string]struct {
		src               string
		checks, protected []string
		description       string
	}{
		"in the preamble":         {"What.\n\n- **Checks:** `make test` and `make lint` | **Protected:** `tests/**`\n" + task, []string{"make test", "make lint"}, []string{"tests/**"}, "What."},
		"a paragraph":             {"**Checks:** `make test`\n" + task, []string{"make test"}, nil, ""},
		"values below":            {"**Checks:**\n- `make test`\n- `make lint`\n\nWhy.\n" + task, []string{"make test", "make lint"}, nil, "Why."},
		"code below":              {"**Checks:**\n\n    make test\n" + task, []string{"make test"}, nil, ""},
		"in the section of tasks": {"## Tasks\n\n**Checks:** `make test`\n\n- [ ] T1: a\n", []string{"make test"}, nil, ""},
		"values on the next line": {"**Checks:** `make test`,\n`make lint`\n" + task, []string{"make test", "make lint"}, nil, ""},
		"none":                    {"**Checks:** none | **Protected:** `tests/**`\n" + task, nil, []string{"tests/**"}, ""},
		"words":                   {"**Checks** we look at it together.\n\n- **Context:** `make`\n" + task, nil, nil, "**Checks** we look at it together.\n\n- **Context:** `make`"},
		"another section":         {"## Notes\n\n**Checks:** `make`\n" + task, []string{"make"}, nil, ""},
		"among other words":       {"## Notes\n\n**Checks:** `make`\nand more\n" + task, nil, nil, "## Notes\n\n**Checks:** `make`\nand more"},
		"behind the tasks":        {task + "\n## Quality\n\nAll of it.\n\n- **Checks:** `make all`\n", []string{"make all"}, nil, "## Quality\n\nAll of it."},
		"fields of a task":        {"- **Priority:** p1\n" + task, nil, nil, "- **Priority:** p1"},
	} {
		e, err := epicOf("plan.md", []byte(top+test.src), day())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var checks []string
		for _, c := range e.Checks {
			checks = append(checks, c.Run)
		}
		if !slices.Equal(checks, test.checks) || !slices.Equal(e.Protected, test.protected) ||
			e.Description != test.description || len(e.Tasks) != 1 {
			t.Errorf("%s: checks %q, protected %q, description %q", name, checks, e.Protected, e.Description)
		}
	}
}

// Sections beside the tasks are told to agents, what they can least do without first. A section that says nothing is not.
func TestProse(t *testing.T) {
	t.Parallel()
	e, err := epicOf("plan.md", []byte(`# Cobra: completions as JSON

Shells want them.

## Verification

Run it.

## Risks

None.

## Context

NEVER touch legacy_table.

### Details

    more

## Empty

## Implementation Tasks

##### T1: Print them

As they are.

## Non-goals

Zsh.

## Goals

- one
`), day())
	if err != nil {
		t.Fatal(err)
	}
	want := "Shells want them.\n\n## Context\n\nNEVER touch legacy_table.\n\n### Details\n\n    more\n\n## Goals\n\n- one\n\n" +
		"## Non-goals\n\nZsh.\n\n## Verification\n\nRun it.\n\n## Risks\n\nNone."
	if e.Title != "Cobra: completions as JSON" || e.Description != want || len(e.Tasks) != 1 || e.Tasks[0].Description != "As they are." {
		t.Errorf("title %q, description %q, tasks %+v", e.Title, e.Description, e.Tasks)
	}
}

// A number in an open box is a task of that number.
func TestNumberInABox(t *testing.T) {
	t.Parallel()
	e, err := epicOf("plan.md", []byte(top+"## Tasks\n\n- [ ] task 3\n"), day())
	if err != nil || len(e.Tasks) != 1 || e.Tasks[0].ID != "T3" || e.Tasks[0].Title != "task 3" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ title, want string }{
		{"User accounts", "20260112-user-accounts"},
		{"  Ünïcode: what's *new*?", "20260112-n-code-what-s-new"},
		{"日本語", "20260112-epic-77710aed"},
		{"修复 API", "20260112-api-66976880"},
		{strings.Repeat("word ", 30), "20260112-" + strings.TrimSuffix(strings.Repeat("word-", 11), "-")},
		{strings.Repeat("x", 80), "20260112-epic"},
	} {
		if got := ID(test.title, day()); got != test.want {
			t.Errorf("ID(%q) = %s, want %s", test.title, got, test.want)
		}
	}
}

// FuzzParse holds what is true of any blueprint: no panic, problems have a place, and an epic can be written and read.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	for _, m := range mistakes {
		if len(m.src) < 4096 { // the fuzzer spends its time on copying larger ones
			f.Add([]byte(m.src))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := epicOf("plan.md", src, day())
		if err != nil {
			var problems epic.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error is %T, want Problems", err)
			}
			lines := max(bytes.Count(src, []byte("\n"))+1, 1)
			for _, p := range problems {
				if p.File != "plan.md" || p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
					t.Errorf("problem without a place: %+v", p)
				}
			}
			return
		}
		text, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := epic.Read("epic.yml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got, want := withoutLines(back), withoutLines(e); !reflect.DeepEqual(got, want) {
			t.Errorf("read back:\n%+v\nwant:\n%+v\nfrom:\n%s", got, want, text)
		}
	})
}

func withoutLines(e *epic.Epic) *epic.Epic {
	bare := *e
	bare.Tasks = slices.Clone(e.Tasks)
	for i := range bare.Tasks {
		bare.Tasks[i].Line = 0
	}
	return &bare
}

// TestHostile parses what could make time grow with the square of the length.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 1 << 17
	deep := func() string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.Repeat("  ", i) + "- [ ] a\n")
		}
		return b.String()
	}
	ticks := func() string {
		var b strings.Builder
		for i := 1; b.Len() < size; i++ {
			b.WriteString(strings.Repeat("`", i) + " ")
		}
		return b.String()
	}
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, src := range map[string]string{
		"bars":        "## T1: a\n- **Points:** 1 " + fill("| **Points:** 1 "),
		"keys":        "## T1: a\n- " + fill("**Points:** 1 "),
		"commas":      "## T1: a\n- **Files:** a" + fill(", a"),
		"lines":       "## T1: a\n- **Files:** a" + fill(",\n  a"),
		"cells":       "| Group | Tasks |\n|--|--|\n" + fill("| a"),
		"columns":     fill("| Group") + "\n" + fill("|--"),
		"deep list":   "## T1: a\n" + deep(),
		"deep tasks":  "## Tasks\n" + deep(),
		"ticks":       "## T1: a\n- **Checks:** " + ticks(),
		"headings":    fill("## a: b\n"),
		"tasks":       fill("## T1: b\n"),
		"quotes":      fill("> a\n"),
		"boxes":       "## Tasks\n" + fill("- [ ] a\n  b\n"),
		"definitions": fill("[a]: b\n"),
		"above":       fill("**Checks:** `a` "),
		"words above": "**Checks:** `a`\n" + fill("b\n"),
		"goes on":     "**Checks:** `a`,\n" + fill("`b`,\n"),
		"blank":       "- a" + fill("\n") + "b",
	} {
		begin := time.Now()
		_, _ = Parse("plan.md", []byte("# X\n\n"+src), day())
		if took := time.Since(begin); took > 2*time.Minute {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var src strings.Builder
			src.WriteString("# X\n")
			form := strings.TrimPrefix(Form, "## Implementation Tasks")
			for i := range n {
				src.WriteString(strings.Replace(form, "T1", fmt.Sprintf("T%d", i), 1) + "\n")
			}
			b.SetBytes(int64(src.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("plan.md", []byte(src.String()), day()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
