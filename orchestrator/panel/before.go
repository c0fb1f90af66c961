package panel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/runners"
	"relay/runners/process"
)

// UsedBefore is what the reviewers of a killed run have used, by what they have left of their answers below the folder.
func (s *Session) UsedBefore(ctx context.Context) (sum attempts.Usage, err error) {
	walked := filepath.WalkDir(s.Folder, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() != "transcript.jsonl" {
			return err
		}
		folder := filepath.Dir(path)
		used, err := s.usedFor(ctx, folder, filepath.Base(filepath.Dir(folder)))
		sum.Add(used)
		return err
	})
	return sum, walked
}

// usedFor is what a reviewer of a killed run has used for the answer in a folder.
func (s *Session) usedFor(ctx context.Context, folder, reviewer string) (attempts.Usage, error) {
	in := func(name string) string { return filepath.Join(folder, name) }
	exit, err := process.ReadExit(in("end.json"))
	if err != nil {
		exit = process.Exit{Lost: true}
	}
	runner, err := s.Options.NewRunner(reviewer, process.Ended(exit))
	if err != nil {
		return attempts.Usage{}, nil //nolint:nilerr // it is no longer configured: its answers cannot be read
	}
	report, err := runner.Run(ctx, runners.Request{
		Mark: s.Attempt.Mark() + "/review", Question: true, Ended: true, Dir: s.Repo.Root(),
		Env: s.Env, Prompt: in("prompt.md"), Result: in("result.json"),
		Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"),
		End: in("end.json"), Limits: runners.Limits{TranscriptCap: s.Options.Limits.OutputCap},
	})
	if err != nil {
		return attempts.Usage{}, fmt.Errorf("read what %s has used: %w", reviewer, err)
	}
	return engine.UsageOf(report.Usage), nil
}
