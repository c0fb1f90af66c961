package collect

import (
	"strings"

	"relay/epic/plaintext"
)

// JoinSummaries returns what an agent says of its work after so many rounds of fixes: what it has said before is not said again,
// and the rounds are counted at the end.
func JoinSummaries(before, now string, rounds int) string {
	before, now = strings.TrimSpace(before), strings.TrimSpace(now)
	if now == "" {
		return before
	}
	if at := strings.LastIndex(before, " (after "); at >= 0 && strings.HasSuffix(before, fixesMark) {
		before = before[:at]
	}
	switch {
	case strings.Contains("\n"+before+"\n", "\n"+now+"\n"):
	case strings.HasPrefix(now, before):
		before = now
	default:
		before += "\n" + now
	}
	return strings.TrimSpace(before) + " (after " + plaintext.Count(rounds, "round") + fixesMark
}

// fixesMark ends a summary that counts rounds of fixes.
const fixesMark = " of fixes)"
