package gemini

import (
	"os"
	"strings"

	"relay/runners"
)

// escapingNote begins a prompt with an @ in it.
const escapingNote = "In what follows every @ is written \\@, so that your CLI takes no word for the name of a file to read out to you.\n" +
	"Read \\@ as @, and write a plain @ yourself.\n\n"

// stdin returns the file with the prompt as the CLI can take it. In a plain prompt it reads out every file and folder
// that a word after an @ fits, or looks through the whole repository for one: a decorator or the name of a package in a
// brief may bring megabytes. A prompt that begins with a slash it takes for a command.
func (g *Runner) stdin(req runners.Request) (string, error) {
	if req.Ended {
		return req.Prompt, nil
	}
	text, err := os.ReadFile(req.Prompt)
	if err != nil {
		return "", err
	}
	if s, changed := escaped(string(text)); changed {
		safe := req.Prompt + ".stdin"
		return safe, os.WriteFile(safe, []byte(s), 0o600)
	}
	return req.Prompt, nil
}

// escaped returns a prompt as the CLI can take it, and whether that is another text.
func escaped(text string) (string, bool) {
	if strings.Contains(text, "@") || strings.HasPrefix(strings.TrimSpace(text), "/") {
		return escapingNote + strings.ReplaceAll(text, "@", `\@`), true
	}
	return text, false
}
