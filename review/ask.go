package review

import (
	"context"
	"errors"
	"fmt"
)

// Judgement is what a review came to.
type Judgement struct {
	Decision Decision
	Summary  string
	Counted  []Finding // at or above the bar
	Deferred []Finding // below it
	Asked    int       // how often the reviewer was asked
}

// maxAsks is how often a reviewer may fail to give a verdict.
const maxAsks = 2

// Ask puts the subject to the reviewer and decides by its answer. A reviewer that gives no verdict is asked once
// more and told why; then the error wraps ErrNoVerdict. An error of the Asker is returned as it is, wrapped.
func Ask(ctx context.Context, a Asker, s Subject, st Strictness) (Judgement, error) {
	prompt := Prompt(s)
	for asked := 1; ; asked++ {
		answer, err := a.Ask(ctx, prompt)
		if err != nil {
			return Judgement{Asked: asked}, fmt.Errorf("ask the reviewer: %w", err)
		}
		v, err := Parse(answer)
		if err == nil {
			j := Judgement{Summary: v.Summary, Asked: asked}
			j.Decision, j.Counted, j.Deferred = Decide(v, st)
			return j, nil
		}
		if asked == maxAsks || !errors.Is(err, ErrNoVerdict) {
			return Judgement{Asked: asked}, err
		}
		prompt = again(s, err)
	}
}
