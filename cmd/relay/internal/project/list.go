package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/importer"
	"relay/epic/plaintext"
	"relay/epic/playlist"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git"
)

// sourceFile has the plan of an epic of a playlist at the time of the last copy, in the epic's folder.
const sourceFile = "source.yml"

// List is a playlist with its epics.
type List struct {
	*playlist.List
	Listed []*ListedEpic // as Epics
}

// ListedEpic is an epic of a playlist.
type ListedEpic struct {
	Project *Project         // in the folder of the epic
	Plan    *Plan            // of a run that begins now
	Line    int              // in the playlist
	Source  string           // the file that the playlist names, absolute
	Told    []blueprint.Told // lines of a plan in another form of which nothing was made

	edited []byte // of Source, when it is to be copied; else nil
}

// ReadList reads a playlist and the plans of its epics; path is the list's, absolute. It fails, and names all that is wrong by file
// and line, when a plan is not there or has mistakes, or two have one id. It writes nothing.
func ReadList(p *Project, path string) (*List, error) {
	read, err := playlist.Read(p.Root, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &terminal.Hinted{
			Err: fmt.Errorf("there is no playlist %s", p.Rel(path)), Hint: "write one, with paths from its folder to epics as relay init makes them:\n  version: 1\n  epics:\n    - file: plans/first.yml",
		}
	case err != nil:
		return nil, err
	}
	list := &List{List: read}
	var wrong epic.Problems
	first := map[string]int{} // line by id
	for i := range read.Epics {
		at := epic.Problem{File: p.Rel(path), Line: read.Epics[i].Line, Column: 1}
		e, err := readListed(p, &read.Epics[i])
		if err != nil {
			wrong = append(wrong, listProblems(at, read.Epics[i].File, err)...)
			continue
		}
		if line, twice := first[e.Plan.Epic.ID]; twice {
			at.Message = fmt.Sprintf("epic %s is in this list twice: on line %d, too", e.Plan.Epic.ID, line)
			at.Hint = "give each plan an id of its own"
			wrong = append(wrong, at)
			continue
		}
		first[e.Plan.Epic.ID] = e.Line
		for _, t := range e.Told {
			list.Warnings.Add(t.File, epic.Place{Line: max(t.Line, 1), Column: 1}, "relay init "+t.File+" --dry-run shows the plan", "%s", t.Why)
		}
		list.Listed = append(list.Listed, e)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return list, nil
}

// listProblems returns what is wrong with an epic, as mistakes of the playlist's line.
func listProblems(at epic.Problem, file string, err error) epic.Problems {
	hinted, _ := errors.AsType[*terminal.Hinted](err)
	inPlan, mistakes := errors.AsType[epic.Problems](err)
	switch {
	case mistakes:
		at.Message = "the plan " + file + " has mistakes"
	default:
		at.Message = terminal.Message(err)
		if hinted != nil {
			at.Hint = hinted.Hint
		}
	}
	return append(epic.Problems{at}, inPlan...)
}

// readListed reads one epic of a playlist. Additions to the copy of its plan stay as long as the source is unchanged.
func readListed(p *Project, entry *playlist.Entry) (*ListedEpic, error) {
	e := &ListedEpic{Line: entry.Line, Source: entry.Path}
	source, told, err := readSource(p, e.Source)
	e.Told = told
	if err != nil {
		return nil, err
	}
	if e.Plan, err = ParsePlan(p.Rel(e.Source), source); err != nil {
		return nil, err
	}
	e.Project = p.OfEpic(e.Plan.Epic.ID)
	copied, err := ReadFile(e.Project.File("epic.yml"), MaxPlan)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	last, _ := ReadFile(e.Project.File(sourceFile), MaxPlan) // not there: as if it was another one
	switch {
	case copied != nil && bytes.Equal(source, last) && !bytes.Equal(source, copied):
		e.Plan, err = e.Project.Plan()
		return e, err
	case copied != nil && !bytes.Equal(copied, source) && !bytes.Equal(copied, last):
		edited, twin := p.Rel(e.Source), p.Rel(e.Project.File("epic.yml"))
		return nil, &terminal.Hinted{
			Err:  fmt.Errorf("%s was edited, and so was its copy %s", edited, twin),
			Hint: "put into " + edited + " what shall be, and remove the copy",
		}
	}
	if !bytes.Equal(copied, source) || !bytes.Equal(last, source) {
		e.edited = source
	}
	return e, nil
}

// readSource reads an epic.yml, or makes one of a blueprint or of a plan of another tool. An epic that has begun keeps its plan.
func readSource(p *Project, path string) (text []byte, told []blueprint.Told, err error) {
	if ext := filepath.Ext(path); ext == ".yml" || ext == ".yaml" {
		text, err = ReadFile(path, MaxPlan)
		return text, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	name, plan := p.Rel(path), (*importer.Plan)(nil)
	if found := importer.Find(root.FS(), name); len(found) > 0 {
		plan, err = found[0].Read("", info.ModTime())
	} else if text, err = ReadFile(path, MaxPlan); err == nil {
		plan, err = blueprint.Parse(name, text, info.ModTime())
	}
	for _, id := range Listed(p) {
		begun, failed := p.OfEpic(id).Plan()
		if failed != nil || begun.Epic.Source != name {
			continue
		}
		if text, failed = ReadFile(p.OfEpic(id).File(sourceFile), MaxPlan); err == nil && failed == nil {
			plan.Epic.ID, plan.Epic.CreatedAt = id, begun.Epic.CreatedAt
			if now, _ := plan.Epic.Encode(); !bytes.Equal(now, text) {
				told = []blueprint.Told{{File: name, Line: 1, Why: "it was edited after epic " + id + " began, and that epic keeps its plan"}}
			}
		}
		return text, told, failed
	}
	if err != nil {
		return nil, nil, err
	}
	text, err = plan.Epic.Encode()
	return text, plan.Told, err
}

// Copy puts the plan into the epic's folder, if it was edited since that was done last.
func (e *ListedEpic) Copy() error {
	p := e.Project
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	if err := p.EnsureIgnored(); err != nil || e.edited == nil {
		return err
	}
	if err := ReplacePrivate(p.File("epic.yml"), e.edited); err != nil {
		return err
	}
	return ReplacePrivate(p.File(sourceFile), e.edited)
}

// Completed reports whether the epic's ledger says that every task of its plan is completed and nothing else is left to do; and whether
// a person has to look at some.
func (e *ListedEpic) Completed() (done, looks bool, err error) {
	view, err := e.Project.View(e.Plan)
	if err != nil || !decide.EndReason(view.Ledger.Status.LastExitReason).Completes() {
		return false, false, err
	}
	for i := range e.Plan.Epic.Tasks {
		if view.Ledger.StatusOf(e.Plan.Graph, e.Plan.Epic.Tasks[i].ID) != attempts.Completed {
			return false, false, nil
		}
	}
	return true, len(decide.TasksToLookAt(e.Plan.Graph, view.Ledger, nil)) > 0, nil
}

// Base returns the commit that the i-th epic of the list begins from: the tip of the nearest one before it that has an integration
// branch; "" for the commit of the user's checkout, when that has all of this. Remarks are what a person should know of it. It fails with a
// *attempts.RefusedError when an epic that is to run in the checkout would lack earlier work.
func (l *List) Base(ctx context.Context, i int) (base string, remarks []string, err error) {
	p := l.Listed[i].Project
	head, err := p.Git.Head(ctx)
	if err != nil {
		return "", nil, err
	}
	from, lacks := "", []string(nil)
	for j := i - 1; j >= 0; j-- {
		before := l.Listed[j]
		tip, err := before.openTip(ctx, head)
		if err != nil {
			return "", nil, err
		}
		id := before.Plan.Epic.ID
		switch {
		case tip == "":
		case base == "":
			base, from = tip, id
		default:
			held, err := git.Contains(ctx, before.Project.Git, base, tip)
			if err != nil {
				return "", nil, err
			}
			if !held {
				lacks = append(lacks, id)
			}
		}
	}
	switch {
	case base == "":
		return "", nil, nil
	case engine.Isolation(p.Config.Relay.Isolation) != engine.IsolationWorktree:
		return "", nil, &attempts.RefusedError{
			Reason: "the work of epic " + from + " is on relay/" + from + ", and this checkout lacks it",
			Hint:   "relay work --isolation worktree goes on from there\nor type relay finish --epic " + from + ", then relay work",
		}
	}
	if len(lacks) > 0 {
		remarks = []string{"this epic begins from relay/" + from + ", which lacks the work of " + strings.Join(lacks, ", ") + ": the order of the list was another one"}
	}
	return base, remarks, nil
}

// openTip returns where the epic's integration branch ends; "" when there is none, or head has all of it.
func (e *ListedEpic) openTip(ctx context.Context, head string) (string, error) {
	view, err := attempts.Read(e.Project.Dir, nil, nil)
	if errors.Is(err, attempts.ErrNoLedger) {
		return "", nil
	}
	if err != nil || view.Ledger.Integration.Branch == "" {
		return "", err
	}
	if l := view.Ledger; l.Integration.Finished != "" && l.Landed != "" { // what is not there is as if it had not been finished
		if there, err := git.Contains(ctx, e.Project.Git, head, l.Landed); there || ctx.Err() != nil {
			return "", err
		}
	}
	return finish.Lacking(ctx, integration.NewBranch(e.Project.Git, e.Plan.Epic.ID, integration.Merge), head)
}

// ListedFolder is where the epics of playlists are, below relay's folder: each in a folder named by its id.
const ListedFolder = "epics"

// Listed returns the ids of the epics of playlists that relay has begun to work on in this repository, in order.
func Listed(p *Project) []string {
	entries, _ := os.ReadDir(filepath.Join(p.Home, ListedFolder)) // none: there is no such epic
	return each.Where(entries, func(e os.DirEntry) (string, bool) {
		return e.Name(), e.IsDir() && git.Exists(filepath.Join(p.Home, ListedFolder, e.Name(), "epic.yml"))
	})
}

// listedDir returns the folder of an epic of a playlist. It fails when there is none of that id.
func listedDir(p *Project, id string) (string, error) {
	ids := Listed(p)
	if slices.Contains(ids, id) {
		return p.OfEpic(id).Dir, nil
	}
	return "", &terminal.UsageError{Message: "there is no epic " + terminal.Quote(id) + " of a playlist here", Hint: nearestEpic(id, ids)}
}

// nearestEpic returns the hint for an epic of a playlist that is not there.
func nearestEpic(id string, ids []string) string {
	if len(ids) == 0 {
		return "relay work --playlist FILE makes them; without --epic, commands are about the epic of relay init"
	}
	near, found := epic.Nearest(id, ids)
	for _, there := range ids {
		if !found && strings.Contains(there, id) {
			near, found = there, true
		}
	}
	if found {
		return "did you mean " + near + "?"
	}
	return "there are: " + plaintext.Some(ids, 10)
}
