package recorded

import (
	"errors"
	"io/fs"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/epic/plaintext"
)

// ValidateArtifacts prints every problem of files with its line. It fails when there are some that are more than warnings, and when
// a file is not there.
func ValidateArtifacts(a *cli.App, files []string, asJSON bool) error {
	v, err := artifact.NewValidator()
	if err != nil {
		return err
	}
	all := NewAnswer(a, asJSON)
	for _, file := range files {
		content, err := plaintext.ReadFile(a.Path(file), artifact.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			return lackingArtifact(file)
		}
		if err != nil {
			return err
		}
		if err := all.Check(file, func(found func(artifact.Problem)) (string, error) {
			for _, p := range v.Validate(content) {
				found(p)
			}
			return "a valid artifact", nil
		}); err != nil {
			return err
		}
	}
	return all.End()
}
