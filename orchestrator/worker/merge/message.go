package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"
	"relay/reanchor"
)

const (
	taskTrailer = "Relay-Task: "
	runTrailer  = "Relay-Run: "
)

// Trailers returns those of a task's own commits: one that lands as it is says of which run it is.
func Trailers(o *engine.Options, a engine.Attempt) []string {
	return append(about(o, a), runTrailer+a.Run)
}

func about(o *engine.Options, a engine.Attempt) []string {
	return []string{"Relay-Epic: " + o.Epic.ID, taskTrailer + a.Task.ID, fmt.Sprintf("%s%d", worktree.AttemptTrailer, a.Number)}
}

// message is that of the commit that lands a batch; kind begins its title, for what lands alone.
func (m *Merger) message(batch []engine.Verified, kind string) string {
	var subjects, ids, trailers []string
	for _, p := range batch {
		ids = append(ids, p.Attempt.Task.ID)
		subjects = append(subjects, p.Attempt.Task.ID+": "+attempts.Clean(p.Attempt.Task.Title, 200))
		trailers = append(trailers, about(m.Options, p.Attempt)...)
	}
	text := kind + subjects[0]
	if len(batch) > 1 {
		text = "Land " + strings.Join(ids, ", ") + "\n\n" + strings.Join(subjects, "\n")
	}
	return text + "\n\n" + strings.Join(trailers, "\n") + "\n" + runTrailer + m.Options.Run + "\n"
}

// tasks names the tasks that have landed between two commits, the last one first: those that have changed one of some paths, or all.
func (m *Merger) tasks(ctx context.Context, from, to string, paths ...string) ([]string, error) {
	out, err := m.Home.Run(ctx, reanchor.Call{Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Args: append([]string{
		"-c", "trailer.separators=:", "log", "--first-parent", "-100", "--format=%(trailers:key=Relay-Task,valueonly)", from + ".." + to, "--",
	}, paths...)})
	return slices.Compact(strings.Fields(string(out))), err
}

// since names in words the tasks that have landed between two commits: as far as that is known, those that have changed one of some
// paths.
func (m *Merger) since(ctx context.Context, from, to string, paths ...string) string {
	tasks, err := m.tasks(ctx, from, to, paths...)
	if len(paths) > 0 && (err != nil || len(tasks) == 0) {
		return m.since(ctx, from, to)
	}
	if err != nil || len(tasks) == 0 {
		return "the integration branch"
	}
	return text.Listed(tasks)
}

// sinceIn is since with the files that those tasks have changed.
func (m *Merger) sinceIn(ctx context.Context, from, to string) string {
	message := m.since(ctx, from, to)
	paths := m.changedSince(ctx, from, to)
	if len(paths) == 0 {
		return message
	}
	return message + ", in " + text.Listed(paths)
}
