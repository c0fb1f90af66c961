package configs

import (
	"fmt"
	"slices"
	"strings"

	"relay/epic"
)

// maxProblems bounds how many mistakes are reported: a file that is not a configuration at all has thousands.
const maxProblems = 100

// nearest returns the candidate that word was probably meant to be, or "".
func nearest(word string, candidates []string) string {
	plain := plainly(word)
	near, _ := epic.Nearest(word, candidates)
	for _, c := range candidates {
		switch {
		case plain == plainly(c):
			return c
		case near == "" && len(plain) > 3 && strings.HasPrefix(plainly(c), plain): // timeout for timeout_minutes
			near = c
		}
	}
	return near
}

// plainly folds the spellings people mix up: maxAttempts, max-attempts, MAX_ATTEMPTS.
func plainly(word string) string {
	if len(word) > 64 {
		word = word[:64]
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(word))
}

// didYouMean turns a suggestion into a hint.
func didYouMean(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	const few = 10
	if len(candidates) > few {
		return "relay config lists the keys"
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return "known: " + strings.Join(sorted, ", ")
}
