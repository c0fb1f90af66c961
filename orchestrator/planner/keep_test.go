package planner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/blueprint/outline"
)

const shop = `# Shop

## Work

### T1: Sell
- [ ] it sells

### T2: Buy **fast**
| # | What |
|---|------|
| 1 | milk |
| 2 | tea |

## Later
1. **Rent** — a room
2. **Lend**
- a note

## Risks
**A1. Ask** — a friend
- when: now
1. loudly
**A2. Wait**
**A3. Rest**
`

// answered returns an answer that has tasks, each with its title and lines.
func answered(left string, tasks ...[2]string) string {
	for i, t := range tasks {
		left += "\n##### X" + string(rune('1'+i)) + ": " + t[0] + "\n"
		if i == 0 {
			left = strings.Replace(left, "\n#####", "\n# Shop\n\n#####", 1)
		}
		if t[1] != "" {
			left += "- **Plan lines:** " + t[1] + "\n"
		}
	}
	return left
}

// TestKeep: what an answer does not keep of a document is named.
func TestKeep(t *testing.T) {
	t.Parallel()
	sell, buy, rent, lend := [2]string{"Sell", "5-6"}, [2]string{"Buy fast", "8-12"}, [2]string{"Rent", "15"}, [2]string{"Lend", "16-17"}
	for name, c := range map[string]struct {
		answer string
		want   []string // the beginnings of what is wrong
	}{
		"all":              {answered("- 19-24: risks\n", sell, buy, rent, lend), nil},
		"with words":       {answered("- lines 14–17: not now\n- 19-24: risks\n", sell, buy), nil},
		"none":             {answered("- 1-24: names no tasks\n", [2]string{"Sell", ""}), nil},
		"nothing said":     {answered("", sell, buy, rent, lend), []string{"line 19 is neither"}},
		"a heading less":   {answered("- 14-24: later\n", sell), []string{"line 8 is neither"}},
		"an item less":     {answered("- 19-24: risks\n", sell, buy, rent), []string{"X3 is one line of a list", "line 16 is neither"}},
		"a step as a task": {answered("- 16-24: later\n", sell, buy, rent), []string{"X3 is one line of a list"}},
		"a list as a task": {answered("- 19-24: risks\n", sell, buy, [2]string{"Later", "14-17"}), nil},
		"a row less":       {answered("- 14-24: later\n", sell, [2]string{"milk", "11"}), []string{"line 12 is neither"}},
		"bold and listed":  {answered("- 14-17: later\n- 19: risks\n", sell, [2]string{"Ask", "20-22"}, [2]string{"Wait", "23"}), []string{"line 8 is neither", "line 24 is neither"}},
		"two in one":       {answered("- 14-24: later\n", [2]string{"Sell", "5-12"}), []string{"line 8 is neither"}},
		"another order":    {answered("- 14-24: later\n", buy, sell), []string{"the task of line 5 comes after that of line 8"}},
		"one in two":       {answered("- 14-24: later\n", sell, sell, buy), []string{"the task of line 5 comes after that of line 5"}},
		"one more":         {answered("- 14-24: later\n", sell, buy, [2]string{"Steal", ""}), []string{"X3 has no Plan lines"}},
		"other words":      {answered("- 14-24: later\n", [2]string{"Sell all", "5-6"}, buy), []string{"the title of X1 is not in the words of lines 5-6"}},
		"left and a task":  {answered("- 1-24: all of it\n", sell, buy), []string{"lines 1-24 are left out", "lines 1-24 are left out"}},
		"beyond the end":   {answered("- 14-24: later\n", sell, buy, [2]string{"Steal", "90-99"}), []string{"the title of X3"}},
		"one over another": {answered("", [2]string{"Sell", "1-24"}, buy), []string{"line 14 is neither", "line 19 is neither"}},
		"a title above":    {answered("## Shop, left out\n- 14-24: later\n", sell, buy), nil},
		"the end too late": {answered("- 14-90: later\n", [2]string{"Sell", "5-8"}, buy), nil},
	} {
		k := keep(&Request{Text: shop, Lines: true, From: "shop.md"}, c.answer, document(c.answer))
		read, err := blueprint.Parse("answer", []byte(k.quoted()), time.Now())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := k.wrong(read.Epic)
		if len(got) != len(c.want) || !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestFinished: an answer that names all of a document, and its tasks as done, says that nothing is left to do.
func TestFinished(t *testing.T) {
	t.Parallel()
	const status = "\n- **Status:** done"
	for name, c := range map[string]struct {
		answer string
		want   bool
	}{
		"tasks":       {answered("- 14-24: later\n", [2]string{"Sell", "5-6" + status}, [2]string{"Buy", "8-12" + status}), true},
		"no tasks":    {"- 3-12: all tasks are done\n- 14: heading\n- 19: heading\n# Shop\n", true},
		"one is open": {answered("- 14-24: later\n", [2]string{"Sell", "5-6" + status}, [2]string{"Buy", "8-12"}), false},
		"one less":    {answered("- 14-24: later\n", [2]string{"Sell", "5-6" + status}), false},
		"not done":    {"- 3-24: not done\n# Shop\n", false},
		"no words":    {"# Shop\n", false},
		"an idea":     {"- 1-24: names no tasks\n# Shop\n", false},
	} {
		if got := keep(&Request{Text: shop, Lines: true, From: "shop.md"}, c.answer, document(c.answer)).finished(); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if answer := "- 1: done\n# Shop\n"; keep(&Request{Text: "Sell", From: "the command line"}, answer, document(answer)).finished() {
		t.Error("an idea is finished")
	}
}

// TestTitles: the first heading of a document, and those of its level before the first task, need no word.
func TestTitles(t *testing.T) {
	t.Parallel()
	marks, _ := outline.Marks("## Plans\n# Shop\n## Why\n# Sell\n# Later\n")
	k := &keeping{tasks: []part{{from: 4, to: 4}}}
	for i, want := range []bool{true, true, false, true, false} {
		if got := k.names(marks, i); got != want {
			t.Errorf("line %d: got %v, want %v", marks[i].Line, got, want)
		}
	}
}

// TestQuoted: a task quotes its lines, and has their place for a source.
func TestQuoted(t *testing.T) {
	t.Parallel()
	answer := answered("", [2]string{"Sell", "5-9"}, [2]string{"Buy fast", "8-90"})
	k := keep(&Request{Text: "a\r\n" + strings.TrimPrefix(shop, "# Shop\n"), Lines: true, From: `docs/a\_shop.md`}, answer, document(answer))
	read, err := blueprint.Parse("answer", []byte(k.quoted()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if first := read.Epic.Tasks[0]; first.Source != `docs/a\_shop.md:5` || first.Description != "> ### T1: Sell\n> - [ ] it sells" {
		t.Errorf("got %q, %q", first.Source, first.Description)
	}
	if last := read.Epic.Tasks[1].Description; !strings.HasSuffix(last, "> **A3. Rest**") {
		t.Errorf("got %q", last)
	}
}

// FuzzKeep: an answer and a document of any form can be compared.
func FuzzKeep(f *testing.F) {
	f.Add(shop, answered("- 14-24: later\n", [2]string{"Sell", "5-6"}))
	f.Add("", "- 0-9: x\n# a\n- **Plan lines:** 0\n- **Plan lines:** 9-2")
	f.Fuzz(func(t *testing.T, request, answer string) {
		k := keep(&Request{Text: request, Lines: true, From: "a.md"}, answer, document(answer))
		if got := k.quoted(); strings.Count(got, "- **Plan lines:** a.md:") < len(k.tasks) {
			t.Errorf("%d tasks, and the plan became %q", len(k.tasks), got)
		}
		k.wrong(&epic.Epic{Tasks: []epic.Task{{ID: "T1", Title: request, Source: "a.md:1"}}})
	})
}
