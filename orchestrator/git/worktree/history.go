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
	err = w.Records.Do(ctx, func() error {
		now = bringBack(ctx, w, head, kept)
		return nil
	})
	return now, err
}

func bringBack(ctx context.Context, w *Tree, head, kept string) string {
	if _, err := w.git(ctx, nil, "diff", "--quiet", "HEAD"); err != nil {
		return head // somebody is at work here
	}
	if _, err := w.git(ctx, nil, "merge", "--quiet", "--ff-only", "--no-autostash", "--", kept); err != nil {
		return head // files that would be overwritten, or a history that does not follow
	}
	return kept
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

// ResumeWork makes the files what they are in commit from, without moving a branch: a relay that is killed in between has lost nothing, and
// every commit it finds belongs to somebody. With join the files are joined with base where that has moved on.
func (w *Tree) ResumeWork(ctx context.Context, base, from string, join bool) (done bool, err error) {
	err = w.Records.Do(ctx, func() error {
		done, err = resumeWork(ctx, w, base, from, join)
		return err
	})
	return done, err
}

func resumeWork(ctx context.Context, w *Tree, base, from string, join bool) (bool, error) {
	if _, err := w.git(ctx, nil, "cat-file", "-e", from+"^{commit}"); err != nil {
		return false, git.Unasked(err) // somebody has removed it
	}
	follows, err := w.Contains(ctx, base, from)
	if err == nil && !follows && !join {
		return false, nil
	}
	if err == nil && !follows {
		var merged []byte
		merged, err = w.git(ctx, nil, "merge-tree", "--write-tree", "--no-messages", base, from)
		from = strings.TrimSpace(string(merged))
	}
	if err != nil {
		return false, git.Unasked(err) // what it had changed was changed since
	}
	if head, err := w.Head(ctx); err != nil || head != base {
		return false, err
	}
	if _, err := w.git(ctx, nil, "diff", "--quiet", "HEAD"); err != nil {
		return false, git.Unasked(err) // somebody is at work here
	}
	if _, err := w.git(ctx, nil, "read-tree", "-m", "-u", "HEAD", from); err != nil {
		return false, git.Unasked(err) // git looks first whether it would overwrite anything, and then changes nothing
	}
	return true, nil
}
