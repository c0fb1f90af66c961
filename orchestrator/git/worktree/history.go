package worktree

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"relay/reanchor/git"
)

// Peel returns the commit below those that relay itself made for an attempt.
func Peel(ctx context.Context, repo *git.Repo, head, message string) (string, error) {
	for {
		out, err := repo.Run(ctx, git.Writing("log", "-1", "--format=%P%x00%B", head, "--"))
		if err != nil {
			return "", err
		}
		parents, body, _ := strings.Cut(string(out), "\x00")
		parent, _, _ := strings.Cut(parents, " ")
		if parent == "" || strings.TrimSpace(body) != strings.TrimSpace(message) {
			return head, nil
		}
		head = parent
	}
}

// BringBack puts an attempt's work that was kept into the checkout again, if it is there and nothing is in its way.
func BringBack(ctx context.Context, w *Tree, head, kept string) (now string, err error) {
	return apart(ctx, w.Records, func() (string, error) {
		if _, err := w.git(ctx, nil, "diff", "--quiet", "HEAD"); err != nil {
			return head, nil //nolint:nilerr // somebody is at work here
		}
		if _, err := w.git(ctx, nil, "merge", "--quiet", "--ff-only", "--no-autostash", "--", kept); err != nil {
			return head, nil //nolint:nilerr // files that would be overwritten, or a history that does not follow
		}
		return kept, nil
	})
}

// AttemptTrailer marks commits that relay made itself, and those that landed.
const AttemptTrailer = "Relay-Attempt: "

// CommitTimes returns the committer times of base..head in seconds since 1970, without commits that relay made itself.
func CommitTimes(ctx context.Context, repo *git.Repo, base, head string) ([]int64, error) {
	out, err := repo.Run(ctx, git.Writing("log", "--format=%ct", "--invert-grep", "--grep=^"+AttemptTrailer, base+".."+head, "--"))
	if err != nil {
		return nil, err
	}
	var times []int64
	for line := range bytes.FieldsSeq(out) {
		var t int64
		if _, err := fmt.Sscan(string(line), &t); err != nil {
			return nil, fmt.Errorf("git log: %w", err)
		}
		times = append(times, t)
	}
	return times, nil
}
