package changes

import (
	"slices"

	"relay/epic"
	"relay/epic/plaintext"
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
	return " changed " + plaintext.Listed(s.Files) + " without declaring it, and it belongs to " + plaintext.Listed(s.Tasks) + ": look whether the change does too"
}
