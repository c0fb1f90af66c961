package panel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/reanchor"
	"relay/review"
)

// question names what a reviewer is asked about a subject: the same for the same trees, whatever the commits are called.
func (s *Session) question(ctx context.Context, about review.Subject) (string, error) {
	out, err := s.Repo.Run(ctx, reanchor.Call{Args: []string{"rev-parse", about.Base + "^{tree}", about.Head + "^{tree}"}})
	if err != nil {
		return "", err
	}
	about.Base, about.Head, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	sum := sha256.Sum256(review.Prompt(about))
	return hex.EncodeToString(sum[:]), nil
}

// answered finds what a reviewer said when it was asked the same, in an earlier attempt at the task or in this one before
// its run was killed. Only the ledger counts: an agent can write files.
func answered(a engine.Attempt, r engine.Reviewer, question string) (attempts.Opinion, bool) {
	var opinions []attempts.Opinion
	for _, earlier := range a.BriefInput.Record.Attempts {
		if earlier.Receipt.Review != nil {
			opinions = append(opinions, earlier.Receipt.Review.Opinions...)
		}
	}
	if a.ReviewProgress != nil {
		opinions = append(opinions, a.ReviewProgress.Opinions...)
	}
	at := slices.IndexFunc(opinions, func(s attempts.Opinion) bool {
		return s.Reviewer == r.Name && s.Model == r.Model && s.Question == question
	})
	if at < 0 {
		return attempts.Opinion{}, false
	}
	return opinions[at], true
}

// RecordProofs writes into a result how each acceptance criterion of the attempt was proved.
func RecordProofs(f *engine.Result, a engine.Attempt, opinions []attempts.Opinion) {
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
	f.Receipt.Review.Proofs = review.Table(criteria, CheckResults(f.Receipt.Checks), reviewOpinions(opinions), f.Head)
}

// CheckResults lists the runs of acceptance commands on the work, leaving out those before it.
func CheckResults(runs []attempts.CheckRun) []review.CheckResult {
	var list []review.CheckResult
	for _, run := range runs {
		if run.Phase != attempts.PhaseBaseline {
			list = append(list, review.CheckResult{Name: run.Name, Exit: run.ExitCode, Log: run.Log, LogSHA256: run.SHA256})
		}
	}
	return list
}
