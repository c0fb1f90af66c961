package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/reanchor"
	"relay/review"
	"relay/runners"
)

// question names what a reviewer is asked about a subject: the same for the same trees, whatever the commits are called.
func (c *checkout) question(ctx context.Context, s review.Subject) (string, error) {
	out, err := c.repo.Run(ctx, reanchor.Call{Args: []string{"rev-parse", s.Base + "^{tree}", s.Head + "^{tree}"}})
	if err != nil {
		return "", err
	}
	s.Base, s.Head, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	sum := sha256.Sum256(review.Prompt(s))
	return hex.EncodeToString(sum[:]), nil
}

// answered finds what a reviewer said when it was asked the same, in an earlier attempt at the task or in this one before
// its run was killed. Only the ledger counts: an agent can write files.
func answered(a engine.Attempt, r engine.Reviewer, question string) (attempts.Opinion, bool) {
	var said []attempts.Opinion
	for _, past := range a.Known.Record.Attempts {
		if past.Receipt.Review != nil {
			said = append(said, past.Receipt.Review.Opinions...)
		}
	}
	if a.ReviewProgress != nil {
		said = append(said, a.ReviewProgress.Opinions...)
	}
	at := slices.IndexFunc(said, func(s attempts.Opinion) bool {
		return s.Reviewer == r.Name && s.Model == r.Model && s.Question == question
	})
	if at < 0 {
		return attempts.Opinion{}, false
	}
	return said[at], true
}

// recordProofs says of each acceptance criterion how it was proved.
func (f *state) recordProofs(a engine.Attempt, said []attempts.Opinion) {
	if len(a.Task.Criteria) == 0 {
		return
	}
	var criteria []review.Criterion
	for _, c := range a.Task.Criteria {
		criteria = append(criteria, review.Criterion{Text: c.Text, Check: c.Check})
	}
	if f.Receipt.Review == nil {
		f.Receipt.Review = &attempts.Reviewed{}
	}
	f.Receipt.Review.Proofs = review.Table(criteria, results(f.Receipt.Checks), opinionsOf(said), f.Head)
}

// results are the runs of acceptance commands on the work.
func results(runs []attempts.CheckRun) []review.CheckResult {
	var list []review.CheckResult
	for _, run := range runs {
		if run.Phase != phaseBaseline {
			list = append(list, review.CheckResult{Name: run.Name, Exit: run.ExitCode, Log: run.Log, LogSHA256: run.SHA256})
		}
	}
	return list
}

func opinionsOf(said []attempts.Opinion) []review.Opinion {
	var opinions []review.Opinion
	for _, s := range said {
		opinions = append(opinions, review.Opinion{Reviewer: s.Reviewer, Verdict: s.Verdict})
	}
	return opinions
}

// sumOf is the SHA-256 of a log, in hex; "" when it cannot be read.
func sumOf(path string) string {
	f, err := runners.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
