package discussion

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts/internal/durable"
)

// put writes a file of the ledger.
func put(tb testing.TB, top, name, text string) string {
	tb.Helper()
	path := filepath.Join(top, filepath.FromSlash(Folder), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// foreign are files that people have written, each with a comment.
func foreign() []string {
	return []string{
		"topic: Split # c\n",
		"topic: Split\nstatus: exploring # c\nsummary: |\n  They grow.",
		"# c\nentry_id: x\nstatus: 'exploring'\ncreated_at: 2026-01-02\nhistory:\n# first\n- status: exploring # born\n  who: [ada, \"b\"]\n\n# ours\nmood: {good: yes}\n",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: exploring\nhistory:\n    - status: exploring\n      note: |+\n        # c\n\n\nend: 1\n...\n",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus:\nlinks: ~\nhistory: [ ]\nafter: 1 # c\n",
		"{topic: Split, status: exploring} # c\n",
		"entry_id: x # c\nstatus: exploring\ncreated_at: 2026-01-02\nhistory: [{status: exploring}]\n",
		"entry_id: x # c\ncreated_at: 2026-01-02\nstatus: \"explor\\\n  ing\"\nhistory:\n- status: exploring\n",
	}
}

// Everything that a person has written stays, with comments, and with every kind of line end.
func TestForeignFilesGrow(t *testing.T) {
	t.Parallel()
	for _, text := range foreign() {
		for _, eol := range []string{"\n", "\r\n"} {
			top := t.TempDir()
			l := open(t, top, "ada")
			put(t, top, "other.yml", "topic: Other\n")
			before := "\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", eol)
			path := put(t, top, "x.yaml", before)
			if _, err := l.Mark("x", Accepted, "why: x"); err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			e, err := l.Link("x", []Related{{"oth", "extends"}})
			if err != nil || e.Status != Accepted || len(e.Links) != 1 || len(e.History) != 2 || e.History[1].Note != "why: x" || e.Created == "" {
				t.Errorf("%q: %+v, %v", text, e, err)
				continue
			}
			after, err := os.ReadFile(path)
			if err != nil || !Grown([]byte(before), after) || !strings.Contains(string(after), "# c\n") {
				t.Errorf("%q became %q, %v", before, after, err)
			}
			again, err := Decode(after)
			if err != nil || fmt.Sprint(again) != fmt.Sprint(e) {
				t.Errorf("%+v is read as %+v, %v", e, again, err)
			}
		}
	}
}

// A file that nothing can be added to stays as it is, and the error names it.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: &s exploring\nhistory:\n- status: *s\n",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: exploring\nhistory: once\n",
	} {
		top := t.TempDir()
		path := put(t, top, "x.yaml", text)
		_, err := open(t, top, "ada").Mark("x", Accepted, "")
		if !errors.Is(err, ErrForm) || !strings.HasPrefix(err.Error(), Folder+"/x.yaml: nothing can be added to it") {
			t.Errorf("%q: %v", text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// Files that cannot be read are told and left out; files of others are not looked at.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"good.yaml": "topic: Good\n", "notes.txt": "\x00", ".x.yaml": "\x00", "a.yaml": "topic: [\n", "b.yaml": "just text\n", "c.yaml": "", "d.yaml": "a: 1\n",
		"e.yaml": "topic: \xff\n", "f.yaml": "topic: 1\n---\ntopic: 2\n", "g.yaml": "topic: 1\ntopic: 2\n", "h.yaml": "topic: 1\n---\n[",
		"i.yaml": "topic: x\n#" + strings.Repeat("x", MaxSize),
	} {
		put(t, top, name, text)
	}
	if err := os.Mkdir(filepath.Join(top, Folder, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("good.yaml", filepath.Join(top, Folder, "link.yaml")); err != nil {
		t.Skip(err)
	}
	threads, warnings, err := open(t, top, "ada").Threads(Status.Open)
	if err != nil || len(threads) != 1 || threads[0].ID != "good" {
		t.Errorf("%v, %v", threads, err)
	}
	want := []string{
		"a.yaml was left out: line 1: it is not YAML: did not find expected node content",
		"b.yaml was left out: line 1: it is not an entry: keys and values are missing",
		"c.yaml was left out: line 1: the file is empty",
		"d.yaml was left out: line 1: it is not an entry: it has neither topic, summary, positions nor status",
		"e.yaml was left out: line 1: the file is not UTF-8",
		"f.yaml was left out: line 2: a second document begins: an entry has a file of its own",
		"g.yaml was left out: line 2: the key topic stands twice",
		"h.yaml was left out: line 3: it is not YAML: did not find expected node content",
		"i.yaml was left out: line 1: the file has more than 1048576 bytes",
		"link.yaml was left out: not a regular file",
	}
	for i, w := range warnings {
		if i >= len(want) || w != Folder+"/"+want[i] {
			t.Errorf("warning %d: %s", i, w)
		}
	}
	if len(warnings) != len(want) {
		t.Errorf("%d warnings", len(warnings))
	}
}

// A folder that is a link is neither read nor written: it could lead anywhere.
func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{TopFolder, Folder} {
		top := t.TempDir()
		elsewhere := filepath.Join(top, "elsewhere")
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(folder)), 0o755), os.Mkdir(elsewhere, 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, filepath.Join(top, filepath.FromSlash(folder))); err != nil {
			t.Skip(err)
		}
		l := open(t, top, "ada")
		_, _, err := l.Threads(Status.Open)
		_, werr := l.Append(Opening{Topic: "x", Status: Exploring})
		want := folder + " is a link: discussions need a folder of that name"
		if err == nil || err.Error() != want || werr == nil || werr.Error() != want {
			t.Errorf("%v; %v", err, werr)
		}
		if files, err := os.ReadDir(elsewhere); err != nil || len(files) > 0 {
			t.Errorf("%v, %v", files, err)
		}
	}
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, TopFolder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, top, "ada").Append(Opening{Topic: "x", Status: Exploring})
	if err == nil || err.Error() != ".ledger is not a folder: discussions need one of that name" {
		t.Error(err)
	}
}

