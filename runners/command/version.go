package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// VersionRequest is the question for a program's version.
type VersionRequest struct {
	Argv []string // the program and its first arguments
	Dir  string   // an empty folder: it works there, and what it prints is kept there
	Env  []string // of two values of a name the later one counts
	Wall time.Duration
}

// Limits of a program that is only asked for its version.
const (
	versionOutput = 16 << 10
	versionGrace  = time.Second
)

// VersionOf runs a program with --version, and reads the first version number from its stdout. Its errors say, of
// the program, what it did instead.
func VersionOf(ctx context.Context, sup process.Supervisor, req VersionRequest) (string, error) {
	stdout, stderr := filepath.Join(req.Dir, "stdout"), filepath.Join(req.Dir, "stderr")
	w := adapter.Process{
		Supervisor: sup,
		Command: process.Command{
			Argv: append(slices.Clone(req.Argv), "--version"), Env: adapter.MergeEnv(req.Env), Dir: req.Dir, Stdout: stdout, Stderr: stderr,
			Mark: "check/version", StopGrace: versionGrace,
		},
		ReadLine: func([]byte) {}, // ignores the lines; reading past the cap gives the space back to the disk
		Limits:   runners.Limits{Wall: req.Wall, StopGrace: versionGrace, TranscriptCap: versionOutput},
	}
	e, err := w.Run(ctx)
	switch {
	case err != nil:
		return "", err
	case e.Cancelled:
		return "", e.Cause
	case errors.Is(e.Cause, adapter.ErrWall):
		return "", fmt.Errorf("does not answer --version within %s", req.Wall)
	case e.Cause != nil:
		return "", errors.New("answers --version with too much output")
	case e.Exit.Lost || e.Exit.Code != 0:
		return "", fmt.Errorf("refuses --version: %s", adapter.ExitDetail(e.Exit, stderr))
	}
	out, err := os.ReadFile(stdout) // its limit of output bounds it
	if err != nil {
		return "", err
	}
	version := versionPattern.FindString(string(out))
	if version == "" {
		return "", fmt.Errorf("answers --version with no version: %q", runners.OneLine(string(out), 60))
	}
	return version, nil
}
