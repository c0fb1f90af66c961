// Package runview shows a run: its progress, and afterwards the report, the proposals and the learnings.
//
// learn.go shows what the agents of an epic have learned, and proposes a patch of AGENTS.md.
//
// watcher.go shows what happens during a run: a line for each change of state, and on a terminal a few lines that say how the run stands.
// A slow terminal never holds up the run.
//
// proposal.go makes tasks of what the reviewers of the whole epic found, and of the work that agents have found and left, and adds them
// to the epic.
//
// runreport.go makes the report of a session from its log and the ledger, and writes it into files.
package runview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/reanchor/git"
)

// Finding is what an epic's agents have learned so far, and the files that would be changed for it.
type Finding struct {
	Completed, Tasks int
	Groups           []briefing.LearningGroup
	Files            []File
	Problem          error // of a file that cannot be changed; nil: none
}

// File is an AGENTS.md with what is to be added to it.
type File struct {
	Name  string   `json:"file"`          // relative to the repository, with slashes
	New   bool     `json:"new,omitempty"` // there is none yet
	Added []string `json:"added"`         // learnings, in the order of their bullets
	Patch string   `json:"patch"`         // what would be added, as a unified diff

	before string
}

// FindLearnings gathers the learnings of an epic, and what they would change in the checkout. It writes nothing.
func FindLearnings(p *project.Project, pl *project.Plan, l *attempts.Ledger) Finding {
	source := briefing.LearningsOf(pl.Epic, l)
	source.Redact = p.Redactor().Text
	counts := decide.CountTasks(l, pl.Graph)
	found := Finding{Tasks: counts.Total, Completed: counts.Completed, Groups: briefing.GatherLearnings(source)}
	byFile := map[string][]briefing.LearningGroup{}
	for _, g := range found.Groups {
		if g.Worth() {
			name := nearest(p.Root, g.Folder())
			byFile[name] = append(byFile[name], g)
		}
	}
	for name, groups := range byFile {
		f, err := open(p.Root, name)
		if err != nil {
			found.Problem = err
			continue
		}
		after, added := briefing.AmendLearnings(f.before, groups)
		f.Added = each.Of(added, func(g briefing.LearningGroup) string { return g.Text })
		if f.Patch = f.patch(after); len(added) > 0 {
			found.Files = append(found.Files, f)
		}
	}
	slices.SortFunc(found.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Complete reports whether every task of the epic is completed.
func (f *Finding) Complete() bool { return f.Completed == f.Tasks }

// Added counts the learnings that are to be added.
func (f *Finding) Added() (n int) {
	for i := range f.Files {
		n += len(f.Files[i].Added)
	}
	return n
}

// nearest returns the AGENTS.md of the deepest folder on the way to one that has it, or that of the repository's top.
// Folders that are links lead elsewhere, and are not followed.
func nearest(root, folder string) string {
	name, at := briefing.LearningsFile, "."
	if folder == "." {
		return name
	}
	for segment := range strings.SplitSeq(folder, "/") {
		at = path.Join(at, segment)
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(at)))
		if err != nil || !info.IsDir() {
			break
		}
		if file := path.Join(at, briefing.LearningsFile); git.Exists(filepath.Join(root, filepath.FromSlash(file))) {
			name = file
		}
	}
	return name
}

// open reads an AGENTS.md. It fails when that is not a file.
func open(root, name string) (File, error) {
	content, err := project.ReadFile(filepath.Join(root, filepath.FromSlash(name)), project.MaxScript)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Name: name, New: true}, nil
	}
	if err != nil {
		err = &terminal.Hinted{Err: fmt.Errorf("%s cannot be read: %w", name, err), Hint: "move it away, then relay learn proposes a new file"}
	}
	return File{Name: name, before: string(content)}, err
}

// patch returns what would be added to the file as a unified diff.
func (f *File) patch(after string) string {
	old := "a/" + f.Name
	if f.New {
		old = "/dev/null"
	}
	return udiff.Unified(old, "b/"+f.Name, f.before, after)
}

// Learn prints what the agents of an epic have learned, and proposes a patch of AGENTS.md.
func Learn(ctx context.Context, a *cli.App, asJSON bool) error {
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return err
	}
	pl, view, _, err := p.Read(ctx)
	if err != nil {
		return err
	}
	found := FindLearnings(p, pl, view.Ledger)
	if asJSON {
		return errors.Join(a.PrintJSON(found.answer()), found.Problem)
	}
	return found.propose(a)
}

// propose prints how far the epic is, the learnings and the patch.
func (f *Finding) propose(a *cli.App) error {
	status.Printer{Width: max(terminal.Columns(a.Out.Dest), 40)}.Print(a.Out, "", "learned", f)
	if f.Problem != nil {
		return f.Problem
	}
	for i := range f.Files {
		if _, err := io.WriteString(a.Raw(), f.Files[i].Patch); err != nil {
			return err
		}
	}
	return nil
}

// Known reports whether the files have what is to be recommended already.
func (f *Finding) Known() bool {
	return slices.ContainsFunc(f.Groups, func(g briefing.LearningGroup) bool { return g.Worth() })
}

// LearnAtEnd tells at the end of a run that completed the epic how much was learned, unless relay.learn is off.
func LearnAtEnd(p *project.Project, pl *project.Plan, l *attempts.Ledger, w io.Writer) {
	if p.Config.Relay.Learn == "off" {
		return
	}
	if found := FindLearnings(p, pl, l); found.Complete() && found.Added() > 0 {
		fmt.Fprintf(w, "%s: relay learn%s\n", plaintext.Count(found.Added(), "learning"), p.EpicFlag())
	}
}

// answer is what relay learn --json prints.
type answer struct {
	Version   int        `json:"version"`
	Complete  bool       `json:"complete"`
	Completed int        `json:"completed"`
	Tasks     int        `json:"tasks"`
	Learnings []learning `json:"learnings"`
	Files     []File     `json:"files"`
}

type learning struct {
	Text     string            `json:"text"`
	Strength briefing.Strength `json:"strength"`
	Count    int               `json:"count"`
	Tasks    []string          `json:"tasks"`
	Tags     []string          `json:"tags,omitempty"`
}

func (f *Finding) answer() answer {
	out := answer{
		Version: 1, Complete: f.Complete(), Completed: f.Completed, Tasks: f.Tasks, Learnings: []learning{}, Files: append([]File{}, f.Files...),
	}
	for i := range f.Groups {
		g := &f.Groups[i]
		out.Learnings = append(out.Learnings, learning{g.Text, g.Strength(), len(g.Tasks), g.Tasks, g.Tags})
	}
	return out
}
