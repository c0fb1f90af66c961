package worker

import (
	"context"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// message is that of the commit that lands a batch.
func (s *slotEngine) message(batch []engine.Proved) string {
	var subjects, ids, trailers []string
	for _, r := range batch {
		ids = append(ids, r.Attempt.Task.ID)
		subjects = append(subjects, r.Attempt.Task.ID+": "+attempts.Clean(r.Attempt.Task.Title, 200))
		trailers = append(trailers, s.about(r.Attempt)...)
	}
	text := subjects[0]
	if len(batch) > 1 {
		text = "Land " + strings.Join(ids, ", ") + "\n\n" + strings.Join(subjects, "\n")
	}
	return text + "\n\n" + strings.Join(trailers, "\n") + "\n" + runTrailer + s.o.Run + "\n"
}

const (
	taskTrailer = "Relay-Task: "
	runTrailer  = "Relay-Run: "
)

// differ reports whether two commits have different files.
func (s *slotEngine) differ(ctx context.Context, one, two string) (bool, error) {
	if one == two {
		return false, nil
	}
	treeOne, err := s.home.Tree(ctx, one)
	if err != nil {
		return false, err
	}
	treeTwo, err := s.home.Tree(ctx, two)
	return treeOne != treeTwo, err
}

// landed names the tasks that have landed between two commits, the last one first: those that have changed one of some
// paths, or all.
func (s *slotEngine) landed(ctx context.Context, from, to string, paths ...string) ([]string, error) {
	out, err := s.home.Run(ctx, reanchor.Call{Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Args: append([]string{
		"-c", "trailer.separators=:", "log", "--first-parent", "-100", "--format=%(trailers:key=Relay-Task,valueonly)", from + ".." + to, "--",
	}, paths...)})
	return slices.Compact(strings.Fields(string(out))), err
}

// since names the tasks that have landed between two commits: as far as that is known, those that have changed one of
// some paths.
func (s *slotEngine) since(ctx context.Context, from, to string, paths ...string) string {
	tasks, err := s.landed(ctx, from, to, paths...)
	if len(paths) > 0 && (err != nil || len(tasks) == 0) {
		return s.since(ctx, from, to)
	}
	if err != nil || len(tasks) == 0 {
		return "the integration branch"
	}
	return text.Listed(tasks)
}

// sinceIn is since with the files that those tasks have changed.
func (s *slotEngine) sinceIn(ctx context.Context, from, to string) string {
	message := s.since(ctx, from, to)
	paths := s.changedSince(ctx, from, to)
	if len(paths) == 0 {
		return message
	}
	return message + ", in " + text.Listed(paths)
}
