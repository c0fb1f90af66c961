package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/planner"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// epicFiles are what belongs to one epic, epic.yml first: without it nothing else counts as an epic.
var epicFiles = []string{
	"epic.yml", "attempt-ledger.yml", "attempt-ledger.yml.foreign", "deferred-findings.jsonl",
	"imported.yml", "epic.yml.old", "plan.json", "ledger.json",
}

// ArchiveOptions say how an old epic is put away.
type ArchiveOptions struct {
	Again string // the command that puts away an epic in progress as well: for hints
	Force bool   // also an epic in progress, or with mistakes
}

// ArchiveOld makes room for a new epic: what is there of an old one is moved to the archive. It fails for an epic that is
// running, and without Force for one in progress. It returns the archive's path from the root, and the new name of the branch
// that has what the old epic landed and the user's branch lacks, each "" when there is none.
func ArchiveOld(ctx context.Context, p *project.Project, opts ArchiveOptions, now time.Time) (archived, branch string, err error) {
	old := there(p)
	if len(old) == 0 {
		return "", "", nil
	}
	id, ledger := "unfinished", (*attempts.Ledger)(nil)
	if old[0] == "epic.yml" {
		if id, ledger, err = replaceable(p, opts); err != nil {
			return "", "", err
		}
	}
	folder := archiveFolder(p, id, now)
	if ledger != nil {
		name := "relay/" + filepath.Base(folder)
		moved, err := relayfiles.SetBranchAside(ctx, p.Git, ledger, relayfiles.BranchAside{Epic: id, Dir: p.Dir, Name: name})
		if err != nil {
			return "", "", fmt.Errorf("rename the old branch: %w", err)
		}
		if moved {
			branch = name
		}
	}
	if err := moveToArchive(p, folder, old); err != nil {
		return "", "", fmt.Errorf("archive the old epic: %w", err)
	}
	return p.Rel(folder), branch, nil
}

// ArchiveRefusal returns the error with which Old would fail because of the epic that is there; nil when it would not.
func ArchiveRefusal(p *project.Project, opts ArchiveOptions) error {
	if !git.Exists(p.File(epicFiles[0])) {
		return nil
	}
	_, _, err := replaceable(p, opts)
	return err
}

// there returns which files of an epic there are, each of its runs by itself: those in which a plan was made belong to none.
func there(p *project.Project) []string {
	names := each.Where(epicFiles, func(name string) (string, bool) { return name, git.Exists(p.File(name)) })
	runs, _ := os.ReadDir(p.File(attempts.RunsDir)) // what cannot be read is not moved
	return append(names, each.Where(runs, func(e os.DirEntry) (string, bool) {
		return filepath.Join(attempts.RunsDir, e.Name()), !planner.IsRun(e.Name())
	})...)
}

// replaceable decides whether the epic that is there may go, and returns its id and, if it can be read, its ledger.
func replaceable(p *project.Project, opts ArchiveOptions) (id string, ledger *attempts.Ledger, err error) {
	old, err := p.Plan()
	if err != nil {
		if opts.Force {
			return "unreadable", nil, nil
		}
		return "", nil, &terminal.Hinted{Err: err, Code: terminal.Invalid, Hint: "to archive that epic and begin a new one: " + opts.Again}
	}
	view, err := attempts.Read(p.Dir, old.Epic, old.Graph)
	switch {
	case err != nil && opts.Force, errors.Is(err, attempts.ErrNoLedger): // a kill has left epic.yml alone
		return old.Epic.ID, nil, nil
	case err != nil:
		return "", nil, &terminal.Hinted{
			Err:  fmt.Errorf("the ledger of the existing epic cannot be read: %w", err),
			Hint: "relay ledger validate tells what is wrong\n" + opts.Again + " archives it and begins a new one",
		}
	case view.Running:
		return "", nil, &attempts.HeldError{Holder: *view.Holder}
	}
	done, tried := 0, false
	for _, rec := range view.Ledger.Tasks {
		tried = tried || len(rec.Attempts) > 0
		if rec.Completed {
			done++
		}
	}
	if tried && done < len(old.Epic.Tasks) && !opts.Force {
		return "", nil, &terminal.Hinted{
			Err:  fmt.Errorf("epic %s is in progress: %d of %s completed", old.Epic.ID, done, plaintext.Count(len(old.Epic.Tasks), "task")),
			Hint: "relay work continues it\nrelay init --update takes over what has changed in its plan\n" + opts.Again + " archives it and begins a new one",
		}
	}
	return old.Epic.ID, view.Ledger, nil
}

// archiveFolder returns a folder for an epic that is put away, which is not there yet.
func archiveFolder(p *project.Project, id string, now time.Time) string {
	stamp := now.UTC().Format("20060102T150405Z")
	folder := p.File("archive", id+"-"+stamp)
	for n := 2; git.Exists(folder); n++ {
		folder = p.File("archive", fmt.Sprintf("%s-%s-%d", id, stamp, n))
	}
	return folder
}

// moveToArchive moves files out of the way into a folder of their own. epic.yml is copied: until there is a new one, the old one stays.
func moveToArchive(p *project.Project, folder string, names []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		from, to := p.File(name), filepath.Join(folder, name)
		if name == epicFiles[0] {
			if text, err := project.ReadFile(from, project.MaxPlan); err == nil { // else it is none that could stay
				if err := project.ReplacePrivate(to, text); err != nil {
					return err
				}
				continue
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_ = os.Remove(p.File(attempts.RunsDir)) // when nothing is left in it
	return nil
}

// WriteArchived says where the old epic is, and what it has landed.
func WriteArchived(w io.Writer, folder, branch string) {
	if folder != "" {
		fmt.Fprintf(w, "the old epic is in %s\n", folder)
	}
	if branch != "" {
		fmt.Fprintf(w, "the work it has landed is on %s\n", branch)
	}
}
