package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/review"
	"relay/runners"
)

// followUp takes an attempt of a killed run beyond its agent's first turn, as far as it had come: what reviews and further
// turns have used is counted, and a turn that was cut short ends the attempt, with its findings for the next one.
func (c agentTurns) followUp(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) error {
	reviews, err := c.answersLeft(ctx, a, p)
	if err != nil {
		return err
	}
	f.Usage.Add(reviews)
	last := 0
	for p.round(last + 1).used() {
		last++
	}
	for n := 1; n <= last; n++ {
		again := p.round(n)
		sup, cut := afterwards(again)
		report, err := c.run(ctx, a, again, turn{sup: sup, ended: true, cut: cut, session: f.Session, used: f.used, before: f.Usage})
		if err != nil {
			return err
		}
		next := f.turned(report)
		if f.Outcome != attempts.Success || !f.recall(a.ReviewProgress, n) {
			f.spent(next.Result)
			continue
		}
		f.follow(next, c.o.Review.Rounds)
	}
	return nil
}

// stillMissing is what came of an attempt that was nothing but a review, when relay was killed meanwhile: its work waits
// for the review as before.
func (c agentTurns) stillMissing(ctx context.Context, a engine.Attempt, p attemptFiles) (f state, err error) {
	f = resultOf(a.Previous, nil)
	f.Fail(attempts.Stopped, attempts.Interrupted, "relay ended while the work was reviewed")
	before := *a.Previous.Receipt.Review
	if a.ReviewProgress != nil {
		before.Opinions = slices.Concat(before.Opinions, a.ReviewProgress.Opinions)
	}
	f.Receipt.Review = &before
	f.Usage, err = c.answersLeft(ctx, a, p)
	return f, err
}

// recall is what the reviewers wanted before a round. When the log does not say, for it was damaged, the attempt ends.
func (f *state) recall(h *attempts.ReviewProgress, number int) bool {
	if h != nil {
		for _, r := range slices.Backward(h.Rounds) {
			if r.Number == number {
				f.Receipt.Review = &attempts.Reviewed{Rounds: number - 1, Opinions: h.Opinions}
				f.Receipt.Verdict, f.Receipt.Findings = r.Verdict, review.Markdown(r.Wanted)
				f.wanted, f.judged = r.Wanted, r.Head
				return true
			}
		}
	}
	f.Fail(attempts.Stopped, attempts.Interrupted, "relay ended while the agent fixed what reviewers had found")
	return false
}

// answersLeft is what the reviewers of a killed run have used, by what they have left of their answers.
func (c agentTurns) answersLeft(ctx context.Context, a engine.Attempt, p attemptFiles) (sum attempts.Usage, err error) {
	walked := filepath.WalkDir(p.review, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() != "transcript.jsonl" {
			return err
		}
		folder := filepath.Dir(path)
		used, err := c.answerLeft(ctx, a, folder, filepath.Base(filepath.Dir(folder)))
		sum.Add(used)
		return err
	})
	return sum, walked
}

func (c agentTurns) answerLeft(ctx context.Context, a engine.Attempt, folder, reviewer string) (attempts.Usage, error) {
	in := func(name string) string { return filepath.Join(folder, name) }
	sup, _ := afterwards(attemptFiles{end: in("end.json")})
	runner, err := c.o.NewRunner(reviewer, sup)
	if err != nil {
		return attempts.Usage{}, nil //nolint:nilerr // it is no longer configured: nobody can read what it has used
	}
	report, err := runner.Run(ctx, runners.Request{
		Mark: a.Mark() + "/review", Question: true, Ended: true, Dir: c.repo.Root(),
		Env: c.env(a, ""), Prompt: in("prompt.md"), Result: in("result.json"),
		Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"),
		End: in("end.json"), Limits: runners.Limits{TranscriptCap: c.o.Limits.OutputCap},
	})
	if err != nil {
		return attempts.Usage{}, fmt.Errorf("read what %s has used: %w", reviewer, err)
	}
	return engine.UsageOf(report.Usage), nil
}
