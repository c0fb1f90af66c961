package recorded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// NewOptions are the flags of relay artifact new.
type NewOptions struct {
	JSON                              string // file with fields, - for stdin; "": the flags say all
	Goal, Now, Outcome, Session, Bead string
	Next                              []string
}

// NewArtifact writes an artifact of what the user says, and of where the repository stands.
func NewArtifact(ctx context.Context, a *cli.App, p *project.Project, mode string, o NewOptions) error {
	m := artifact.Mode(mode)
	if !slices.Contains(artifact.Modes(), m) {
		return &terminal.UsageError{Message: fmt.Sprintf("there is no mode %q of artifacts", mode), Hint: "it is one of " + names(artifact.Modes())}
	}
	f, err := o.fields(a)
	if err != nil {
		return err
	}
	if strings.TrimSpace(f.Goal) == "" || strings.TrimSpace(f.Now) == "" {
		return &terminal.UsageError{Message: "an artifact says what the goal is and what stands next", Hint: fmt.Sprintf("relay artifact new %s --goal TEXT --now TEXT", mode)}
	}
	if artifact.RequiresBead(m) && f.PrimaryBead == "" {
		return &terminal.UsageError{Message: fmt.Sprintf("a %s names what the work is about", mode), Hint: fmt.Sprintf("relay artifact new %s --bead ID: of a ticket, a bead or an epic", mode)}
	}
	usual := artifact.PartialPlus
	if m == artifact.Finalize {
		usual = artifact.Succeeded
	}
	session := plaintext.FirstOf(f.Session, f.PrimaryBead, filepath.Base(p.Root))
	head := artifact.New(m, f.Goal, f.Now, usual, artifact.Origin{Date: a.Now(), Session: session})
	f.Version, f.Mode, f.Date, f.Session, f.Goal, f.Now = head.Version, m, cmp.Or(f.Date, head.Date), head.Session, head.Goal, head.Now
	f.Outcome = cmp.Or(f.Outcome, head.Outcome)
	if f.Git == nil {
		f.Git = GitOf(ctx, p)
	}
	return WriteArtifact(a, p, f, f.Session)
}

// fields returns the fields that the user gives: those of flags replace those of a file.
func (o *NewOptions) fields(a *cli.App) (*artifact.Artifact, error) {
	f := &artifact.Artifact{}
	if o.JSON != "" {
		text, err := cli.ReadInput(a, o.JSON)
		if err != nil {
			return nil, err
		}
		f, _, err = artifact.Decode(text)
		if err == nil && len(f.Extra) > 0 {
			err = fmt.Errorf("artifacts do not have the field %s", strings.Join(slices.Sorted(maps.Keys(f.Extra)), ", "))
		}
		if err != nil {
			return nil, &terminal.Hinted{Err: fmt.Errorf("%s: %w", cli.InputName(o.JSON), err), Hint: "relay artifact validate --schema prints the fields"}
		}
	}
	outcome, err := outcomeOf(o.Outcome)
	f.Outcome, f.PrimaryBead, f.Session = cmp.Or(outcome, f.Outcome), cmp.Or(o.Bead, f.PrimaryBead), cmp.Or(o.Session, f.Session)
	f.Goal, f.Now = cmp.Or(o.Goal, f.Goal), cmp.Or(o.Now, f.Now)
	if len(o.Next) > 0 {
		f.Next = o.Next
	}
	return f, err
}

// OutcomeNames lists the outcomes.
func OutcomeNames() string { return names(artifact.Outcomes()) }

func names[T ~string](list []T) string {
	return strings.Join(each.Of(list, func(t T) string { return string(t) }), ", ")
}

// outcomeOf reads an outcome that a user has typed; "" is none.
func outcomeOf(name string) (artifact.Outcome, error) {
	o, ok := artifact.ParseOutcome(name)
	if name == "" || ok {
		return o, nil
	}
	return "", &terminal.UsageError{Message: fmt.Sprintf("there is no outcome %q", name), Hint: "it is one of " + OutcomeNames()}
}

// GitOf is the branch of a checkout and its commit; nil when it is on none, or has none yet.
func GitOf(ctx context.Context, p *project.Project) *artifact.Git {
	branch, err := p.Git.Branch(ctx)
	if err != nil || branch == "" {
		return nil
	}
	commit, err := p.Git.Head(ctx)
	if err != nil || commit == "" {
		return nil
	}
	return &artifact.Git{Branch: strings.TrimPrefix(branch, "refs/heads/"), Commit: commit}
}

// WriteArtifact writes an artifact under a name that no other file has and that begins with a title, and says so. Secrets are taken out.
func WriteArtifact(a *cli.App, p *project.Project, f *artifact.Artifact, title string) error {
	if err := CheckAuthor(f.AgentID); err != nil {
		return err
	}
	w, err := artifact.Open(p.Root, nil)
	if err != nil {
		return err
	}
	defer w.Close()
	content, err := w.Encode(f)
	if err != nil {
		return &terminal.Hinted{Err: err, Hint: "relay artifact validate --schema prints what an artifact needs"}
	}
	if clean := a.Secrets.Text(string(content)); clean != string(content) { // the file is for others to read
		f, _, err = artifact.Decode([]byte(clean))
		if err != nil {
			return fmt.Errorf("the artifact holds a secret that cannot be taken out: %w", err)
		}
		title = a.Secrets.Text(title)
		a.Warn("a secret was taken out of the artifact")
	}
	name, added, err := w.Add(f, title)
	if err != nil {
		return err
	}
	said := "added " + name
	if !added {
		said = name + " is there already"
	}
	_, err = fmt.Fprintln(a.Out, said)
	return err
}

// ImportOptions are the flags of relay artifact import. They go before what the files say.
type ImportOptions struct{ Outcome, Session, Bead string }

// ImportArtifacts writes an artifact for each older file. The files stay. A file that cannot be imported ends it.
func ImportArtifacts(a *cli.App, p *project.Project, files []string, o ImportOptions) error {
	outcome, err := outcomeOf(o.Outcome)
	if err != nil {
		return err
	}
	for _, file := range files {
		f, err := read(a, file, artifact.Legacy{Outcome: outcome, Session: o.Session, Bead: o.Bead})
		if err != nil {
			return err
		}
		if err := WriteArtifact(a, p, f, artifact.Title(file)); err != nil {
			return err
		}
	}
	return nil
}

func read(a *cli.App, file string, l artifact.Legacy) (*artifact.Artifact, error) {
	path := a.Path(file)
	content, err := plaintext.ReadFile(path, artifact.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &terminal.Hinted{Err: fmt.Errorf("there is no %s", file), Hint: "older handoffs and checkpoints are in .handoff and .checkpoint, if there are any"}
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if l.Path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	l.Text, l.Modified = content, info.ModTime()
	f, err := l.Import()
	switch {
	case errors.Is(err, artifact.ErrNoOutcome):
		return nil, &terminal.Hinted{Err: fmt.Errorf("%s: %w", file, err), Hint: "say it: relay artifact import --outcome " + string(artifact.PartialPlus) + " " + file + "\nit is one of " + OutcomeNames()}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}
