package artifacts

import (
	"errors"
	"fmt"
	"io/fs"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/entries"
	"relay/cmd/relay/internal/exit"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
)

// Validate prints every problem of files with its line. It fails when there are some that are more than warnings, and when
// a file is not there.
func Validate(a *cli.App, files []string, asJSON bool) error {
	v, err := artifact.NewValidator()
	if err != nil {
		return err
	}
	all := entries.Answer{OK: true, Faults: []entries.Fault{}}
	for _, file := range files {
		content, err := artifact.ReadText(a.Path(file))
		if errors.Is(err, fs.ErrNotExist) {
			return missing(file)
		}
		if err != nil {
			return err
		}
		valid, warnings := true, 0
		for _, p := range v.Validate(content) {
			f := entries.Fault{File: file, Line: p.Line, Message: plaintext.Escape(p.Message), Hint: plaintext.Escape(p.Hint), Warning: p.Warning}
			all.Faults = append(all.Faults, f)
			if valid = valid && p.Warning; p.Warning {
				warnings++
			}
			if !asJSON {
				printFault(a, f)
			}
		}
		all.OK = all.OK && valid
		if valid && !asJSON {
			fmt.Fprintf(a.Out, "%s: a valid artifact%s\n", file, warned(warnings))
		}
	}
	if asJSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	}
	if !all.OK {
		return exit.Code(exit.Failure)
	}
	return nil
}

func printFault(a *cli.App, f entries.Fault) {
	kind := ""
	if f.Warning {
		kind = "warning: "
	}
	fmt.Fprintf(a.Out, "%s:%d: %s%s\n  %s\n", f.File, f.Line, kind, f.Message, f.Hint)
}

func warned(n int) string {
	if n == 0 {
		return ""
	}
	return ", with " + text.Count(n, "warning")
}
