package integration

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

// withAdditions returns the tree of a merge that failed with the lines of both sides, the tip's first, when all that is in conflict is that
// both have added different lines at the same place of a file, as to a list; else "". merged is what git merge-tree said of the merge.
func withAdditions(ctx context.Context, b *Branch, merged, tip, head string) (tree string, err error) {
	_, files, words := mergeParts(merged)
	other := func(message string) bool { return !strings.HasPrefix(message, "CONFLICT (content): ") }
	if !b.Additions || len(files) == 0 || len(files) > conflictShown || slices.ContainsFunc(words, other) {
		return "", nil
	}
	merged, err = mergeTree(ctx, b, "diff3", tip, head) // which tells an addition from a change
	if !conflicted(err) {
		return "", err
	}
	tree, files, _ = mergeParts(merged)
	for _, path := range files {
		text := added(b.file(ctx, tree, path))
		if text == "" {
			return "", nil
		}
		if tree, err = (ledgerUnion{b}).withText(ctx, tree, path, []byte(text)); err != nil {
			return "", err
		}
	}
	return tree, nil
}

// added returns a file in conflict with the lines that both sides have added, "" if one of them has done anything else, or both have added
// the same line.
func added(body string) string {
	var text []string
	mine := map[string]bool{}
	at, conflicts := outside, 0
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, "\r\n")
		if next := at.after(bare); next != at {
			if at = next; at == ofTip {
				conflicts++
				clear(mine)
			}
			continue
		}
		if at == ofBase || at == ofWork && mine[bare] || at != outside && marked(bare, "<") {
			return ""
		}
		if at == ofTip && strings.ContainsFunc(bare, isWord) {
			mine[bare] = true
		}
		text = append(text, line)
	}
	if at != outside || conflicts == 0 { // a link, a merge driver, or shorter marks
		return ""
	}
	return strings.Join(text, "")
}

// part is a part of a file in conflict.
type part int

const (
	outside part = iota // of all conflicts
	ofTip
	ofBase
	ofWork
)

// after returns the part that a line opens: the same, if the line is not a mark.
func (at part) after(line string) part {
	switch {
	case at == outside && marked(line, "<"):
		return ofTip
	case at == ofTip && marked(line, "|"):
		return ofBase
	case at == ofBase && len(line) >= 7 && strings.Trim(line, "=") == "":
		return ofWork
	case at == ofWork && marked(line, ">"):
		return outside
	}
	return at
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
