package verdict

import (
	"strings"

	"relay/attempts"
)

// Blind reports whether all that a person has to look at is that the checks of a work pass without its code. Tests that land later may
// prove it.
func Blind(looks []attempts.Look) bool {
	return len(looks) == 1 && looks[0].Cause == provesNothing && strings.HasSuffix(looks[0].Text, " emptied: they prove nothing of this work")
}
