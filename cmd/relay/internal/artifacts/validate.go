package artifacts

import (
	"errors"
	"fmt"
	"io/fs"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/entries"
	"relay/internal/plaintext"
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
				f.Print(a)
			}
		}
		all.OK = all.OK && valid
		if valid && !asJSON {
			fmt.Fprintf(a.Out, "%s: a valid artifact%s\n", file, entries.Warned(warnings))
		}
	}
	return all.End(a, asJSON)
}
