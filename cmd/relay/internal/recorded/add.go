package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// AddOptions are the flags of relay ledgersync add.
type AddOptions struct {
	JSON                                string // file with the entry, - for stdin; "": the flags say all
	Type, Action, Agent, Model, Session string
	Summary, Description, Intent        string
	Tags, Artifacts                     []string
}

// AddEntry appends one entry. Flags override a JSON file; id, time and place in the session are filled in.
func AddEntry(a *cli.App, p *project.Project, o AddOptions) error {
	e := new(ledgersync.Entry)
	if o.JSON != "" {
		if err := cli.ReadObject(a, o.JSON, e, "an entry", "relay ledgersync validate --schema prints what an entry has"); err != nil {
			return err
		}
	}
	if err := o.apply(e); err != nil {
		return err
	}
	return RecordEntry(a, p, e)
}

// RecordEntry is Append that says which entry was added.
func RecordEntry(a *cli.App, p *project.Project, e *ledgersync.Entry) error {
	if err := AppendEntry(a, p, e); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "added %s to %s\n", e.ID, p.Rel(ledgersync.Path(p.Root)))
	return err
}

// AppendEntry adds one entry to the ledger of a checkout. Id, time, author and place in the session are filled in where the entry
// has none, and secrets are taken out.
func AppendEntry(a *cli.App, p *project.Project, e *ledgersync.Entry) error {
	if err := fill(a, p, e); err != nil {
		return err
	}
	if err := CheckAuthor(e.Agent.Name); err != nil {
		return err
	}
	w, err := ledgersync.Open(p.Root, filepath.Base(p.Root), nil)
	if err != nil {
		return err
	}
	defer w.Close()
	line, err := w.Encode(e)
	if err != nil {
		hint := "relay ledgersync validate --schema prints what an entry needs"
		if e.Type != "" {
			hint = fmt.Sprintf("a %s needs more than flags can say: relay ledgersync add --json FILE (relay ledgersync validate --schema prints what)", e.Type)
		}
		return &terminal.Hinted{Err: err, Hint: hint}
	}
	if clean := a.Secrets.Text(string(line)); clean != string(line) { // the file is for others to read
		*e = ledgersync.Entry{}
		if err := json.Unmarshal([]byte(clean), e); err != nil {
			return fmt.Errorf("the entry holds a secret that cannot be taken out: %w", err)
		}
		a.Warn("a secret was taken out of the entry")
	}
	mended, err := w.Append(e)
	if mended != "" {
		a.Warn(mended)
	}
	return err
}

// CheckAuthor refuses the name under which relay itself writes, in capitals and with white space too.
func CheckAuthor(name string) error {
	if !strings.EqualFold(strings.Join(strings.Fields(plaintext.Clean(name)), ""), "relay") {
		return nil
	}
	return &terminal.UsageError{Message: fmt.Sprintf("%q is the name of relay itself", plaintext.Line(name)), Hint: "say who writes, by another name"}
}

func (o *AddOptions) apply(e *ledgersync.Entry) error {
	kind, err := typeOf(o.Type)
	if err != nil {
		return err
	}
	e.Type = cmp.Or(kind, e.Type)
	for to, value := range map[*string]string{
		&e.Action.Type: o.Action, &e.Agent.Name: o.Agent, &e.Agent.Model: o.Model, &e.Session.ID: o.Session,
		&e.Action.Description: o.Description, &e.Reasoning.Intent: o.Intent,
	} {
		if value != "" {
			*to = value
		}
	}
	if o.Summary != "" {
		e.SetSummary(o.Summary)
	}
	e.Tags = append(e.Tags, o.Tags...)
	for _, given := range o.Artifacts {
		path, action, _ := strings.Cut(given, ":")
		action = cmp.Or(action, ledgersync.Modified)
		if !slices.Contains([]string{ledgersync.Created, ledgersync.Modified, ledgersync.Deleted, ledgersync.Read}, action) {
			return &terminal.UsageError{Message: fmt.Sprintf("--artifact %s: %q is nothing that happens to a file", given, action), Hint: "write --artifact PATH:created, :modified, :deleted or :read"}
		}
		e.Artifacts = append(e.Artifacts, ledgersync.Artifact{Path: path, Action: action})
	}
	if e.Action.Summary == "" || e.Reasoning.Intent == "" {
		return &terminal.UsageError{Message: "an entry says what was done and why", Hint: "relay ledgersync add --summary WHAT --intent WHY"}
	}
	return nil
}

// fill adds what flags and files leave out: who writes, when, and where in its session it stands.
func fill(a *cli.App, p *project.Project, e *ledgersync.Entry) error {
	e.ID, e.Timestamp = cmp.Or(e.ID, uuid.NewString()), cmp.Or(e.Timestamp, ledgersync.Stamp(a.Now()))
	e.Agent.Name, e.Action.Type = cmp.Or(e.Agent.Name, "human"), cmp.Or(e.Action.Type, e.Type.Action())
	if e.Session.ID == "" {
		e.Session.ID = uuid.NewString()
		return nil
	}
	if e.Session.Index > 0 || e.Session.Parent != "" {
		return nil
	}
	last, err := ledgersync.Last(ledgersync.Path(p.Root), 1, ledgersync.Filter{Session: e.Session.ID})
	if err != nil || len(last) == 0 {
		return err
	}
	e.Session.Index, e.Session.Parent = last[0].Session.Index+1, last[0].ID
	return nil
}
