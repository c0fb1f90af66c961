package recorded

import (
	"fmt"

	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
)

// Fault is one problem of a file, as relay's validate commands print it as JSON.
type Fault struct {
	File string `json:"file"`
	ledgersync.Problem
}

// Answer is what relay's validate commands print as JSON. Without JSON they print each fault as it is found.
type Answer struct {
	OK     bool    `json:"ok"`
	Faults []Fault `json:"faults"`

	app    *cli.App
	asJSON bool
}

// NewAnswer begins an answer.
func NewAnswer(a *cli.App, asJSON bool) *Answer {
	return &Answer{OK: true, Faults: []Fault{}, app: a, asJSON: asJSON}
}

// Check adds the faults that a check of a file finds. The check says in words what is valid when the faults are no more than warnings.
func (r *Answer) Check(file string, check func(found func(ledgersync.Problem)) (valid string, err error)) error {
	ok, warnings := true, 0
	valid, err := check(func(p ledgersync.Problem) {
		p.Message, p.Hint = plaintext.Escape(p.Message), plaintext.Escape(p.Hint)
		kind := ""
		if ok = ok && p.Warning; p.Warning {
			kind = "warning: "
			warnings++
		}
		if r.asJSON {
			r.Faults = append(r.Faults, Fault{file, p})
			return
		}
		fmt.Fprintf(r.app.Out, "%s:%d: %s%s\n  %s\n", file, p.Line, kind, p.Message, p.Hint)
	})
	if err != nil {
		return err
	}
	r.OK = r.OK && ok
	if ok && !r.asJSON {
		if warnings > 0 {
			valid += ", with " + plaintext.Count(warnings, "warning")
		}
		fmt.Fprintf(r.app.Out, "%s: %s\n", file, valid)
	}
	return nil
}

// End prints the answer as JSON, if that is wanted, and returns its exit code as an error.
func (r *Answer) End() error {
	return cli.PrintJudged(r.app, r.OK, r.asJSON, r)
}

// ValidateEntries prints every problem of the ledger with its line. It fails when there are some that are more than warnings.
func ValidateEntries(a *cli.App, p *project.Project, asJSON bool) error {
	path := ledgersync.Path(p.Root)
	file, err := openLedger(p, path)
	if err != nil {
		return err
	}
	defer file.Close()
	v, err := ledgersync.NewValidator()
	if err != nil {
		return err
	}
	answer := NewAnswer(a, asJSON)
	err = answer.Check(p.Rel(path), func(found func(ledgersync.Problem)) (string, error) {
		entries, err := v.Validate(file, found)
		return fmt.Sprintf("every line is a valid entry (%d)", entries), err
	})
	if err != nil {
		return err
	}
	return answer.End()
}
