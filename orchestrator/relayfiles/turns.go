package relayfiles

import (
	"path"
	"path/filepath"
	"strconv"

	"relay/epic/pattern"
	"relay/runners"
)

// Review is the part of an attempt in which its reviewers are asked.
const Review = "review"

// Turn is one run of an agent's CLI in an attempt: a folder with what it was asked and what it printed.
type Turn struct {
	Folder, Place string // Place: below that of the attempt, with slashes; ".": it is that one
	Part          string // fix, result, why or review; "": the work itself
	Round         int    // of fixes, or of the reviewer
	Reviewer      string
}

var turnPlace = pattern.New(`^(?:\.|(result|why)|(fix)-(\d+)|(review)/(?:round-(\d+)/)?([^/]+)/\d+)$`)

// Turns finds the turns of an attempt by its folder: those of its agent first.
func Turns(folder string) (list []Turn) {
	seen := map[string]bool{}
	for _, place := range []string{".", "fix-*", "result", "why", "review/*/*", "review/*/*/*"} {
		for _, name := range []string{Transcript + "*", "brief.md", "prompt.md"} {
			for _, file := range runners.Glob(folder, path.Join(place, name)) {
				rel, _ := filepath.Rel(folder, filepath.Dir(file)) // it was found there
				t := Turn{Folder: filepath.Dir(file), Place: filepath.ToSlash(rel)}
				m := turnPlace.FindStringSubmatch(t.Place)
				if m == nil || seen[t.Place] {
					continue
				}
				seen[t.Place] = true
				t.Part, t.Reviewer = m[1]+m[2]+m[4], m[6]
				if t.Round, _ = strconv.Atoi(m[3] + m[5]); t.Part == Review {
					t.Round = max(t.Round, 1)
				}
				list = append(list, t)
			}
		}
	}
	return list
}
