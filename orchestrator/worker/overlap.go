package worker

import (
	"context"
	"fmt"
	"slices"

	"relay/epic"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// arrival is what a task of this run has put on the integration branch.
type arrival struct {
	from  string // where the branch was before
	task  *epic.Task
	files []string
}

// shared are files that a task and some before it have both changed.
type shared struct{ files, tasks []string }

func (s *shared) add(file, task string) {
	if !slices.Contains(s.files, file) {
		s.files = append(s.files, file)
	}
	if task != "" && !slices.Contains(s.tasks, task) {
		s.tasks = append(s.tasks, task)
	}
}

// noteBoth tells of files that this task and those landed since it began, or with it, have both changed, and which one of
// them does not declare: that is why they were not kept apart.
func (s *slotEngine) noteBoth(ctx context.Context, r engine.Proved, step *mergeStep, f *state) {
	s.noteSteering(f.Receipt.FilesChanged)
	mine := arrival{step.from, &r.Attempt.Task, f.Receipt.FilesChanged}
	since := append(s.arrivedSince(r.Attempt.Base, step.from), step.arrivals...)
	step.arrivals = append(step.arrivals, mine)
	var byMe, byThem, byNone shared
	for _, other := range since {
		for _, p := range mine.files {
			if !slices.Contains(other.files, p) {
				continue
			}
			switch mineToo, theirs := changes.Declared(mine.task, p), changes.Declared(other.task, p); {
			case !mineToo && !theirs:
				byNone.add(p, other.task.ID)
			case !mineToo:
				byMe.add(p, other.task.ID)
			case !theirs:
				byThem.add(p, other.task.ID)
			}
		}
	}
	for _, p := range s.changedSince(ctx, r.Attempt.Base, step.from) { // by an earlier run too, or by a person
		if slices.Contains(mine.files, p) && !changes.Declared(mine.task, p) && !slices.Contains(byNone.files, p) {
			byMe.add(p, "")
		}
	}
	for _, b := range []struct {
		shared
		text string
	}{
		{byMe, "changed %s, as %s did, and does not declare it: add it to its files"},
		{byThem, "changed %[1]s, as %[2]s did without declaring it: add it to the files of %[2]s"},
		{byNone, "changed %s, as %s did, and neither declares it: add it to the files of both"},
	} {
		if len(b.files) > 0 {
			f.Note("overlap", fmt.Sprintf(b.text, text.Listed(b.files), text.FirstOf(text.Listed(b.tasks), "others")))
		}
	}
}

// outOfScope returns the changed files that another task of the epic declares and this one does not, and those tasks. A task
// that declares no files, and those that build on each other directly, may change anything of each other's.
func outOfScope(o *engine.Options, task *epic.Task, files []string) (found shared) {
	if len(task.Files) == 0 {
		return found
	}
	at, _ := o.Graph.Index(task.ID)
	for i := range o.Epic.Tasks {
		other := &o.Epic.Tasks[i]
		k, _ := o.Graph.Index(other.ID)
		if k == at || slices.Contains(o.Graph.Deps(at), k) || slices.Contains(o.Graph.Deps(k), at) {
			continue
		}
		for _, file := range files {
			if changes.Declared(other, file) && !changes.Declared(task, file) {
				found.add(file, other.ID)
			}
		}
	}
	return found
}

// noteScope tells of changed files that belong to other tasks.
func (g *workspace) noteScope(task *epic.Task, f *state) {
	if found := outOfScope(g.o, task, f.Receipt.FilesChanged); len(found.files) > 0 {
		f.Note("scope", task.ID+found.foreign())
	}
}

// foreign says of files that they belong to other tasks.
func (s shared) foreign() string {
	return " changed " + text.Listed(s.files) + " without declaring it, and it belongs to " + text.Listed(s.tasks) + ": look whether the change does too"
}

// arrivedSince lists what has landed in this run since the branch was at a commit.
func (s *slotEngine) arrivedSince(base, tip string) []arrival {
	if base == tip {
		return nil
	}
	at := slices.IndexFunc(s.arrived, func(a arrival) bool { return a.from == base })
	return slices.Clone(s.arrived[max(at, 0):])
}

// changedSince lists the files that differ since the branch was at a commit; none when they are too many to be told.
func (s *slotEngine) changedSince(ctx context.Context, base, tip string) []string {
	if base == tip {
		return nil
	}
	names, err := s.home.Names(ctx, base, tip)
	if err != nil {
		return nil
	}
	paths := make([]string, len(names))
	for i := range names {
		paths[i] = names[i].Path
	}
	return paths
}
