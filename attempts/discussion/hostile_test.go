package discussion

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// grown are files that people have written, and what they are after a mark and a link.
func grown() map[string][2]string {
	const mark = "status: accepted\n%note: \"why: x\"\n%at: \"AT\"\n%by: ada\n"
	change := func(indent string) string {
		return indent + "- " + strings.ReplaceAll(mark, "%", indent+"  ")
	}
	link := "links:\n  - entry_id: other\n    relation: extends\n    at: \"AT\"\n    by: ada\n"
	birth := "  - status: exploring\n    note: \"as the file said\"\n    at: \"AT\"\n    by: unknown\n"
	return map[string][2]string{
		"few keys": {
			"topic: Split\n",
			"topic: Split\nentry_id: x\nstatus: accepted\ncreated_at: \"AT\"\nhistory:\n" + birth + change("  ") + link,
		},
		"no line end": {
			"topic: Split\nstatus: exploring # now\nsummary: |\n  They grow.",
			"topic: Split\nstatus: accepted # now\nsummary: |\n  They grow.\nentry_id: x\ncreated_at: \"AT\"\nhistory:\n" + birth + change("  ") + link,
		},
		"comments and foreign keys": {
			"# top\nentry_id: x\nstatus: 'exploring'\ncreated_at: 2026-01-02\nhistory:\n# first\n- status: exploring # born\n  who: [ada, \"b\"]\n\n# ours\nmood: {good: yes}\n",
			"# top\nentry_id: x\nstatus: 'accepted'\ncreated_at: 2026-01-02\nhistory:\n# first\n- status: exploring # born\n  who: [ada, \"b\"]\n" + change("") +
				"\n# ours\nmood: {good: yes}\n" + link,
		},
		"a block that ends in blank lines and a comment": {
			"entry_id: x\ncreated_at: 2026-01-02\nstatus: exploring\nhistory:\n    - status: exploring\n      note: |+\n        # text\n\n\nend: 1\n...\n",
			"entry_id: x\ncreated_at: 2026-01-02\nstatus: accepted\nhistory:\n    - status: exploring\n      note: |+\n        # text\n\n\n" + change("    ") +
				"end: 1\n" + link + "...\n",
		},
		"nulls": {
			"entry_id: x\ncreated_at: 2026-01-02\nstatus:\nlinks: ~\nhistory: [ ]\nafter: 1\n",
			"entry_id: x\ncreated_at: 2026-01-02\nstatus: accepted\n" + link + "history:\n" + birth + change("  ") + "after: 1\n",
		},
	}
}

// What a person has written stays as it is, byte for byte, with every kind of line end.
func TestForeignFilesGrow(t *testing.T) {
	t.Parallel()
	for name, test := range grown() {
		for _, eol := range []string{"\n", "\r\n"} {
			top := t.TempDir()
			l := open(t, top, "ada")
			put(t, top, "other.yml", "topic: Other\n")
			path := put(t, top, "x.yaml", byteOrderMark+strings.ReplaceAll(test[0], "\n", eol))
			if _, err := l.Mark("x", Accepted, "why: x"); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, err := l.Link("x", []Related{{"oth", "extends"}}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(got)
			for line := range strings.SplitSeq(text, "\n") { // times of the file and of the clock
				if at, ok := strings.CutPrefix(strings.TrimSpace(line), `at: "`); ok { // with its quote
					text = strings.ReplaceAll(text, `"`+strings.TrimRight(at, "\r"), `"AT"`)
				}
			}
			if want := byteOrderMark + strings.ReplaceAll(test[1], "\n", eol); text != want {
				t.Errorf("%s:\n%q\nwant\n%q", name, text, want)
			}
		}
	}
}

// A file that nothing can be added to is left as it is, and the error says where.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{topic: Split, status: exploring}\n":                                                               "line 1: nothing can be added to entry_id in the form it has",
		"entry_id: x\nstatus: exploring\ncreated_at: 2026-01-02\nhistory: [{status: exploring}]\n":          "line 4: nothing can be added to history in the form it has",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: &s exploring\nhistory:\n- status: *s\n":               "line 3: nothing can be added to status in the form it has",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: \"explor\\\n  ing\"\nhistory: once\n":                 "line 5: nothing can be added to history in the form it has",
		"entry_id: x\ncreated_at: 2026-01-02\nstatus: \"explor\\\n  ing\"\nhistory:\n- status: exploring\n": "line 3: nothing can be added to status in the form it has",
	} {
		top := t.TempDir()
		path := put(t, top, "x.yaml", text)
		_, err := open(t, top, "ada").Mark("x", Accepted, "")
		if _, refused := errors.AsType[*FormError](err); !refused || err.Error() != Folder+"/x.yaml: "+want {
			t.Errorf("%q: %v, want %s", text, err, want)
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
	threads, warnings, err := open(t, top, "ada").OpenThreads()
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
		_, _, err := l.OpenThreads()
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
	for _, test := range grown() {
		f.Add([]byte(test[0]))
		f.Add([]byte(strings.ReplaceAll(test[1], "\n", "\r\n")))
	}
	for _, text := range texts() {
		e := &Entry{ID: "x", Topic: text, Summary: text, Positions: []Position{{text, text, text}}, Status: Exploring, History: []Change{{Exploring, text, "", text}}}
		encoded, err := encode(e)
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
		if d, err = d.withLineEnd(); err != nil {
			return
		}
		next, err := d.setStatus(Accepted)
		if err == nil {
			next, err = next.addItem(keyHistory, Change{Accepted, "two\nlines", "AT", "ada"})
		}
		if err != nil {
			if _, refused := errors.AsType[*FormError](err); !refused {
				t.Error(err)
			}
			return
		}
		after := next.entry()
		if n := len(after.History); after.Status != Accepted || n != len(before.History)+1 || after.History[n-1] != (Change{Accepted, "two\nlines", "AT", "ada"}) {
			t.Errorf("%+v became %+v", before, after)
		}
		if was := d.entry().History; !slices.Equal(was, after.History[:len(was)]) {
			t.Errorf("%+v became %+v", was, after.History)
		}
	})
}
