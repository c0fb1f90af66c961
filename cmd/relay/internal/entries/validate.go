package entries

import (
	"errors"
	"fmt"
	"io/fs"

	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
)

// Fault is one problem of a file, as relay's validate commands print it as JSON.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning,omitempty"`
}

// Answer is what relay's validate commands print as JSON.
type Answer struct {
	OK     bool    `json:"ok"`
	Faults []Fault `json:"faults"`
}

// Validate prints every problem of the ledger with its line. It fails when there are some that are more than warnings.
func Validate(a *cli.App, p *project.Project, asJSON bool) error {
	path := ledgersync.Path(p.Root)
	file, err := ledgersync.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(p, path)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	v, err := ledgersync.NewValidator()
	if err != nil {
		return err
	}
	answer := Answer{OK: true, Faults: []Fault{}}
	warnings := 0
	entries, err := v.Validate(file, func(found ledgersync.Problem) {
		f := Fault{File: p.Rel(path), Line: found.Line, Message: plaintext.Escape(found.Message), Hint: found.Hint, Warning: found.Warning}
		if answer.OK = answer.OK && f.Warning; f.Warning {
			warnings++
		}
		if asJSON {
			answer.Faults = append(answer.Faults, f)
			return
		}
		f.Print(a)
	})
	if err != nil {
		return err
	}
	if answer.OK && !asJSON {
		fmt.Fprintf(a.Out, "%s: every line is a valid entry (%d)%s\n", p.Rel(path), entries, Warned(warnings))
	}
	return answer.End(a, asJSON)
}

// Print prints a fault for a person.
func (f *Fault) Print(a *cli.App) {
	kind := ""
	if f.Warning {
		kind = "warning: "
	}
	fmt.Fprintf(a.Out, "%s:%d: %s%s\n  %s\n", f.File, f.Line, kind, f.Message, f.Hint)
}

// End prints the answer as JSON, if that is wanted, and returns its exit code as an error.
func (r *Answer) End(a *cli.App, asJSON bool) error {
	if asJSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	}
	if !r.OK {
		return exit.Code(exit.Failure)
	}
	return nil
}

// Warned says how many warnings there are of what is valid.
func Warned(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + text.Count(n, "warning")
}
