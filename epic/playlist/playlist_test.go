package playlist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/epic"
)

const head = "version: 1\nepics:\n"

func ancestor(tb testing.TB) []byte {
	tb.Helper()
	src, err := os.ReadFile("testdata/ancestor.yml")
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func TestParse(t *testing.T) {
	t.Parallel()
	l, err := Parse("playlist.yml", ancestor(t))
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "payments-rollout" || l.Status != InProgress || l.StartedAt.IsZero() || l.ContinueOnFailure || len(l.Epics) != 3 {
		t.Errorf("got %+v", l)
	}
	first := l.Epics[0]
	if first.File != "epics/260114-01-schema.yml" || first.Status != Completed || first.Line != 12 {
		t.Errorf("got %+v", first)
	}
	if last := l.Epics[2]; last.Status != "" {
		t.Errorf("got %+v", last)
	}
	const warning = `playlist.yml:22:5: unknown key "owner" in the epic is kept and not used (the keys are file, status, started_at, completed_at, failed_at)`
	if got := l.Warnings.Error(); got != warning {
		t.Errorf("warnings %s", got)
	}
}

// Every mistake is told with its place and what is wanted instead.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"empty":       {"# nothing\n", "1:1: the playlist is empty (start with version: 1 and epics:)"},
		"a list":      {"- file: a.yml\n", "1:1: a playlist must be a mapping, not a list (start with version: 1 and epics:)"},
		"large":       {head + "- file: a.yml\n#" + strings.Repeat("x", MaxSize), "1:1: the file is larger than 1 MiB (split the list)"},
		"no version":  {"epics:\n- file: a.yml\n", "1:1: version is missing (add version: 1)"},
		"version":     {"version: 2\nepics:\n- file: a.yml\n", `1:10: version must be 1, not the number 2 (relay reads version: 1)`},
		"no epics":    {"version: 1\n", "1:1: epics is missing (add epics:, and write each as - file: epics/NAME.yml)"},
		"none":        {"version: 1\nepics: []\n", "2:8: the playlist has no epics (write each as - file: epics/NAME.yml)"},
		"epics empty": {"version: 1\nepics:\n", "2:7: the playlist has no epics (write each as - file: epics/NAME.yml)"},
		"epics text":  {"version: 1\nepics: a.yml\n", `2:8: epics must be a list, not the text "a.yml" (write each as - file: epics/NAME.yml)`},
		"too many":    {head + strings.Repeat("- file: a.yml\n", MaxEpics+1), "1003:3: there are 1001 epics, more than the 1000 that relay reads (split the list)"},
		"a text":      {head + "- a.yml\n", `3:3: an epic must be a mapping with file, not the text "a.yml" (write each as - file: epics/NAME.yml)`},
		"no file":     {head + "- status: pending\n", "3:3: the epic has no file (add file: epics/NAME.yml)"},
		"empty file":  {head + "- file:\n", "3:8: file is empty (name the epic's file, as in epics/NAME.yml)"},
		"file list":   {head + "- file: [a]\n", "3:9: file must be text, not a list"},
		"file map":    {head + "- file: {a: b}\n", "3:9: file must be text, not a mapping"},
		"long file":   {head + "- file: " + strings.Repeat("a", 4097) + "\n", "3:9: file is longer than 4096 characters (write it relative to the folder of the playlist)"},
		"control":     {head + "- file: \"a\\nb\"\n", `3:9: file "a\nb" contains a control character (take the character out)`},
		"absolute":    {head + "- file: /etc/a.yml\n", `3:9: file "/etc/a.yml" is absolute (write it relative to the folder of the playlist)`},
		"drive":       {head + "- file: 'C:a.yml'\n", `3:9: file "C:a.yml" is absolute (write it relative to the folder of the playlist)`},
		"backslash":   {head + `- file: a\b.yml` + "\n", `3:9: file "a\\b.yml" contains \ (write paths with /)`},
		"twice":       {head + "- file: a.yml\n- file: ./a.yml\n", `4:9: epic "./a.yml" is already on line 3 (name each file once)`},
		"key twice":   {head + "- file: a.yml\n  file: b.yml\n", `4:3: key "file" is given twice, first on line 3 (take one of the two out)`},
		"key map":     {"{a: b}: 1\n" + head + "- file: a.yml\n", "1:1: a key of the playlist must be a word"},
		"status":      {head + "- file: a.yml\n  status: done\n", `4:11: unknown status "done" (use pending, in_progress, completed or failed; relay work writes it itself)`},
		"continue":    {"continue_on_failure: maybe\n" + head + "- file: a.yml\n", `1:22: continue_on_failure must be true or false, not the text "maybe"`},
		"long value":  {"continue_on_failure: " + strings.Repeat("x", 70) + "\n" + head + "- file: a.yml\n", "1:22: continue_on_failure must be true or false, not the text \"" + strings.Repeat("x", 60) + `"…`},
		"no yaml":     {head + "- file: [\n", "3:1: YAML: did not find expected node content (look at the indentation of this line and the one before, and for a bracket that is not closed)"},
		"documents":   {head + "- file: a.yml\n---\nb: c\n", "4:1: the file has a second YAML document (take the line with --- out, and what follows it)"},
		"no text":     {"\x00", "1:1: YAML: control characters are not allowed (save the file as UTF-8; in double quotes a control character can be written as an escape)"},
		"several":     {"version: 3\nepics:\n- file: /a\n- status: x\n", "1:10: version must be 1, not the number 3 (relay reads version: 1)\nplaylist.yml:3:9: file \"/a\" is absolute (write it relative to the folder of the playlist)\nplaylist.yml:4:3: the epic has no file (add file: epics/NAME.yml)\nplaylist.yml:4:11: unknown status \"x\" (use pending, in_progress, completed or failed; relay work writes it itself)"},
	} {
		_, err := Parse("playlist.yml", []byte(c.src))
		var problems epic.Problems
		if !errors.As(err, &problems) || problems.Error() != "playlist.yml:"+c.want {
			t.Errorf("%s: got\n%v\nwant\nplaylist.yml:%s", name, err, c.want)
		}
	}
}

