package discussion

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/attempts/internal/durable"
)

// shape returns a schema without its descriptions, one line for each property.
func shape(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		tb.Fatal(err)
	}
	var lines []string
	shapeOf(schema, "", &lines)
	return strings.Join(lines, "\n")
}

func shapeOf(schema map[string]any, at string, lines *[]string) {
	line := at + ": " + schema["type"].(string)
	for _, key := range []string{"enum", "required"} {
		if list, ok := schema[key]; ok {
			line += fmt.Sprintf(" %s %v", key, list)
		}
	}
	*lines = append(*lines, line)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		shapeOf(properties[name].(map[string]any), at+"/"+name, lines)
	}
	if of, ok := schema["items"].(map[string]any); ok {
		shapeOf(of, at+"[]", lines)
	}
}

// Names, types, words and what is required are those of the collaborative development ledger.
func TestSchemas(t *testing.T) {
	t.Parallel()
	want := []struct{ name, input string }{
		{ActionAppend, `: object required [topic summary positions status]
/positions: array
/positions[]: object required [by stance rationale]
/positions[]/by: string
/positions[]/rationale: string
/positions[]/stance: string
/related_entries: array
/related_entries[]: string
/status: string enum [exploring tentative unresolved]
/summary: string
/topic: string`},
		{ActionLink, `: object required [current_entry_id link_to]
/current_entry_id: string
/link_to: array
/link_to[]: object required [entry_id relation]
/link_to[]/entry_id: string
/link_to[]/relation: string`},
		{ActionMark, `: object required [entry_id new_status]
/entry_id: string
/new_status: string enum [exploring tentative accepted deprecated revived]
/note: string`},
		{ActionOpen, `: object`},
		{ActionReplay, ": object required [entry_id]\n/entry_id: string"},
	}
	actions, err := Actions()
	if err != nil || len(actions) != len(want) {
		t.Fatalf("%d actions, %v", len(actions), err)
	}
	for i, a := range actions {
		if got := shape(t, a.Input); a.Name != want[i].name || got != want[i].input || a.Description == "" {
			t.Errorf("%s: %s", a.Name, got)
		}
	}
	if got := shape(t, actions[0].Output); got != ": object\n/entry_id: string" {
		t.Error(got)
	}
	opened := ": object\n/open_threads: array\n/open_threads[]: object\n/open_threads[]/entry_id: string\n/open_threads[]/status: string\n/open_threads[]/topic: string"
	if got := shape(t, actions[3].Output); got != opened {
		t.Error(got)
	}
}

// Input that a schema refuses writes nothing, and the error is the schema's.
func TestRefusedInput(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	l := open(t, top, "ada")
	for _, test := range [][3]string{
		{ActionAppend, `{}`, "missing properties 'topic', 'summary', 'positions', 'status'"},
		{ActionAppend, `{"Topic":"t","summary":"","positions":[],"status":"exploring"}`, "missing property 'topic'"},
		{ActionAppend, `{"topic":"t","summary":"","positions":{},"status":"accepted"}`, "positions: got object, want array; status: value must be one of 'exploring', 'tentative', 'unresolved'"},
		{ActionLink, `{"current_entry_id":"x","link_to":[{"entry_id":1}]}`, "link_to.0.entry_id: got number, want string; link_to.0: missing property 'relation'"},
		{ActionMark, `{"entry_id":"x","new_status":"unresolved"}`, "new_status: value must be one of 'exploring', 'tentative', 'accepted', 'deprecated', 'revived'"},
		{ActionOpen, `[]`, "got array, want object"},
		{ActionReplay, `{`, "it is not JSON: unexpected EOF"},
	} {
		_, err := l.Call(test[0], []byte(test[1]))
		if _, invalid := errors.AsType[*InvalidError](err); !invalid || err.Error() != "the input of "+test[0]+" is invalid: "+test[2] {
			t.Errorf("%s %s: %v", test[0], test[1], err)
		}
	}
	if _, err := l.Call("decide", nil); err == nil || err.Error() != `there is no action "decide" of discussions` {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(top, TopFolder)); !os.IsNotExist(err) {
		t.Error(err)
	}
	_, err := l.Append(Opening{Topic: "x", Summary: strings.Repeat("x", MaxSize), Status: Exploring})
	if err == nil || err.Error() != "the entry would have 1048802 bytes, and may have 1048576" {
		t.Error(err)
	}
	if len(snapshot(t, top)) > 0 {
		t.Error("something was written")
	}
}

const replayed = `Split the docs?
2026-01-25_split-the-docs, now tentative
opened 2026-01-25T10:00:02Z

Summary
  They grow.

Positions
- ada: Split them
  because: read
    less
- somebody:

Related entries
- 2026-01-25_skills (Skills)

History
- 2026-01-25T10:00:02Z ada: unresolved
- 2026-01-25T10:00:04Z ada: tentative
  next week

Links
- 2026-01-25T10:00:03Z ada linked it to 2026-01-25_skills (Skills)
  extends
`

