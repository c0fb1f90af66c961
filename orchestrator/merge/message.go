package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

const (
	taskTrailer = "Relay-Task: "
	runTrailer  = "Relay-Run: "
)

// Trailers returns those of a task's own commits: one that lands as it is says of which run it is.
func Trailers(o *engine.LocalOptions, a engine.Attempt) []string {
	return append(about(o, a), runTrailer+a.Run)
}

func about(o *engine.LocalOptions, a engine.Attempt) []string {
	return []string{"Relay-Epic: " + o.Epic.ID, taskTrailer + a.Task.ID, fmt.Sprintf("%s%d", worktree.AttemptTrailer, a.Number)}
}

// LeftMessage is that of a commit that relay makes of what an attempt left uncommitted. Nothing that an agent says decides it: relay
// knows its own commits by it. Where it lands as it is, it is by the user's template.
func LeftMessage(o *engine.LocalOptions, a engine.Attempt, more ...string) string {
	message := a.Task.ID + ": " + plaintext.Capped(a.Task.Title, 200)
	if o.Isolation == engine.IsolationNone {
		message, _ = byTemplate(o, &a.Task, "")
	}
	return message + "\n\n" + strings.Join(append(about(o, a), more...), "\n") + "\n"
}

// byTemplate is a task's message by the user's template, without trailers.
func byTemplate(o *engine.LocalOptions, t *epic.Task, summary string) (string, error) {
	return plaintext.CommitMessage(cmp.Or(o.Commit, plaintext.DefaultMessage), plaintext.MessageFields{
		ID: t.ID, Title: t.Title, Kind: string(cmp.Or(t.Kind, epic.KindFeature)), Type: conventional(t.Kind),
		Summary: summary, Epic: o.Epic.ID, EpicTitle: o.Epic.Title,
	})
}

// conventional returns a kind of task as conventional commits name it.
func conventional(kind epic.Kind) string {
	switch kind {
	case epic.KindBugfix:
		return "fix"
	case epic.KindReview, epic.KindChore, epic.KindVerify:
		return "chore"
	case epic.KindFeature, epic.KindPerson:
	}
	return "feat"
}

// message is that of the commit that lands a task; kind begins its subject.
func message(o *engine.LocalOptions, p engine.Verified, kind string) string {
	message, _ := byTemplate(o, &p.Attempt.Task, p.Result.Receipt.Summary)
	return integration.WithTrailers(kind+message, append(about(o, p.Attempt), runTrailer+o.Run))
}

// batchMessage is that of the commit that closes a batch.
func batchMessage(o *engine.LocalOptions, batch []engine.Verified) string {
	var subjects, trailers []string
	for _, p := range batch {
		message, _ := byTemplate(o, &p.Attempt.Task, p.Result.Receipt.Summary)
		subject, _, _ := strings.Cut(message, "\n")
		subjects = append(subjects, subject)
		trailers = append(trailers, about(o, p.Attempt)...)
	}
	return "Land " + strings.Join(ids(batch), ", ") + "\n\n" + strings.Join(subjects, "\n") + "\n\n" +
		strings.Join(append(trailers, runTrailer+o.Run), "\n") + "\n"
}

// tasks names the tasks that have landed between two commits, the last one first: those that have changed one of some paths, or all.
func tasks(ctx context.Context, repo *git.Repo, from, to string, paths ...string) ([]string, error) {
	out, err := repo.Run(ctx, git.Call{Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Args: append([]string{
		"-c", "trailer.separators=:", "log", "--first-parent", "-100", "--format=%(trailers:key=Relay-Task,valueonly)", from + ".." + to, "--",
	}, paths...)})
	return slices.Compact(strings.Fields(string(out))), err
}

// since names in words the tasks that have landed between two commits: as far as that is known, those that have changed one of some
// paths.
func since(ctx context.Context, repo *git.Repo, from, to string, paths ...string) string {
	found, err := tasks(ctx, repo, from, to, paths...)
	switch {
	case err == nil && len(found) > 0:
		return plaintext.Listed(found)
	case len(paths) > 0:
		return since(ctx, repo, from, to)
	}
	return "the integration branch"
}

// sinceIn is since with the files that those tasks have changed, unless they are too many to list.
func sinceIn(ctx context.Context, repo *git.Repo, from, to string) string {
	message := since(ctx, repo, from, to)
	names, err := repo.Names(ctx, from, to)
	if err != nil || len(names) == 0 {
		return message
	}
	return message + ", in " + plaintext.Listed(each.Of(names, func(one git.Change) string { return one.Path }))
}
