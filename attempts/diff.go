package attempts

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"relay/epic/plaintext"
)

// A larger diff would take long to make and be too long to read.
const (
	maxDiffLines = 5000
	diffContext  = 3
)

// diff shows what somebody changed, from what relay wrote to what is there.
func diff(ours *fold, theirs []byte) string {
	var wrote bytes.Buffer
	if err := ours.render(&wrote); err != nil {
		return err.Error()
	}
	return unified(lines(wrote.String()), lines(plaintext.Capped(string(theirs), maxLedger)))
}

func lines(s string) []string { return strings.SplitAfter(s, "\n") }

// unified cuts away what is equal at both ends first: the library takes the square of what is left.
func unified(a, b []string) string {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head == len(a) && head == len(b) {
		return ""
	}
	if len(a)-head-tail > maxDiffLines || len(b)-head-tail > maxDiffLines {
		return fmt.Sprintf("(%d lines were written from line %d on, and %d others are there)\n", len(a)-head-tail, head+1, len(b)-head-tail)
	}
	head, tail = max(0, head-diffContext), max(0, tail-diffContext)
	return udiff.Unified(LedgerFile+" (as relay wrote it)", LedgerFile+fmt.Sprintf(" (from line %d)", head+1),
		strings.Join(a[head:len(a)-tail], ""), strings.Join(b[head:len(b)-tail], ""))
}