func TestReplay(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), "ada")
	call(t, l, ActionAppend, object{"topic": "Skills", "summary": "", "positions": []object{}, "status": "exploring"})
	made := call(t, l, ActionAppend, object{
		"topic": "Split the docs?", "summary": "They grow.\n", "status": "unresolved", "related_entries": []string{"ski"},
		"positions": []object{{"by": "ada", "stance": "Split them", "rationale": "read\nless"}, {"by": "", "stance": "", "rationale": ""}},
	})["entry_id"]
	call(t, l, ActionLink, object{"current_entry_id": made, "link_to": []object{{"entry_id": "skills", "relation": "extends"}}})
	if got := call(t, l, ActionMark, object{"entry_id": "SPLIT", "new_status": "tentative", "note": "next week"}); got["status"] != "tentative" || got["entry_id"] != made {
		t.Error(got)
	}
	if got := call(t, l, ActionReplay, object{"entry_id": "split"})["narrative"]; strings.ReplaceAll(got.(string), ": \n", ":\n") != replayed {
		t.Errorf("%s", got)
	}
	_, err := l.Call(ActionMark, []byte(`{"entry_id":"2026","new_status":"accepted"}`))
	if err == nil || err.Error() != `"2026" can be 2026-01-25_skills, 2026-01-25_split-the-docs` {
		t.Error(err)
	}
	if _, err := l.Call(ActionAppend, []byte(`{"topic":"t","summary":"","positions":[],"status":"exploring","related_entries":[""]}`)); err == nil {
		t.Error("an entry is related to one without a name")
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"Skill doc splitting": "skill-doc-splitting", "拆分技能文件：下一步？": "拆分技能文件-下一步", "هل نقسم الملف؟": "هل-نقسم-الملف",
		"Cafe\u0301!": "café", "🙂": "discussion", "": "discussion", "../../etc/passwd": "etc-passwd", "हिन्दी": "हिन्दी", "a\u202eb": "a-b",
		strings.Repeat("字", 100): strings.Repeat("字", 53), strings.Repeat("ab ", 50): strings.Repeat("ab-", 29) + "ab",
	} {
		if got := slug(topic); got != want {
			t.Errorf("%q: %q, want %q", topic, got, want)
		}
	}
}

const written = `entry_id: 2026-01-25_拆分
topic: 拆分?
summary: |-
  They grow.
  And grow.
positions:
  - by: ada
    stance: 'Split: now'
    rationale: ""
status: exploring
created_at: "2026-01-25T10:00:01Z"
related_entries: []
links: []
history:
  - status: exploring
    note: ""
    at: "2026-01-25T10:00:01Z"
    by: ben
`

// A file is laid out for people who read it and compare versions of it.
func TestWritten(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	l := open(t, top, "ben")
	if _, err := l.Append(Opening{Topic: "拆分?", Summary: "They grow.\nAnd grow.", Positions: []Position{{"ada", "Split: now", ""}}, Status: Exploring}); err != nil {
		t.Fatal(err)
	}
	for name, text := range snapshot(t, top) {
		if string(text) != written {
			t.Errorf("%s: %s", name, text)
		}
	}
	ignored, err := os.ReadFile(filepath.Join(top, TopFolder, ".gitignore"))
	if err != nil || string(ignored) != "*\n" {
		t.Errorf("%q, %v", ignored, err)
	}
}

// A writer that is killed at any moment leaves whole entries, and the next one can do the same again.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, point := range durable.Points() {
		if !strings.HasPrefix(point, "replace.") {
			continue
		}
		top := t.TempDir()
		l := open(t, top, "ada")
		if _, err := l.Append(Opening{Topic: "First", Status: Exploring}); err != nil {
			t.Fatal(err)
		}
		l.files.fault = func(at string) error {
			if at == point {
				return killed
			}
			return nil
		}
		_, err := l.Append(Opening{Topic: "Second", Status: Exploring, Origin: "run/1"})
		_, merr := l.Mark("first", Accepted, "")
		if !errors.Is(err, killed) || !errors.Is(merr, killed) {
			t.Errorf("%s: %v, %v", point, err, merr)
		}
		l = open(t, top, "ada")
		for range 2 {
			if id, err := l.Append(Opening{Topic: "Second", Status: Exploring, Origin: "run/1"}); err != nil || id != "2026-01-25_second" {
				t.Errorf("%s: %s, %v", point, id, err)
			}
		}
		if _, err := l.Mark("first", Accepted, ""); err != nil {
			t.Errorf("%s: %v", point, err)
		}
		files, err := os.ReadDir(filepath.Join(top, Folder))
		if list, lerr := l.List(); err != nil || lerr != nil || len(list) != 2 || len(files) != 2 || list[0].Err != nil || list[1].Err != nil {
			t.Errorf("%s: %v, %v", point, list, files)
		}
	}
}
