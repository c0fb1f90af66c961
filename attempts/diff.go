package attempts

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"relay/epic/plaintext"
)

// maxDiffLines bounds a diff that is shown.
const maxDiffLines = 5000

// diff shows what somebody changed, from what relay wrote to what is there.
func diff(ours *fold, theirs []byte) string {
	var wrote bytes.Buffer
	if err := ours.render(&wrote); err != nil {
		return err.Error()
	}
	text := udiff.Unified(LedgerFile+" (as relay wrote it)", LedgerFile, wrote.String(), plaintext.Capped(string(theirs), maxLedger))
	if n := strings.Count(text, "\n"); n > maxDiffLines {
		return fmt.Sprintf("(the diff has %d lines)\n", n)
	}
	return text
}
