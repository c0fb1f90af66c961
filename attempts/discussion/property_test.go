package discussion

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// open opens the ledger of a folder as somebody.
func open(tb testing.TB, top, by string) *Ledger {
	tb.Helper()
	at := time.Date(2026, 1, 25, 10, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	l, err := Open(top, Options{By: by, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func call(tb testing.TB, l *Ledger, action string, input any) map[string]any {
	tb.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := l.Call(action, text)
	if err != nil {
		tb.Fatalf("%s %s: %v", action, text, err)
	}
	out, err := json.Marshal(answer)
	if err != nil {
		tb.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(out, &value); err != nil {
		tb.Fatal(err)
	}
	return value
}

type object = map[string]any

// texts are what people write into discussions.
func texts() []string {
	return []string{
		"Split the skill", "拆分技能文件：下一步？", "هل نقسم الملف؟", "פיצול הקובץ", "a: b # c", "- x", "# y", "two\nlines\n", "\n\nleading\nlines", "  indented\n first", "  indented\n\tmore", "", "…\u2028…",
		"'quoted' \"twice\" \\", "status: accepted\nhistory:\n  - status: accepted", "---\n...", "true", "null", "\x1b[31mred", "long " + strings.Repeat("text ", 500), "trail \n\n\n", "&a *b !c %d @e `f`",
	}
}

// writer does random actions on one ledger.
type writer struct {
	l      *Ledger
	random *rand.Rand
	said   map[string][]string // all that was written of an entry, by its id
	mu     *sync.Mutex
}

func (w *writer) pick(tb testing.TB) string {
	tb.Helper()
	list, err := w.l.List()
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, l := range list {
		if l.Entry != nil {
			ids = append(ids, l.Entry.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[w.random.IntN(len(ids))]
}

func (w *writer) say(id string, texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said[id] = append(w.said[id], texts...)
}

func (w *writer) step(tb testing.TB) {
	tb.Helper()
	all := texts()
	text := func() string { return all[w.random.IntN(len(all))] }
	id, action := w.pick(tb), w.random.IntN(3)
	if id == "" {
		action = 0
	}
	switch action {
	case 0:
		in := object{"topic": text(), "summary": text(), "status": []Status{Exploring, Tentative, Unresolved}[w.random.IntN(3)], "positions": []object{{"by": "ada", "stance": text(), "rationale": text()}}}
		if id != "" {
			in["related_entries"] = []string{id}
		}
		made := call(tb, w.l, ActionAppend, in)["entry_id"].(string)
		w.say(made, in["summary"].(string), id)
	case 1:
		note := text()
		call(tb, w.l, ActionMark, object{"entry_id": id, "new_status": []Status{Exploring, Tentative, Accepted, Deprecated, Revived}[w.random.IntN(5)], "note": note})
		w.say(id, note)
	case 2:
		other, relation := w.pick(tb), text()
		call(tb, w.l, ActionLink, object{"current_entry_id": id, "link_to": []object{{"entry_id": other, "relation": relation}}})
		w.say(id, other, relation)
	}
}

// snapshot returns the text of every entry.
func snapshot(tb testing.TB, top string) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(Folder), "*"))
	if err != nil {
		tb.Fatal(err)
	}
	all := make(map[string][]byte)
	for _, name := range files {
		if strings.HasSuffix(name, ".yaml") {
			if all[name], err = os.ReadFile(name); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return all
}

// checkGrown fails unless every old file has all that it had.
func checkGrown(tb testing.TB, before, after map[string][]byte) {
	tb.Helper()
	for name, was := range before {
		if !Grown(was, after[name]) {
			tb.Fatalf("%s has lost something:\n%s\nand is\n%s", name, was, after[name])
		}
	}
}

// Whatever several writers do at the same time, old items stay, the status is that of the last item of the history, and a
// replay tells every item.
func TestAnySequenceOfActions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			top, said, mu := t.TempDir(), map[string][]string{}, new(sync.Mutex)
			for round := range uint64(6) {
				before := snapshot(t, top)
				var group sync.WaitGroup
				for n := range uint64(4) {
					w := &writer{open(t, top, fmt.Sprintf("writer %d", n)), rand.New(rand.NewPCG(seed, round<<8|n)), said, mu}
					group.Go(func() {
						for range 3 {
							w.step(t)
						}
					})
				}
				group.Wait()
				checkGrown(t, before, snapshot(t, top))
			}
			checkAll(t, open(t, top, "reader"), said)
		})
	}
}

func checkAll(t *testing.T, l *Ledger, said map[string][]string) {
	t.Helper()
	list, err := l.List()
	if err != nil || len(list) != len(said) {
		t.Fatalf("%d entries, %v; want %d", len(list), err, len(said))
	}
	for _, there := range list {
		if there.Err != nil {
			t.Fatalf("%s: %v", there.Path, there.Err)
		}
		e := there.Entry
		if last := e.History[len(e.History)-1].Status; e.Status != last {
			t.Errorf("%s is %s, and its history ends with %s", e.ID, e.Status, last)
		}
		told := call(t, l, ActionReplay, object{"entry_id": e.ID})["narrative"].(string)
		flat := strings.Join(strings.Fields(told), " ")
		for _, text := range said[e.ID] {
			if text = strings.Join(strings.Fields(l.o.clean(text)), " "); !strings.Contains(flat, text) {
				t.Errorf("%s: the replay does not tell %q:\n%s", e.ID, text, told)
			}
		}
		if n := strings.Count(told, "\n- "); n != len(e.Positions)+len(e.Related)+len(e.History)+len(e.Links) && !strings.Contains(told, "    - ") {
			t.Errorf("%s: the replay tells %d items:\n%s", e.ID, n, told)
		}
	}
}
