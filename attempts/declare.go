package attempts

import (
	"strings"

	"relay/attempts/internal/durable"
	"relay/epic/plaintext"
)

// mostDeclared is how many files a gate names.
const mostDeclared = 10

// DeclaredFiles returns the line of epic.yml by which a task declares files, with the first ten of them.
func DeclaredFiles(files []string) string {
	shown := make([]string, 0, mostDeclared)
	for _, file := range files[:min(len(files), mostDeclared)] {
		shown = append(shown, durable.YAMLScalar(plaintext.Capped(file, 200)))
	}
	if len(files) > mostDeclared {
		shown = append(shown, "…")
	}
	return "files: [" + strings.Join(shown, ", ") + "]"
}
