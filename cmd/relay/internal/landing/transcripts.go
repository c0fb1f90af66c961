package landing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/relayfiles"
)

// cleanedSessions is what relay clean --sessions --json prints.
type cleanedSessions struct {
	Version int              `json:"version"`
	DryRun  bool             `json:"dry_run"`
	Removed []cleanedRun     `json:"removed"` // or would be, with DryRun
	Kept    []keptTranscript `json:"kept"`
	Bytes   int64            `json:"bytes"`    // freed
	Rows    int              `json:"sessions"` // taken out of the agents ledger
}

// cleanedRun is a run whose transcripts are removed.
type cleanedRun struct {
	Run   string `json:"run"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// keptTranscript is an old run whose transcripts stay.
type keptTranscript struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// Sessions removes the transcripts of old runs of the epic.
func (o Clean) Sessions(ctx context.Context) error {
	age, err := cli.ParseAge(o.OlderThan)
	if err != nil {
		return err
	}
	p, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer p.release()
	going, kept, err := p.chooseRuns(o.App.Now().Add(-age))
	if err != nil {
		return err
	}
	answer := cleanedSessions{Version: 1, DryRun: o.DryRun, Removed: []cleanedRun{}, Kept: kept}
	if !o.JSON {
		o.listSessions(going, answer.Kept)
	}
	sure, err := o.sure(len(going))
	if err != nil {
		return err
	}
	var failed error
	for _, r := range going {
		if sure {
			if err := r.Remove(); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		answer.Removed = append(answer.Removed, cleanedRun{r.ID, len(r.Files), r.Bytes})
		answer.Bytes += r.Bytes
	}
	if sure {
		var err error
		answer.Rows, err = forgetRuns(ctx, p.Project, answer.Removed)
		failed = errors.Join(failed, err)
	}
	return errors.Join(o.printSessions(answer, sure), failed)
}

// chooseRuns returns which of the runs that began before a time lose their transcripts, and which do not: those of attempts that the next
// run goes on with, and of plans and forks that are at work.
func (p *ended) chooseRuns(before time.Time) (going []relayfiles.RunFolder, kept []keptTranscript, err error) {
	runs, err := relayfiles.RunFolders(p.File(attempts.RunsDir))
	if err != nil {
		return nil, nil, err
	}
	open, err := finish.RunsAtWork(p.Worktrees().Dir, p.File(attempts.RunsDir))
	if err == nil && p.view != nil {
		for _, rec := range p.view.Ledger.Tasks {
			if a := rec.Running(); a != nil {
				open[a.Run] = "an attempt of it is still open; relay work brings it to its end"
			}
		}
	}
	kept = []keptTranscript{}
	for _, r := range runs {
		switch {
		case r.Began.IsZero() || r.Began.After(before):
		case open[r.ID] != "":
			kept = append(kept, keptTranscript{r.ID, open[r.ID]})
		default:
			going = append(going, r)
		}
	}
	return going, kept, err
}

// forgetRuns takes the sessions of runs out of the agents ledger, if there is one, and returns how many.
func forgetRuns(ctx context.Context, p *project.Project, runs []cleanedRun) (n int, err error) {
	var ids []string
	reader, err := sessions.OpenReadOnly(ctx, p.Dir)
	if errors.Is(err, sessions.ErrMissing) || len(runs) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, r := range runs {
		list, failed := reader.List(ctx, sessions.Filter{Run: r.Run})
		err = errors.Join(err, failed)
		ids = append(ids, each.Of(list, func(s sessions.Listed) string { return s.ID })...)
	}
	if err = errors.Join(err, reader.Close()); err != nil || len(ids) == 0 {
		return 0, err
	}
	db, err := sessions.Open(ctx, p.Dir, sessions.Options{Now: time.Now})
	if err != nil {
		return 0, err
	}
	err = db.Forget(ctx, ids...)
	if err == nil {
		n, err = len(ids), db.Shrink(ctx)
	}
	return n, errors.Join(err, db.Close())
}

func (o Clean) listSessions(going []relayfiles.RunFolder, kept []keptTranscript) {
	if len(going)+len(kept) == 0 {
		fmt.Fprintln(o.App.Out, "no run that began "+o.OlderThan+" ago or earlier has transcripts")
	}
	for _, r := range going {
		fmt.Fprintf(o.App.Out, "run %s  %s, %s\n", r.ID, plaintext.Count(len(r.Files), "file"), plaintext.Bytes(uint64(r.Bytes)))
	}
	for _, k := range kept {
		fmt.Fprintf(o.App.Out, "kept: run %s: %s\n", k.Run, k.Why)
	}
}

func (o Clean) printSessions(answer cleanedSessions, sure bool) error {
	n, freed := len(answer.Removed), plaintext.Bytes(uint64(answer.Bytes))
	if o.DryRun && n > 0 && !o.JSON {
		fmt.Fprintf(o.App.Out, "this would free %s\n", freed)
	}
	done := "removed the transcripts of " + plaintext.Count(n, "run") + ", " + freed
	if answer.Rows > 0 {
		done += "\ntaken out of the agents ledger: " + plaintext.Count(answer.Rows, "session")
	}
	return o.finish(answer, sure, n, done)
}
