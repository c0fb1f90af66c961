package artifact

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func FuzzImport(f *testing.F) {
	f.Add("# Handoff: 2026-01-13\n\n## Goal\nImplement\n\n## Current State\nx\n## Done\n- a\n- [x] b: c\n## Decisions\n- a: b\n## Notes\n```\n## Goal\n```\n", "x.md")
	f.Add("0\n## 0\n0\n", "0.md")
	f.Add("outcome: SUCCESS\n**Bead**: b\n## Goal:\n1. x\n## Now\n\x1b[31m---\n## a\n## a\nx\n", "2026-01-11-1005-x.md")
	v := newValidator(f)
	f.Fuzz(func(t *testing.T, text, name string) {
		a, err := Legacy{Path: ".handoff/" + name, Text: []byte(text), Outcome: Failed}.Import()
		if err != nil {
			return
		}
		written, err := v.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		// The sections without a field stand in the order of the old file; who reads the new one into a map sorts them.
		read, problems, err := Decode(written)
		if err != nil || len(problems) > 0 {
			t.Fatalf("%v, %v of\n%s", problems, err, written)
		}
		sorted, err := v.Encode(read)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := slices.Sorted(strings.Lines(string(sorted))), slices.Sorted(strings.Lines(string(written))); !slices.Equal(got, want) {
			t.Errorf("sorted it is\n%s\nand it was\n%s", sorted, written)
		}
		hold(t, v, string(sorted))
	})
}

func TestImport(t *testing.T) {
	t.Parallel()
	const text = `# Handoff: 2026-01-13

**Outcome:** PARTIAL
Session: auth work

## Goal
Implement user
authentication

## Current State
Logout is missing

## Done
- JWT middleware
- [x] 15 tests,
  all pass

## Next Steps
1. Logout
2. Cleanup

## Blockers
none known

## Questions
* Which TTL?

## Decisions
- **jwt**: jsonwebtoken
- Redis

## What Worked
- TDD

## What Failed
- Refresh

## Notes
` + "```\n## Goal\nnot a heading\n```\n"
	a, err := Legacy{Path: filepath.Join("x", ".handoff", "2026-01-11-auth.md"), Text: []byte(text), Bead: "b1"}.Import()
	if err != nil {
		t.Fatal(err)
	}
	want := &Artifact{
		Version: "1.0.0", Mode: Handoff, Date: "2026-01-13", Session: "auth-work", Outcome: PartialPlus, PrimaryBead: "b1", Goal: "Implement user authentication", Now: "Logout is missing",
		Done: []Task{{Task: "JWT middleware"}, {Task: "15 tests, all pass"}}, Next: []string{"Logout", "Cleanup"}, Blockers: []string{"none known"}, Questions: []string{"Which TTL?"},
		Decisions: []Decision{{Decision: "jwt", Rationale: "jsonwebtoken"}, {Decision: "Redis"}}, Worked: []string{"TDD"}, Failed: []string{"Refresh"},
		Metadata: map[string]any{"migrated_from": "2026-01-11-auth.md", "original_format": "handoff", "legacy": Notes{{"Notes", "```\n## Goal\nnot a heading\n```"}}},
	}
	if show(a) != show(want) {
		t.Errorf("got\n%s\nwant\n%s", show(a), show(want))
	}
	hold(t, newValidator(t), encode(t, a))
}

func TestImportNeedsWhatNobodySays(t *testing.T) {
	t.Parallel()
	const text = "# Checkpoint\n## Goal\ng\n"
	modified := time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)
	if _, err := (Legacy{Path: ".checkpoint/a.md", Text: []byte(text)}).Import(); err != ErrNoOutcome { //nolint:errorlint // it is returned as it is
		t.Errorf("got %v", err)
	}
	for path, want := range map[string]string{
		".checkpoint/a.md":                   "2026-02-01T10:00:00.000Z",
		".checkpoint/2026-01-11-1738-p33.md": "2026-01-11T17:38:00.000Z",
		".checkpoint/2026-01-11.md":          "2026-01-11",
	} {
		a, err := Legacy{Path: path, Text: []byte(text), Modified: modified, Outcome: Failed}.Import()
		if err != nil || a.Date != want || a.Mode != Checkpoint || a.Now != "not stated" {
			t.Errorf("%s: got %+v, %v, want the date %s", path, a, err, want)
		}
	}
	for want, l := range map[string]Legacy{
		`it is neither in .handoff nor in .checkpoint, and has no heading "# Handoff: DATE"`: {Path: "x.md", Text: []byte("## Goal\ng\n"), Outcome: Failed},
		`it is not a handoff or checkpoint: it has neither "## Goal" nor "## Current State"`: {Path: ".handoff/x.md", Text: []byte("text"), Outcome: Failed},
		"it has more than 1048576 bytes": {Path: ".handoff/x.md", Text: bytes.Repeat([]byte("x"), MaxSize+1), Outcome: Failed},
	} {
		if _, err := l.Import(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
