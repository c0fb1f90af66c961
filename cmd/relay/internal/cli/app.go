package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/runners"
)

// App is one invocation of relay: streams, environment, clock, and the folder the user is in.
type App struct {
	In      io.Reader
	Out     *terminal.Writer // answers
	Err     *terminal.Writer // progress and messages
	Environ []string
	Secrets *secrets.Redactor // of what users see and hosts get
	Dir     string            // value of -C; "" : the working directory
	When    string            // value of --color
	Epic    string            // value of --epic; "" : the epic in relay's folder
	Now     func() time.Time
	Engines map[string]engine.Factory // see orchestrator.Options
	Engine  string
	Wire    engine.Wire      // between a run and its engine; nil: none
	Further []*cobra.Command // of another module
	Beyond  Beyond           // nil: attempts are carried out on this machine
}

// Beyond checks what else attempts from the checkout root need, and adds points to those of relay check.
type Beyond func(ctx context.Context, root string, ask bool, add func(state, name, message, fix string))

// Colour has both outputs coloured as --color and the environment say. It fails for a mistake in --color.
func (a *App) Colour() error {
	for _, w := range []*terminal.Writer{a.Out, a.Err} {
		if err := w.Colour(a.When, a.Lookup); err != nil {
			return &terminal.UsageError{Message: err.Error(), Hint: "relay --color=never COMMAND prints no colours"}
		}
	}
	return nil
}

// Lookup returns the value of an environment variable, or "".
func (a *App) Lookup(name string) string {
	return runners.Variable(a.Environ, name)
}

// Folder returns the absolute path of the folder the user is in. It fails when -C names none.
func (a *App) Folder() (string, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &terminal.Hinted{Err: fmt.Errorf("there is no folder %s", dir), Hint: "-C names the folder to work in: relay -C DIR status"}
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", &terminal.Hinted{Err: fmt.Errorf("%s is not a folder", a.Dir), Hint: "-C names the folder to work in: relay -C DIR status"}
	}
	return dir, nil
}

// Path returns a path as the user wrote it, below the folder of -C when it is relative.
func (a *App) Path(written string) string {
	if filepath.IsAbs(written) || a.Dir == "" {
		return written
	}
	return filepath.Join(a.Dir, written)
}

// ReadInput reads a small file that a flag names, - for stdin.
func ReadInput(a *App, from string) ([]byte, error) {
	if from == "-" {
		return io.ReadAll(io.LimitReader(a.In, artifact.MaxSize))
	}
	return project.ReadFile(a.Path(from), artifact.MaxSize)
}

// InputName returns the name of an input in messages.
func InputName(from string) string {
	if from == "-" {
		return "stdin"
	}
	return from
}

// ReadObject reads one JSON object as [ReadInput] does, and refuses keys that it does not know. The error says that the input is not what
// is wanted, such as "an entry", and has the hint.
func ReadObject(a *App, from string, to any, what, hint string) error {
	content, err := ReadInput(a, from)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	err = dec.Decode(to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("field %s: a %s is not what it takes", wrong.Field, wrong.Value)
	}
	if _, more := dec.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("there is more than one object")
	}
	if err != nil {
		return &terminal.Hinted{Err: fmt.Errorf("%s is not %s: %w", InputName(from), what, err), Hint: hint}
	}
	return nil
}

// PrintJSON prints one value as the whole answer of a command.
func (a *App) PrintJSON(v any) error { return plaintext.WriteJSON(a.Out, v, "  ") }

// Print prints the answer of a command: as JSON, or as lines.
func Print(a *App, asJSON bool, v any, lines ...string) error {
	if asJSON {
		return a.PrintJSON(v)
	}
	for _, line := range lines {
		fmt.Fprintln(a.Out, line)
	}
	return nil
}

// PrintJudged is Print, with exit code 1 of what is not well.
func PrintJudged(a *App, well, asJSON bool, v any, lines ...string) error {
	err := Print(a, asJSON, v, lines...)
	if err == nil && !well {
		err = terminal.ExitCode(terminal.Failure)
	}
	return err
}

// CanAsk reports whether stdin is a terminal, so that a person can answer.
func (a *App) CanAsk() bool {
	f, ok := a.In.(*os.File)
	return ok && terminal.IsTerminal(f)
}

// Confirm asks a person a question, and reports whether the answer is yes.
func (a *App) Confirm(question string) bool { return a.answers(question+" [y/N] ", "y", "yes") }

// Agree is Confirm for what most people want: an empty line is a yes, and the end of the input is not.
func (a *App) Agree(question string) bool { return a.answers(question+" [Y/n] ", "y", "yes", "") }

func (a *App) answers(question string, yes ...string) bool {
	fmt.Fprint(a.Err, question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(a.Err)
		return false
	}
	return slices.Contains(yes, strings.ToLower(strings.TrimSpace(answer)))
}

// Sure asks whether to do something, such as "remove 3 items", unless --yes was given. Where that cannot be asked it fails, with the hint.
// It asks nothing, and returns false, where there is nothing to do.
func (a *App) Sure(nothing, yes, json bool, what, hint string) (bool, error) {
	switch {
	case nothing:
		return false, nil
	case !yes && (json || !a.CanAsk()):
		return false, &terminal.UsageError{Message: "stdin is not a terminal: relay cannot ask whether to " + what, Hint: hint}
	}
	return yes || a.Confirm(what+"?"), nil
}

// Raw returns the output for what agents and commands wrote: unchanged for files and pipes, harmless for a terminal.
func (a *App) Raw() io.Writer {
	if terminal.IsTerminal(a.Out.Dest) {
		return a.Out
	}
	return a.Out.Dest
}

// ParseAge reads the age of --older-than, such as 12h, 30d or 8w. The error is a usage error.
func ParseAge(words string) (time.Duration, error) {
	hours, factor := words, time.Duration(1)
	for unit, days := range map[string]time.Duration{"d": 1, "w": 7} {
		if number, ok := strings.CutSuffix(words, unit); ok {
			hours, factor = number+"h", 24*days
		}
	}
	age, err := time.ParseDuration(hours)
	if err != nil || age < 0 || age > math.MaxInt64/factor {
		return 0, &terminal.UsageError{Message: "--older-than " + plaintext.Fit(words, 40) + " is no age", Hint: "such as 12h, 30d or 8w"}
	}
	return age * factor, nil
}

// ReportError tells the user of an error and returns the exit code that belongs to it.
func (a *App) ReportError(err error) int {
	var code terminal.ExitCode
	switch {
	case err == nil:
		return terminal.OK
	case errors.As(err, &code):
		return int(code)
	}
	d := terminal.Diagnose(err)
	for _, m := range d.Messages {
		for row := range strings.SplitSeq(m, "\n") {
			fmt.Fprintf(a.Err, "relay: %s %s\n", a.Err.Palette.Bad("error:"), a.Secrets.Text(row))
		}
	}
	for row := range strings.Lines(d.Hint) {
		if !strings.HasPrefix(row, " ") { // else it belongs to an example
			row = "relay: hint: " + row
		}
		fmt.Fprintln(a.Err, strings.TrimSuffix(row, "\n"))
	}
	return d.Code
}
