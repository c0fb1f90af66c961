package ledgersync

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// entryOf makes a handoff with everything that a handoff needs.
func entryOf(n int) *Entry {
	e := &Entry{
		ID: uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, n)).String(), Timestamp: Stamp(time.Date(2026, 1, 16, 6, 20, n%60, 0, time.UTC)),
		Agent: Agent{Name: "relay"}, Session: Session{ID: "s", Index: n}, Type: Handoff, Action: Action{Type: Handoff.Action()},
		Reasoning: Reasoning{Intent: "why"}, SessionSummary: &SessionSummary{Completed: []string{"one"}, HandoffNotes: "<b>&\u2028 \"quoted\"\nline"},
	}
	e.SetSummary(fmt.Sprint("entry ", n))
	return e
}

func openTest(t *testing.T) (w *Writer, top string) {
	t.Helper()
	top = t.TempDir()
	w, err := Open(top, "demo: yes", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, top
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// typedCases are those that the program takes because it does not know the types, and that are refused here.
func typedCases() []string {
	return []string{"handoff w/o sessionSummary", "transition={} (missing everything)", "sessionSummary of wrong type (string)", "entryType 'nonsense'", "entryType number", "review severity 'blocker'"}
}

func TestCasesHaveTheProgramsVerdict(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name, Verdict string
		Entry         json.RawMessage
	}
	if err := json.Unmarshal([]byte(readFile(t, "testdata/entry-cases.json")), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 109 {
		t.Fatalf("%d cases", len(cases))
	}
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		want := c.Verdict == "ACCEPT" && !slices.Contains(typedCases(), c.Name)
		if problems := v.Check(c.Entry); (len(problems) == 0) != want {
			t.Errorf("%s: got %v, and the program says %s", c.Name, problems, c.Verdict)
		}
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"handoff-example-refused.jsonl": "1: missing properties 'tools', 'artifacts'\n",
		"transition-example.jsonl":      "",
		"from-add.jsonl":                "",
		"template-example.jsonl":        "",
	} {
		var got strings.Builder
		entries, err := v.Validate(strings.NewReader(readFile(t, filepath.Join("testdata", name))), func(p Problem) {
			if !p.Warning {
				fmt.Fprintf(&got, "%d: %s\n", p.Line, p.Message)
			}
		})
		if err != nil || entries != 1 || got.String() != want {
			t.Errorf("%s: %d entries, %v, problems\n%s", name, entries, err, &got)
		}
	}
}

func TestValidateNamesLineAndReason(t *testing.T) {
	t.Parallel()
	const base = `"id":"018f4e3a-1c2d-7abc-8def-0123456789ab","timestamp":"2026-01-16T06:20:00Z","session":{"id":"s","entryIndex":%d},"reasoning":{"intent":"i"},"tools":[],`
	line := func(index int, rest string) string { return "{" + fmt.Sprintf(base, index) + rest + "}" }
	const other, act = `"agent":{"name":"b"},`, `"action":{"type":"other","summary":"s"},`
	ledger := "\xef\xbb\xbf" + strings.Join([]string{
		line(0, `"agent":{"name":"a"},`+act+`"artifacts":[]`) + "\r",
		"",
		"nonsense",
		line(0, other+act+`"artifacts":[]`),
		line(1, other+`"action":{"type":"debug","summary":"s"},"artifacts":[{"path":"x","action":"modified"}]`),
		line(2, other+`"action":{"type":"analyze","summary":"s"},"artifacts":[{"path":"x","action":"read"}]`),
		line(3, other+act+`"artifacts":[],"tags":["session-summary"]`),
		line(4, other+act+`"artifacts":[],"entryType":"bugfix"`),
		strings.Repeat("x", MaxLine+1),
		line(5, other+act+`"artifacts":null`),
		`{"id":"018f4e3a`,
	}, "\n")
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	entries, err := v.Validate(strings.NewReader(ledger), func(p Problem) {
		got = append(got, fmt.Sprintf("%d %v %s", p.Line, p.Warning, p.Message))
		if p.Hint == "" {
			t.Errorf("line %d has no hint", p.Line)
		}
	})
	want := []string{
		"3 false it is not JSON: invalid character 'o' in literal null (expecting 'u')",
		"4 true the entry has no entryType, and is a transition by the looks of it: it is the first of its session, after an entry of a",
		"5 true the entry has no entryType, and is a bugfix by the looks of it: it debugged, and changed files",
		"6 true the entry has no entryType, and is a review by the looks of it: it analyzed files, and changed none",
		"7 true the entry has no entryType, and is a handoff by the looks of it: a tag says so",
		"8 false missing property 'bugfix'",
		fmt.Sprintf("9 false the line has more than %d bytes", MaxLine),
		"10 false artifacts: got null, want array",
		"11 false it is not JSON: unexpected EOF",
	}
	if err != nil || entries != 7 || !slices.Equal(got, want) {
		t.Errorf("%d entries, %v, problems\n%s\nwant\n%s", entries, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// validated lists the problems of a ledger as a user sees them.
func validated(t *testing.T, ledger string) string {
	t.Helper()
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := v.Validate(strings.NewReader(ledger), func(p Problem) { fmt.Fprintf(&b, "%s\n  %s\n", p.Message, p.Hint) }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHints(t *testing.T) {
	t.Parallel()
	w, _ := openTest(t)
	entry, err := w.Encode(entryOf(1))
	if err != nil {
		t.Fatal(err)
	}
	for ledger, want := range map[string]string{
		string(entry):                         "the last line has no end\n  relay ledgersync add ends it first; add of ledgersync itself would spoil it\n",
		"{\"id\":\n":                          "it is not JSON: unexpected EOF\n  readers of LedgerSync stop at such a line: mend or remove it\n",
		"{\"id\":":                            "it is not JSON: unexpected EOF\n  its writer was cut short: remove the line\n",
		strings.Repeat("x", MaxLine+1) + "\n": fmt.Sprintf("the line has more than %d bytes\n  no program of LedgerSync writes such lines: move it into another file\n", MaxLine),
	} {
		if got := validated(t, ledger); got != want {
			t.Errorf("%.40s: got\n%swant\n%s", ledger, got, want)
		}
	}
}

// An entry without a type that has the payload of one.
func TestPayloadWithoutType(t *testing.T) {
	t.Parallel()
	w, _ := openTest(t)
	for want, change := range map[string]func(*Entry){
		"handoff by the looks of it: it has a sessionSummary":         func(*Entry) {},
		"transition by the looks of it: it has a transition":          func(e *Entry) { e.SessionSummary, e.Transition = nil, &TransitionDetails{} },
		"implementation by the looks of it: it has an implementation": func(e *Entry) { e.SessionSummary, e.Implementation = nil, &ImplementationDetails{} },
		"bugfix by the looks of it: it has a bugfix":                  func(e *Entry) { e.SessionSummary, e.Bugfix = nil, &BugfixDetails{} },
		"review by the looks of it: it has a review":                  func(e *Entry) { e.SessionSummary, e.Review = nil, &ReviewDetails{} },
		"transition by the looks of it: a tag says so":                func(e *Entry) { e.SessionSummary, e.Tags = nil, []string{"transition"} },
		"review by the looks of it: a tag says so":                    func(e *Entry) { e.SessionSummary, e.Tags = nil, []string{"review"} },
	} {
		e := entryOf(1)
		change(e)
		e.Type = ""
		line, err := w.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := validated(t, string(line)+"\n"); !strings.Contains(got, want) {
			t.Errorf("got\n%swant %q", got, want)
		}
	}
	if _, _, err := Decode([]byte("{}")); err == nil || err.Error() != "it is not an entry: it has neither id, agent nor action" {
		t.Errorf("got %v", err)
	}
}

func TestSummaryIsCutBetweenWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("word ", 60), strings.Repeat("ä", 300), strings.Repeat("😀", 201)} {
		e := &Entry{Action: Action{Description: "more"}}
		e.SetSummary(text)
		if n := len([]rune(e.Action.Summary)); n > SummaryLength || !strings.HasSuffix(e.Action.Summary, " …") || !strings.HasPrefix(e.Action.Description, strings.TrimSpace(text)) || !strings.HasSuffix(e.Action.Description, "\n\nmore") {
			t.Errorf("got %d characters: %+v", n, e.Action)
		}
	}
	short := &Entry{}
	short.SetSummary(" one\n two ")
	if short.Action != (Action{Summary: "one two"}) {
		t.Errorf("got %+v", short.Action)
	}
}

// A new folder is ignored by git and has a configuration; one that is there is used as it is.
func TestFolder(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	if got := readFile(t, filepath.Join(top, Folder, ".gitignore")); got != "*\n" {
		t.Errorf(".gitignore has %q", got)
	}
	if got := readFile(t, filepath.Join(top, Folder, ConfigFile)); !strings.Contains(got, `name: "demo: yes"`) || !strings.Contains(got, "required: []") {
		t.Errorf("the configuration is\n%s", got)
	}
	if mended, err := w.Append(entryOf(0)); err != nil || mended != "" {
		t.Errorf("%q, %v", mended, err)
	}
	own := t.TempDir()
	if err := os.Mkdir(filepath.Join(own, Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, Folder, ConfigFile), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := Open(own, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := os.Lstat(filepath.Join(own, Folder, ".gitignore")); err == nil || readFile(t, filepath.Join(own, Folder, ConfigFile)) != "mine\n" {
		t.Error("the user's folder was changed")
	}
}

func TestWhatIsNoFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, Folder), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(top, "x", nil); err == nil || !strings.Contains(err.Error(), Folder+" is not a folder") {
		t.Errorf("got %v", err)
	}
	w, top := openTest(t)
	if err := os.Mkdir(Path(top), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(entryOf(1)); err == nil {
		t.Error("a folder was written to")
	}
	if _, err := Last(Path(top), 1, Filter{}); err == nil {
		t.Error("a folder was read")
	}
}

func TestEndOfTheLedger(t *testing.T) {
	t.Parallel()
	first, err := json.Marshal(map[string]any{"id": "x", "agent": map[string]string{"name": "somebody"}})
	if err != nil {
		t.Fatal(err)
	}
	w, top := openTest(t)
	own, err := w.Encode(entryOf(7))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		before, after string
		torn          bool
	}{
		"empty":             {"", "", false},
		"ended":             {string(first) + "\n", string(first) + "\n", false},
		"no end":            {string(first), string(first) + "\n", false},
		"half of somebody":  {string(first) + "\n" + `{"id":"y`, string(first) + "\n", true},
		"half of relay's":   {string(first) + "\n" + string(own[:30]), string(first) + "\n", false},
		"all but its end":   {string(own), string(own) + "\n", false},
		"an endless line":   {strings.Repeat("x", MaxLine+2), strings.Repeat("x", MaxLine+2) + "\n", false},
		"zeros":             {"\x00\x00\x00", "", true},
		"no end, a mark":    {byteOrderMark + string(first), byteOrderMark + string(first) + "\n", false},
		"carriage returns":  {string(first) + "\r\n", string(first) + "\r\n", false},
		"many lines before": {strings.Repeat(string(first)+"\n", 40_000) + "[1", strings.Repeat(string(first)+"\n", 40_000), true},
	} {
		if err := os.WriteFile(Path(top), []byte(c.before), 0o644); err != nil {
			t.Fatal(err)
		}
		mended, err := w.Append(entryOf(7))
		if err != nil || (mended != "") != c.torn {
			t.Errorf("%s: %q, %v", name, mended, err)
		}
		if got := readFile(t, Path(top)); got != c.after+string(own)+"\n" {
			t.Errorf("%s: the ledger has %d bytes, want %d", name, len(got), len(c.after)+len(own)+1)
		}
	}
}

func TestWriterRefusesWhatIsInvalid(t *testing.T) {
	t.Parallel()
	w, top := openTest(t)
	for want, change := range map[string]func(*Entry){
		"entry T1: id: ":                    func(e *Entry) { e.ID = "T1" },
		"timestamp: ":                       func(e *Entry) { e.Timestamp = "yesterday" },
		"action.summary: ":                  func(e *Entry) { e.Action.Summary = strings.Repeat("x", 201) },
		"missing property 'sessionSummary'": func(e *Entry) { e.SessionSummary = nil },
		"entry b80c8fef-a677-5340-85fb-2c162d75df03 has 1049012 bytes, and may have 1048576": func(e *Entry) { e.UserPrompt = strings.Repeat("x", MaxLine) },
	} {
		e := entryOf(1)
		change(e)
		if _, err := w.Append(entryOf(0), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := os.Lstat(Path(top)); err == nil {
		t.Error("something was written")
	}
}

// Several relays and programs that only append write at the same time: every entry is there once, and whole.
func TestWritersAtOnce(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	const writers, each = 8, 12
	var all sync.WaitGroup
	for k := range writers {
		all.Go(func() {
			w, err := Open(top, "x", nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			for i := range each {
				if _, err := w.Append(entryOf(k*each+i), entryOf(1000+k*each+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := make(map[string]int)
	skipped, err := ReadAll(strings.NewReader(readFile(t, Path(top))), func(_ int, e *Entry) error { seen[e.ID]++; return nil })
	if err != nil || len(skipped) > 0 || len(seen) != 2*writers*each {
		t.Errorf("%d entries, skipped %v, %v", len(seen), skipped, err)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
}

// randomLedger has entries of all lengths, and lines that are none.
func randomLedger(dice *rand.Rand) []byte {
	var b bytes.Buffer
	for n := range dice.IntN(60) {
		switch dice.IntN(8) {
		case 0:
			b.WriteString(strings.Repeat("\n", dice.IntN(3)) + "nonsense \"relay\"\r\n")
		case 1:
			b.WriteString(strings.Repeat("y", dice.IntN(200_000)) + "\n")
		default:
			fmt.Fprintf(&b, `{"id":"%d","agent":{"name":"%s"},"entryType":"%s","artifacts":[{"path":"p%d"}],"userPrompt":"%s"}`, n,
				[]string{"relay", "cl\\u0061ude", "claude"}[dice.IntN(3)], []Type{Handoff, Review}[dice.IntN(2)], dice.IntN(3), strings.Repeat("z", dice.IntN(1<<dice.IntN(18))))
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[dice.IntN(3)])
		}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")[:dice.IntN(2)])
}

// Read from the end, a ledger has the same entries as from the beginning, however lines and what is read at once fall.
func TestLastIsTheEndOfAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), LedgerFile)
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		ledger := randomLedger(dice)
		if err := os.WriteFile(path, ledger, 0o644); err != nil {
			t.Fatal(err)
		}
		wanted := Filter{Agent: []string{"", "claude"}[dice.IntN(2)], Type: []Type{"", Review}[dice.IntN(2)]}
		var want []string
		if _, err := ReadAll(bytes.NewReader(ledger), func(_ int, e *Entry) error {
			if wanted.Match(e) {
				want = append(want, e.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		n := 1 + dice.IntN(20)
		want = want[max(0, len(want)-n):]
		entries, err := Last(path, n, wanted)
		var got []string
		for _, e := range entries {
			got = append(got, e.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("seed %d, %+v: got %v, %v, want %v", seed, wanted, got, err, want)
		}
	}
}

func TestNoLedger(t *testing.T) {
	t.Parallel()
	if entries, err := Last(Path(t.TempDir()), 5, Filter{}); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v", entries, err)
	}
}

func FuzzReadAll(f *testing.F) {
	for _, name := range []string{"handoff-example-refused.jsonl", "transition-example.jsonl", "from-add.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("\xef\xbb\xbf{\"id\":1,\"agent\":{\"name\":\"x\"}}\r\n\n{"))
	v, err := NewValidator()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ledger []byte) {
		var all int
		skipped, err := ReadAll(bytes.NewReader(ledger), func(int, *Entry) error { all++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		entries, err := v.Validate(bytes.NewReader(ledger), func(Problem) {})
		if err != nil || entries != all {
			t.Fatalf("%d entries, %v, want %d (skipped %v)", entries, err, all, skipped)
		}
	})
}

func BenchmarkLast(b *testing.B) {
	path := filepath.Join(b.TempDir(), LedgerFile)
	line, err := os.ReadFile("testdata/transition-example.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat(append(bytes.TrimSpace(line), '\n'), 10_000), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, wanted := range map[string]Filter{"newest": {}, "none": {Tag: "nowhere"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if entries, err := Last(path, 20, wanted); err != nil || (len(entries) != 20) != (wanted.Tag != "") {
					b.Fatal(len(entries), err)
				}
			}
		})
	}
}
