package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// withAdditions returns the tree of a merge that failed with the lines of both sides, the tip's first, when all that is in conflict is that
// both have added different lines at the same place of a file, as to a list, or the ledger of LedgerSync, to which both only add; else "".
// merged is what git merge-tree said of the merge.
func withAdditions(ctx context.Context, b *Branch, merged, tip, head string) (tree string, err error) {
	_, files, words := mergeParts(merged)
	ledger := len(files) == 1 && files[0] == worktree.LedgerFile
	other := func(message string) bool { return !strings.HasPrefix(message, "CONFLICT (content): ") }
	if !ledger && (!b.Additions || len(files) == 0 || len(files) > conflictShown || slices.ContainsFunc(words, other)) {
		return "", nil
	}
	merged, err = mergeTree(ctx, b, "diff3", tip, head) // which tells an addition from a change
	if git.ExitCode(err) != 1 {
		return "", err
	}
	tree, files, _ = mergeParts(merged)
	for _, path := range files {
		text := added(fileIn(ctx, b, tree, path), ledger)
		if text == "" {
			return "", nil
		}
		if ledger {
			text = string(worktree.RecordsOnce([]byte(text)))
		}
		blob, err := b.Git(ctx, strings.NewReader(text), "hash-object", "-w", "-t", "blob", "--stdin")
		if err != nil {
			return "", err
		}
		if tree, err = withFile(ctx, b, tree, path, blob); err != nil {
			return "", err
		}
	}
	return tree, nil
}

// added returns a file in conflict with the lines that both sides have added. It returns "" if one of them has done anything else, or both
// have added the same line, unless all lines are to be kept.
func added(body string, all bool) string {
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
		if !all && (at == ofBase || at == ofWork && mine[bare] || at != outside && marked(bare, "<")) {
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

// withFile returns the tree with another blob in place of a file that it has.
func withFile(ctx context.Context, b *Branch, tree, file, blob string) (string, error) {
	name, rest, below := strings.Cut(file, "/")
	if below {
		sub, err := b.Git(ctx, nil, "rev-parse", "--verify", "--end-of-options", tree+":"+name)
		if err != nil {
			return "", err
		}
		if blob, err = withFile(ctx, b, sub, rest, blob); err != nil {
			return "", err
		}
	}
	call := git.Writing("ls-tree", "-z", tree)
	call.Limit = git.MaxPrinted
	out, err := b.Repo.Run(ctx, call)
	if err != nil {
		return "", err
	}
	entries := strings.SplitAfter(string(out), "\x00")
	for i, entry := range entries {
		about, _, ok := strings.Cut(entry, "\t"+name+"\x00")
		fields := strings.Fields(about)
		if ok && len(fields) == 3 {
			entries[i] = fmt.Sprintf("%s %s %s\t%s\x00", fields[0], fields[1], blob, name)
			return b.Git(ctx, strings.NewReader(strings.Join(entries, "")), "mktree", "-z", "--missing")
		}
	}
	return "", fmt.Errorf("tree %s has no %s", tree, file)
}
