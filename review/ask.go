package review

import (
	"context"
	"errors"
	"fmt"
)

// maxAsks is how often a reviewer may fail to give a verdict.
const maxAsks = 2

// Ask puts the subject to a reviewer. One that gives no verdict is asked again, with the reason; then the error wraps
// ErrNoVerdict. An error of the Asker is returned as it is, wrapped. asked is how often it was asked.
func Ask(ctx context.Context, a Asker, s Subject) (v Verdict, asked int, err error) {
	prompt := Prompt(s)
	for asked = 1; ; asked++ {
		answer, err := a.Ask(ctx, prompt)
		if err != nil {
			return Verdict{}, asked, fmt.Errorf("ask the reviewer: %w", err)
		}
		v, err := Parse(answer)
		if err == nil || asked == maxAsks || !errors.Is(err, ErrNoVerdict) {
			return v, asked, err
		}
		again := "\nYour last answer could not be used (" + line(err.Error()) + "). Review the change and answer in this form.\n"
		prompt = append(Prompt(s), again...)
	}
}