// What can be read can be marked without losing anything, or is refused.
func FuzzDecode(f *testing.F) {
	for _, text := range foreign() {
		f.Add([]byte(text))
	}
	for _, text := range texts() {
		e := &Entry{ID: "x", Topic: text, Summary: text, Positions: []Position{{text, text, text}}, Status: Exploring, History: []Change{{Exploring, text, "", text}}}
		encoded, err := encode(durable.Node(reflect.ValueOf(e), textNode))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parse(raw)
		if err != nil {
			return
		}
		before := d.entry()
		d.set(keyStatus, string(Accepted))
		err = d.add(keyHistory, Change{Accepted, "two\nlines", "AT", "ada"})
		text, terr := d.text()
		if err != nil || terr != nil {
			return
		}
		next, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		after := next.entry()
		if n := len(after.History); after.Status != Accepted || n != len(before.History)+1 || after.History[n-1] != (Change{Accepted, "two\nlines", "AT", "ada"}) {
			t.Errorf("%+v became %+v", before, after)
		}
		if was := before.History; !slices.Equal(was, after.History[:len(was)]) {
			t.Errorf("%+v became %+v", was, after.History)
		}
	})
}

// A note that is there already changes nothing, not even the layout that a person has given the file.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	put(t, top, "a.yaml", "entry_id:   a\ntopic: A\nstatus: exploring\norigin: x\ncreated_at: '2026-01-25T10:00:00Z'\nhistory: [{status: exploring,   note: n, at: '2026-01-25T10:00:00Z', by: ada}]\n")
	l := open(t, top, "ada")
	l.o.Now = func() time.Time { return time.Date(2026, 1, 25, 10, 0, 0, 0, time.UTC) }
	before := snapshot(t, top)
	if added, err := l.Note("x", "n"); added || err != nil {
		t.Error(added, err)
	}
	if after := snapshot(t, top); !reflect.DeepEqual(before, after) {
		t.Errorf("%s", after)
	}
}