// What nothing depends on is a warning.
func TestWarnings(t *testing.T) {
	t.Parallel()
	l, err := Parse("p.yml", []byte("continue_on_failures: true\nstarted_at: yesterday\n"+head+"- file: a.yml\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `p.yml:1:1: unknown key "continue_on_failures" in the playlist is kept and not used (did you mean continue_on_failure?)`
	if got := l.Warnings.Error(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// The files of a list are there, in the repository, and each is named once, however it is written.
func TestReadFiles(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	root := filepath.Join(outer, "repo")
	write(t, filepath.Join(outer, "outside.yml"), "version: 2\n")
	write(t, filepath.Join(root, "plans", "a.yml"), "version: 2\n")
	write(t, filepath.Join(root, "plans", "folder", "b.yml"), "version: 2\n")
	if err := os.Symlink("../../outside.yml", filepath.Join(root, "plans", "out.yml")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("a.yml", filepath.Join(root, "plans", "again.yml")); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(root, "lists", "night.yml")
	write(t, list, head+"- file: ../plans/a.yml\n- file: ../../outside.yml\n- file: ../plans/none.yml\n- file: ../plans/out.yml\n"+
		"- file: ../plans/again.yml\n- file: ../plans/folder\n- file: ../plans/a.yml/b\n")
	_, err := Read(root, list)
	const want = `lists/night.yml:4:1: epic "../../outside.yml" leaves the repository (name a file of this repository, relative to the folder of the playlist)
lists/night.yml:5:1: epic "../plans/none.yml": the file does not exist (paths are relative to the folder of the playlist)
lists/night.yml:6:1: epic "../plans/out.yml" is a link out of the repository (put the file itself into the repository)
lists/night.yml:7:1: epic "../plans/again.yml" is the file of line 3 under another name (name each file once)
lists/night.yml:8:1: epic "../plans/folder" is not a file (name the epic.yml itself)
lists/night.yml:9:1: epic "../plans/a.yml/b": `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	write(t, list, head+"- file: ../plans/a.yml\n- file: ../plans/folder/b.yml\n")
	l, err := Read(root, list)
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "night" || l.Path != list || l.Epics[1].Path != filepath.Join(root, "plans", "folder", "b.yml") {
		t.Errorf("got %+v", l)
	}
	if _, err := Read(root, filepath.Join(root, "none.yml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list that is not there: %v", err)
	}
	if _, err := Read(root, root); err == nil || !strings.HasSuffix(err.Error(), " is a folder, not a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(filepath.Join(root, "lists"), list); err == nil || !strings.HasPrefix(err.Error(), "night.yml:3:1: ") {
		t.Errorf("a root below the plans: %v", err)
	}
}
