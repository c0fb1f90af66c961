package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// DiscussionOptions are the flags of relay discuss append.
type DiscussionOptions struct {
	JSON      string   // file with the input of the action, - for stdin; "": the flags say all
	Positions []string // "BY: STANCE: RATIONALE"
	discussion.Input
}

// AppendDiscussion records a new discussion.
func AppendDiscussion(ctx context.Context, a *cli.App, o *DiscussionOptions) error {
	input, err := o.input(a)
	if err != nil {
		return err
	}
	_, err = do(ctx, a, discussion.ActionAppend, input, o.JSON != "")
	return err
}

func (o *DiscussionOptions) input(a *cli.App) ([]byte, error) {
	if o.JSON != "" {
		return cli.ReadInput(a, o.JSON)
	}
	o.Input.Positions = []discussion.Position{}
	for _, given := range o.Positions {
		parts := strings.SplitN(given, ": ", 3)
		if len(parts) < 3 {
			return nil, &terminal.UsageError{
				Message: fmt.Sprintf("--position %q does not say who, what and why", plaintext.Line(given)),
				Hint:    `write it as --position "BY: STANCE: RATIONALE"`,
			}
		}
		o.Input.Positions = append(o.Input.Positions, discussion.Position{By: parts[0], Stance: parts[1], Rationale: parts[2]})
	}
	return json.Marshal(o.Input)
}

// Discuss does an action, prints what came of it as text or as JSON, and returns it.
func Discuss(ctx context.Context, a *cli.App, action string, in discussion.Input, asJSON bool) (discussion.Answer, error) {
	input, err := json.Marshal(in)
	if err != nil {
		return discussion.Answer{}, err
	}
	return do(ctx, a, action, input, asJSON)
}

func do(ctx context.Context, a *cli.App, action string, input []byte, asJSON bool) (discussion.Answer, error) {
	said, err := CallDiscussion(ctx, a, action, input)
	if err == nil {
		err = printAnswer(a, action, said, asJSON)
	}
	return said, err
}

func printAnswer(a *cli.App, action string, said discussion.Answer, asJSON bool) error {
	if asJSON {
		text, err := json.Marshal(said)
		return errors.Join(err, a.PrintJSON(json.RawMessage(a.Secrets.Text(string(text)))))
	}
	id := plaintext.Line(said.ID)
	switch action {
	case discussion.ActionAppend:
		fmt.Fprintf(a.Out, "added %s\n", path.Join(discussion.Folder, said.ID+".yaml"))
	case discussion.ActionLink:
		fmt.Fprintf(a.Out, "linked %s\n", id)
	case discussion.ActionMark:
		fmt.Fprintf(a.Out, "%s is %s\n", id, plaintext.Line(string(said.Status)))
	case discussion.ActionReplay:
		fmt.Fprint(a.Out, plaintext.Clean(a.Secrets.Text(said.Narrative)))
	}
	for _, t := range slices.Concat(said.Threads, said.All) {
		fmt.Fprintf(a.Out, "%-10s  %s\n  %s\n", plaintext.Line(string(t.Status)), plaintext.Line(a.Secrets.Text(t.Topic)), plaintext.Line(t.ID))
	}
	if action == discussion.ActionOpen && len(said.Threads) == 0 {
		fmt.Fprintln(a.Err, "no discussion is open")
	}
	return a.Out.Failure()
}

// ActionSchema prints the JSON Schema of what an action takes.
func ActionSchema(a *cli.App, action string) error {
	actions, err := discussion.Actions()
	if err != nil {
		return err
	}
	for _, there := range actions {
		if there.Name == action {
			return a.PrintJSON(there.Input)
		}
	}
	return nil
}

