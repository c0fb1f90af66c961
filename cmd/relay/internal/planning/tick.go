package planning

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/importer"
	"relay/epic/pattern"
)

// Ticked is the plan of another tool in which completed tasks have been ticked.
type Ticked struct {
	File  string   `json:"file"`  // from the repository's root
	Tasks []string `json:"tasks"` // ids, as the plan has them
	Left  []string `json:"left,omitempty"`
}

// sourceForm is where a task of an epic comes from: FILE:LINE (ID), or FILE:LINE if an agent has read it there.
var sourceForm = pattern.New(`^(.+):([0-9]{1,9})(?: \((.+)\))?$`)

// Tick ticks completed tasks in the files that they come from. A file that is gone, or has another form by now, is an error; the others are
// ticked all the same.
func Tick(p *project.Project, e *epic.Epic, completed []string) (list []Ticked, failed error) {
	places := map[string][]importer.Place{}
	made, err := project.Imported(p, e)
	if err != nil {
		made = e // which is all that is known
	}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		was, planned := made.Task(t.ID)
		if !planned {
			continue // the plan has it no more
		}
		if m := sourceForm.FindStringSubmatch(t.Source); m != nil && m[1] != "stdin" && slices.Contains(completed, t.ID) {
			line, _ := strconv.Atoi(m[2])
			places[m[1]] = append(places[m[1]], importer.Place{ID: cmp.Or(m[3], t.ID), Title: was.Title, Line: line})
		}
	}
	for name, tasks := range places {
		t, err := tick(p, name, tasks)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("tick %s: %w", name, err))
			continue
		}
		if len(t.Tasks)+len(t.Left) > 0 {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Ticked) int { return cmp.Compare(a.File, b.File) })
	return list, failed
}

func tick(p *project.Project, name string, tasks []importer.Place) (Ticked, error) {
	path := p.Abs(name)
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return Ticked{}, err
	}
	defer root.Close()
	file := filepath.Base(path)
	found := importer.Find(root.FS(), file)
	if len(found) == 0 {
		return Ticked{}, errors.New("relay's rules cannot read it as a plan")
	}
	made, err := importer.Tick(found[0].Format, root.FS(), file, filepath.ToSlash(filepath.Dir(name)), tasks)
	if err != nil {
		return Ticked{}, err
	}
	t := Ticked{File: name, Tasks: made.Done, Left: each.Of(made.Told, func(told importer.Told) string { return told.Why })}
	if len(made.Done) > 0 {
		err = project.ReplaceFile(path, made.Data)
	}
	return t, err
}
