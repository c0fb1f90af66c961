package agentlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/sessionkeeper"
)

// SessionView is the agents ledger of a project, and where it is shown.
type SessionView struct {
	App    *cli.App
	Ledger *sessions.Reader
	JSON   bool
}

// WithSessions opens the agents ledger of a project for as long as f reads it. Errors have a hint.
func WithSessions(ctx context.Context, a *cli.App, p *project.Project, f func(*sessions.Reader) error) error {
	ledger, err := sessions.OpenReadOnly(ctx, p.File())
	if err != nil {
		return Hinted(err)
	}
	ledger.Clean = a.Secrets.Text
	return Hinted(errors.Join(f(ledger), ledger.Close()))
}

// Hinted adds to an error of the ledger, or of an import, what to do about it.
func Hinted(err error) error {
	if err == nil {
		return nil
	}
	for kind, hint := range map[error]string{
		sessions.ErrMissing:        "relay work writes it; relay sessions import reads in what earlier runs have left",
		sessions.ErrFull:           "make room on that disk, then type the command again: nothing is lost",
		sessionkeeper.ErrNoAttempt: "name a run by its folder in runs/, or a path below that",
		sessionkeeper.ErrNoOwn:     "name the file or folder: relay sessions import --from PROGRAM PATH",
		sessions.ErrForeign:        "move that file elsewhere: relay leaves it as it is; relay sessions import makes a new one",
		sessions.ErrNewer:          "use the newer relay",
		sessions.ErrDamaged:        "relay sessions import puts it aside and reads everything in again",
		sessions.ErrLocked:         "type the command again when that process is done",
		sessions.ErrNotRead:        "the tables are agent_sessions, agent_messages, agent_turns and agent_tool_calls: docs/sessions.md has examples",
		sessions.ErrUnknown:        "relay sessions list prints sessions, relay sessions turns SESSION the turns of one",
		sessions.ErrAmbiguous:      "write more of the id",
		sessions.ErrNoTurn:         "relay sessions turns SESSION prints the turns, the first is 1",
		sessions.ErrTooLong:        "ask for less, or give it more time with --time",
	} {
		if errors.Is(err, kind) {
			return &terminal.Hinted{Err: err, Hint: hint}
		}
	}
	return err
}

// List prints sessions, the oldest first.
func (v *SessionView) List(ctx context.Context, f sessions.Filter) error {
	list, err := v.Ledger.List(ctx, f)
	for i := range list { // the first event of a stream is long, and relay sessions show has it
		list[i].RawJSON, list[i].ContextJSON = "", ""
	}
	if done, err := shown(v, list, err, "no session matches"); done {
		return err
	}
	for i := range list {
		fmt.Fprintf(v.App.Out, "%s  %s\n", v.line(list[i].ID), v.line(about(&list[i].Session, list[i].Origin)))
	}
	return nil
}

func about(s *sessions.Session, o sessions.Origin) string {
	line := when(s.CreatedAt) + "  " + s.Source
	if s.Model != "" {
		line += " " + s.Model
	}
	if from := origin(o); from != "" {
		line += "  " + from
	}
	line += "  " + plaintext.Count(int(s.MessageCount), "message")
	if s.IsSubagent {
		line += "  subagent: " + plaintext.FirstOf(s.TaskDescription, "of "+s.ParentSession)
		if s.TaskStatus != "" {
			line += " (" + s.TaskStatus + ")"
		}
	}
	return line
}

func origin(o sessions.Origin) string {
	if o.Run == "" {
		return ""
	}
	line := "run " + o.Run
	if o.Task != "" {
		line = o.Task
		if o.Attempt > 0 {
			line += fmt.Sprintf(" attempt %d", o.Attempt)
		}
		line += " of run " + o.Run
	}
	if o.Reviewer != "" {
		line += ", reviewer " + o.Reviewer
	}
	return line
}

// when is a time of the ledger; "-" where there is none.
func when(ms int64) string {
	if ms <= 0 {
		return "-"
	}
	return time.UnixMilli(ms).Format(time.DateTime)
}

// most bounds what is looked through for secrets in one text.
const most = 256 << 10

// clean takes the secrets out of a text before it is cut: half a secret is not known for one.
func (v *SessionView) clean(s string) string {
	return v.App.Secrets.Text(plaintext.Clean(plaintext.Head(s, most)))
}

func (v *SessionView) line(s string) string {
	return plaintext.Clip(plaintext.Line(v.clean(s)), lineWidth)
}

const lineWidth = 300

// printJSON prints a value with the secrets taken out of its texts: of those that have the form of one, as well as of those that relay
// knows.
func (v *SessionView) printJSON(value any) error {
	clean := v.App.Secrets.Text
	return v.App.PrintJSON(plaintext.CleanAll(plaintext.Cleaner{Line: clean, Block: clean, Own: clean, Most: math.MaxInt}, value))
}

// shown prints a list as JSON, if that is wanted, and says what is missing when it is empty. It is done then, and after an error.
func shown[T any](v *SessionView, list []T, err error, none string) (done bool, _ error) {
	switch {
	case err != nil:
		return true, err
	case v.JSON:
		return true, v.printJSON(append([]T{}, list...)) // nil would be printed as null
	case len(list) == 0:
		fmt.Fprintln(v.App.Err, "relay: note: "+none)
		return true, nil
	}
	return false, nil
}