// CallDiscussion does an action on the ledger of the checkout. In an attempt that is the ledger of the checkout in which the run was
// started. A process in the sandbox cannot write there, so its run does it.
func CallDiscussion(ctx context.Context, a *cli.App, action string, input []byte) (answer discussion.Answer, err error) {
	if socket := session.SocketOfRun(ctx, a); socket != "" {
		text, warnings, err := session.AskInside(ctx, socket, []string{"discuss", action}, input)
		if warnings != "" {
			fmt.Fprintln(a.Err, "relay: "+strings.ReplaceAll(warnings, "\n", "\nrelay: "))
		}
		if err == nil {
			return answer, json.Unmarshal([]byte(text), &answer)
		}
		message, hint, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error: "), "\nhint: ")
		return answer, &terminal.Hinted{Err: errors.New(message), Hint: strings.ReplaceAll(hint, "\nhint: ", "\n")}
	}
	p, err := a.Repository(ctx)
	if err != nil {
		return answer, err
	}
	top, inside := cli.CheckoutOfRun(ctx, a, p)
	by := author(ctx, a, p, inside)
	if err := checkAuthors(by, input); err != nil {
		return answer, err
	}
	secret := false
	l, err := discussion.Open(top, discussion.Options{By: by, Now: a.Now, Clean: func(text string) string {
		clean := a.Secrets.Text(text)
		secret = secret || clean != text
		return clean
	}})
	if err != nil {
		return answer, err
	}
	defer l.Close()
	answer, err = l.Call(action, input)
	for _, w := range answer.Warnings {
		a.Warn(plaintext.Line(w))
	}
	if err != nil {
		return answer, explained(err)
	}
	if secret {
		a.Warn("a secret was taken out of the discussion")
	}
	return answer, nil
}

// DiscussIn does an action on discussions as a command inside this process does, and answers with JSON.
func DiscussIn(ctx context.Context, s *cli.Inner, action string, input []byte) (answer, warnings string, err error) {
	a, _, told := s.Heard()
	found, err := CallDiscussion(ctx, a, action, input)
	if err != nil {
		a.ReportError(err)
		return "", "", errors.New(cli.WithoutName(told.String()))
	}
	text, err := json.Marshal(found)
	return string(text), cli.WithoutName(told.String()), err
}

// checkAuthors refuses what would be written as of relay itself.
func checkAuthors(by string, input []byte) error {
	var in struct{ Positions []struct{ By string } }
	_ = json.Unmarshal(input, &in) // the action says what is wrong
	err := CheckAuthor(by)
	for _, p := range in.Positions {
		err = errors.Join(err, CheckAuthor(p.By))
	}
	return err
}

func explained(err error) error {
	unknown, isUnknown := errors.AsType[*discussion.UnknownError](err)
	_, isInvalid := errors.AsType[*discussion.InvalidError](err)
	_, isAmbiguous := errors.AsType[*discussion.AmbiguousError](err)
	isForm := errors.Is(err, discussion.ErrForm)
	message := plaintext.Line(err.Error())
	switch {
	case isUnknown && unknown.Nearest != "":
		return &terminal.UsageError{Message: message, Hint: "did you mean " + plaintext.Line(unknown.Nearest) + "?"}
	case isUnknown:
		return &terminal.UsageError{Message: message, Hint: "relay discuss open lists those that are open; all are in " + discussion.Folder}
	case isAmbiguous:
		return &terminal.UsageError{Message: message, Hint: "type more of it"}
	case isInvalid:
		return &terminal.UsageError{Message: message, Hint: "relay discuss append --schema prints what a discussion needs; --help of a command says what it takes"}
	case isForm:
		return &terminal.Hinted{Err: errors.New(message), Hint: "write it as relay does: without aliases, and history and links as lists"}
	}
	return err
}

// author says who types the command: the agent's runner and attempt, or the name that git knows.
func author(ctx context.Context, a *cli.App, p *project.Project, inside bool) string {
	if by := agent(a); inside && by != "" {
		return by
	}
	out, err := p.Git.Run(ctx, git.Call{Args: []string{"config", "user.name"}})
	if name := plaintext.Line(string(out)); err == nil && name != "" {
		return name
	}
	return "human"
}

// agent names the attempt that has started this process, as in "codex T1/2", by what relay has put into its environment; "": none has.
func agent(a *cli.App) string {
	mark := append(strings.SplitN(a.Lookup("RELAY_ATTEMPT"), "/", 4), "", "", "")
	task, attempt := mark[1], mark[2]
	if task == "" || attempt == "" {
		return ""
	}
	name := task + "/" + attempt
	if role := mark[3]; role != "" { // of another runner than the attempt's
		return name + " " + role
	}
	view, err := attempts.Read(a.Lookup("RELAY_DIR"), nil, nil)
	if err != nil {
		return name
	}
	for _, there := range view.Ledger.Record(task).Attempts {
		if strconv.Itoa(there.ID) == attempt && there.Runner != "" {
			return there.Runner + " " + name
		}
	}
	return name
}
