package playlist

import (
	"errors"
	"path"
	"testing"

	"relay/epic"
)

// What is true of any text: no panic, problems have a place, and what was read names at least one file, none of them twice.
func FuzzParse(f *testing.F) {
	f.Add(ancestor(f))
	f.Add([]byte(head + "- file: a.yml\n- file: ../b.yml\n  status: completed\n  x: [1, {y: z}]\n"))
	f.Add([]byte("version: 1\na: &a {file: a}\nepics: [*a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := Parse("p.yml", src)
		if err != nil {
			var problems epic.Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("error is %T", err)
			}
			for _, p := range problems {
				if p.File != "p.yml" || p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Errorf("problem without a place: %+v", p)
				}
			}
			return
		}
		seen := map[string]bool{}
		for _, e := range l.Epics {
			if e.File == "" || path.IsAbs(e.File) || seen[path.Clean(e.File)] || e.Line < 1 {
				t.Errorf("epic %+v", e)
			}
			seen[path.Clean(e.File)] = true
		}
		if len(l.Epics) == 0 {
			t.Error("a list without epics")
		}
	})
}
