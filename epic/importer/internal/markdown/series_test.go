package markdown

import (
	"slices"
	"strings"
	"testing"
)

func TestLabelOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{ // word, number, id and title
		"任务 4：标题":              "任务|4|4|标题",
		"タスク5：題":               "タスク|5|5|題",
		"Überblick":            "-",
		"2.3 Title":            "|2.3|2.3|Title",
		"✅ Step 3: Title":      "step|3|3|Title",
		"Title (ABC-12)":       "ABC|12|ABC12|Title",
		"Этап 2. Название":     "этап|2|2|Название",
		"Aufgabe 7: Titel":     "aufgabe|7|7|Titel",
		"2024 in review":       "-",
		"T1: Title":            "T|1|T1|Title",
		"#12 Title":            "|12|12|Title",
		"1. Title":             "|1|1|Title",
		"Phase 2 - Title":      "phase|2|2|Title",
		"Phase IV – Title":     "phase@|IV|IV|Title",
		"Frontend: Title":      "frontend|||Frontend: Title",
		"Task 1: Title":        "task|1|1|Title",
		"SHOP-12: Title":       "SHOP|12|SHOP12|Title",
		"Task A: Title":        "task@|A|A|Title",
		"**Task 2.1** — Title": "task|2.1|2.1|Title",
		"[T5] Title":           "T|5|T5|Title",
		"PR-25.5a · Title":     "pr|25.5a|25.5a|Title",
		"feat(auth): Title":    "commit|||feat(auth): Title",
		"第三阶段：标题":              "第阶段|3|3|标题",
	} {
		got := "-"
		if l, ok := labelOf(title); ok {
			got = strings.Join([]string{l.Word, l.Number, l.ID, l.Title}, "|")
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", title, got, want)
		}
	}
}

// judged are texts, the lines of them that are their tasks, and why.
var judged = []struct{ why, text, want string }{
	{"tasks have steps", "# A\n## Task 1: a\n### Step 1: x\n### Step 2: y\n## Task 2: b\n### Step 1: z\n### Step 2: w", "## Task 1: a|## Task 2: b"},
	{"phases have tasks", "# A\n## Phase 1: a\n### Task 1.1: x\n### Task 1.2: y\n## Phase 2: b\n### Task 2.1: z", "### Task 1.1: x|### Task 1.2: y|### Task 2.1: z"},
	{
		"a phase without tasks is one", "# A\n## Phase 1: a\n### 1.1 x\n### 1.2 y\n## Phase 2: b\n### 2.1 z\n## Phase 3: c\ntext",
		"### 1.1 x|### 1.2 y|### 2.1 z|## Phase 3: c",
	},
	{"risks stand beside the work", "# A\n## Risks\n### R1: x\n### R2: y\n### R3: z\n## Work\n**A1: a**\n- x\n\n**A2: b**\n- y", "**A1: a**|**A2: b**"},
	{"chapters hold the work", "# A\n## 1. Context\ntext\n## 2. Plan\n1. a b c\n2. b c d\n3. c d e\n## 3. Risks\ntext", "1. a b c|2. b c d|3. c d e"},
	{"rows that others wait for", "# A\n## Tickets\n| ID | Task | Depends on |\n|--|--|--|\n| AB-1 | a | |\n| AB-2 | b | AB-1 |", "| AB-1 | a | ||| AB-2 | b | AB-1 |"},
	{"boxes are the work", "# A\n## Phase 1\n- [ ] a\n- [ ] b\n## Phase 2\n- [ ] c", ""},
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for _, test := range judged {
		list := Lines([]byte(test.text))
		var got []string
		for _, i := range Steps(list) {
			got = append(got, list[i].Text)
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: got %s, want %s", test.why, strings.Join(got, "|"), test.want)
		}
	}
}

// FuzzSteps wants lines of the text, each once, as they stand, and steps of them.
func FuzzSteps(f *testing.F) {
	for _, test := range judged {
		f.Add(test.text)
	}
	f.Add("000\n## PhAse 0 000000000000\n### 0.000 0000000000000\n### 0.0 PhAse00") // phases in one another
	f.Fuzz(func(t *testing.T, text string) {
		list := Lines([]byte(text))
		starts := Steps(list)
		if !slices.IsSorted(starts) || len(slices.Compact(slices.Clone(starts))) < len(starts) {
			t.Fatalf("%q: %v", text, starts)
		}
		if len(starts) == 0 {
			return
		}
		if starts[0] < 0 || starts[len(starts)-1] >= len(list) {
			t.Fatalf("%q: %v of %d lines", text, starts, len(list))
		}
		if steps, _ := SplitSteps(list, starts); len(steps) != len(starts) {
			t.Errorf("%q: %d steps of %d", text, len(steps), len(starts))
		}
	})
}
