package agentlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/runners"
)

// AttemptPart is something that an attempt left behind.
type AttemptPart string

// The parts of an attempt.
const (
	PartBrief  AttemptPart = "brief"
	PartLog    AttemptPart = "log"
	PartDiff   AttemptPart = "diff"
	PartChecks AttemptPart = "checks"
	PartReview AttemptPart = "review"
)

// Attempt is an attempt of a task whose log is shown.
type Attempt struct {
	Task string
	*attempts.Attempt
}

// text prints what an agent or a command wrote, without secrets.
func (a *Attempt) text(v *Viewer, out io.Writer, part AttemptPart) error {
	folder := v.project.File("runs", a.Run, a.Task, fmt.Sprint(a.ID))
	switch part {
	case PartBrief:
		_, err := copySummed(out, filepath.Join(folder, "brief.md"))
		return err
	case PartLog:
		path := filepath.Join(folder, relayfiles.Transcript)
		f, err := relayfiles.OpenTranscript(path)
		if err != nil {
			return noFile(path, err)
		}
		defer f.Close()
		_, err = io.Copy(out, f)
		return err
	default: // checks
	}
	for _, c := range a.Receipt.Checks {
		fmt.Fprintf(out, "== %s: %s, %.1f s (%s)\n", c.Name, plaintext.ExitText(c.ExitCode), c.Seconds, c.PhaseText())
		if !filepath.IsLocal(filepath.FromSlash(c.Log)) {
			continue
		}
		sum, err := copySummed(out, v.project.File(filepath.FromSlash(c.Log)))
		if err != nil {
			return err
		}
		if c.SHA256 != "" && sum != c.SHA256 {
			fmt.Fprintf(out, "\n== this is not what %s printed: %s was changed since\n", c.Name, c.Log)
		}
	}
	if len(a.Receipt.Checks) == 0 {
		return a.without("attempt %d of %s ran no checks")
	}
	return nil
}

// noFile explains why a file cannot be opened.
func noFile(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &terminal.Hinted{Err: fmt.Errorf("there is no %s", path), Hint: "the attempt ended before it was written, or it was removed"}
	}
	return err
}

// copySummed writes a file out and returns its SHA-256, in hex. An agent can have put anything in its place.
func copySummed(w io.Writer, path string) (sum string, err error) {
	f, err := runners.OpenRegular(path)
	if err != nil {
		return "", noFile(path, err)
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, hash), f)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// diff prints what the attempt changed, from the best of what is left of it: its own commits, the ref that keeps the work
// of one that did not land, the step of the branch that holds it, or the patch that was kept beside its log.
func (a *Attempt) diff(ctx context.Context, v *Viewer, out io.Writer) error {
	p, at := v.project, a
	if at.Base != "" && at.Base == at.Head {
		return at.without(nothingChanged)
	}
	if hasCommit(ctx, p, at.Base) {
		kept := ""
		if at.Receipt.Salvage != "" {
			kept, _ = p.Git.Ref(ctx, at.Receipt.Salvage) // a name that git does not take keeps nothing
		}
		for _, head := range []string{at.Head, kept} {
			if hasCommit(ctx, p, head) {
				return p.Git.Patch(ctx, at.Base, head, out, math.MaxInt)
			}
		}
	}
	if hasCommit(ctx, p, at.Landed) {
		fmt.Fprintf(v.app.Err, "relay: warning: the commits of attempt %d are gone; this is the change that it landed with\n", at.ID)
		return p.Git.Patch(ctx, at.Landed+"^1", at.Landed, out, math.MaxInt)
	}
	if patch := p.File("runs", at.Run, at.Task, fmt.Sprint(at.ID), "changes.patch"); git.Exists(patch) {
		_, err := copySummed(out, patch)
		return err
	}
	if at.Head != "" {
		return at.without("the commits of attempt %d of %s are gone, and relay kept no patch")
	}
	return at.without(nothingChanged)
}

const nothingChanged = "attempt %d of %s changed nothing that git knows of"

// without is the error of an attempt that lacks what was to be shown; why has verbs for its number and its task.
func (a *Attempt) without(why string) error {
	return &terminal.Hinted{Err: fmt.Errorf(why, a.ID, a.Task), Hint: "relay show " + a.Task}
}

// hasCommit reports whether the repository has a commit.
func hasCommit(ctx context.Context, p *project.Project, commit string) bool {
	if commit == "" {
		return false
	}
	_, err := p.Git.Tree(ctx, commit)
	return err == nil
}
