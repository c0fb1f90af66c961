package changes

import (
	"fmt"
	"slices"

	"relay/epic"
	"relay/orchestrator/text"
)

// OfTask is the files that a task has changed.
type OfTask struct {
	Task  *epic.Task
	Files []string
}

// Shared is files that concern a task and others as well, and those tasks.
type Shared struct{ Files, Tasks []string }

func (s *Shared) add(file, task string) {
	if !slices.Contains(s.Files, file) {
		s.Files = append(s.Files, file)
	}
	if task != "" && !slices.Contains(s.Tasks, task) {
		s.Tasks = append(s.Tasks, task)
	}
}

// Overlaps reports which files a task and others have both changed although one of them does not declare them: that is why they
// were not kept apart. elsewhere are files that were changed meanwhile by a task of an earlier run, or by a person.
func Overlaps(own OfTask, others []OfTask, elsewhere []string) (messages []string) {
	var byOwn, byOthers, byNone Shared
	for _, other := range others {
		for _, p := range own.Files {
			if !slices.Contains(other.Files, p) {
				continue
			}
			switch here, there := Declared(own.Task, p), Declared(other.Task, p); {
			case !here && !there:
				byNone.add(p, other.Task.ID)
			case !here:
				byOwn.add(p, other.Task.ID)
			case !there:
				byOthers.add(p, other.Task.ID)
			}
		}
	}
	for _, p := range elsewhere {
		if slices.Contains(own.Files, p) && !Declared(own.Task, p) && !slices.Contains(byNone.Files, p) {
			byOwn.add(p, "")
		}
	}
	for _, b := range []struct {
		Shared
		text string
	}{
		{byOwn, "changed %s, as %s did, and does not declare it: add it to its files"},
		{byOthers, "changed %[1]s, as %[2]s did without declaring it: add it to the files of %[2]s"},
		{byNone, "changed %s, as %s did, and neither declares it: add it to the files of both"},
	} {
		if len(b.Files) > 0 {
			messages = append(messages, fmt.Sprintf(b.text, text.Listed(b.Files), text.FirstOf(text.Listed(b.Tasks), "others")))
		}
	}
	return messages
}

// OutOfScope returns the changed files that another task of the epic declares and this one does not, and those tasks. A task that
// declares no files, and those that build on each other directly, may change anything of each other's.
func OutOfScope(plan *epic.Epic, graph *epic.Graph, change OfTask) (found Shared) {
	if len(change.Task.Files) == 0 {
		return found
	}
	at, _ := graph.Index(change.Task.ID)
	for i := range plan.Tasks {
		other := &plan.Tasks[i]
		k, _ := graph.Index(other.ID)
		if k == at || slices.Contains(graph.Deps(at), k) || slices.Contains(graph.Deps(k), at) {
			continue
		}
		for _, file := range change.Files {
			if Declared(other, file) && !Declared(change.Task, file) {
				found.add(file, other.ID)
			}
		}
	}
	return found
}

// Foreign returns text that says of files that they belong to other tasks.
func (s Shared) Foreign() string {
	return " changed " + text.Listed(s.Files) + " without declaring it, and it belongs to " + text.Listed(s.Tasks) + ": look whether the change does too"
}
