package integration

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/recordfiles"
)

// ledgerUnion puts together what both sides of a merge have added to a tracked ledger of LedgerSync.
type ledgerUnion struct{ *Branch }

// uniteLedgers returns the tree of a merge that failed, with the lines of both sides in the ledger of LedgerSync, when that is all that is
// in conflict; else "". merged is what git merge-tree -z --name-only says of the merge.
func (b ledgerUnion) uniteLedgers(ctx context.Context, merged, tip, head string) (tree string, err error) {
	tree, rest, _ := strings.Cut(merged, "\x00")
	if !strings.HasPrefix(rest, recordfiles.Ledger+"\x00\x00") { // the only one
		return "", nil
	}
	ours, found, err := b.ledger(ctx, tip)
	if err != nil || !found {
		return "", err
	}
	theirs, found, err := b.ledger(ctx, head)
	if err != nil || !found {
		return "", err
	}
	fork, err := b.fork(ctx, tip, head)
	if err != nil {
		return "", err
	}
	base, _, err := b.ledger(ctx, fork)
	if err != nil {
		return "", err
	}
	return b.withText(ctx, tree, recordfiles.Ledger, recordfiles.Union([]byte(base), []byte(ours), []byte(theirs)))
}

// withoutRepeats returns the tree of a merge that went well with each line of the ledger once: git keeps a line that both sides have
// added at different places twice.
func (b ledgerUnion) withoutRepeats(ctx context.Context, tree, tip, head string) (string, error) {
	var names strings.Builder
	for _, at := range []string{tree, tip, head} {
		names.WriteString(at + ":" + recordfiles.Ledger + "\n")
	}
	out, err := b.Git(ctx, strings.NewReader(names.String()), "cat-file", "--batch-check")
	if err != nil {
		return "", err
	}
	found := strings.Split(out, "\n")
	if len(found) != 3 || !strings.Contains(found[0], " blob ") || found[0] == found[1] || found[0] == found[2] {
		return tree, nil
	}
	merged, is, err := b.ledger(ctx, tree)
	if err != nil || !is {
		return tree, err
	}
	once := recordfiles.Union([]byte(merged), nil, nil)
	if string(once) == merged {
		return tree, nil
	}
	return b.withText(ctx, tree, recordfiles.Ledger, once)
}

// withText returns the tree with another text of a file that it has.
func (b ledgerUnion) withText(ctx context.Context, tree, file string, text []byte) (string, error) {
	blob, err := b.Git(ctx, bytes.NewReader(text), "hash-object", "-w", "-t", "blob", "--stdin")
	if err != nil {
		return "", err
	}
	return b.withFile(ctx, tree, file, blob)
}

// ledger returns the ledger of LedgerSync of a commit or tree, if it has one that is a file.
func (b ledgerUnion) ledger(ctx context.Context, at string) (text string, found bool, err error) {
	entry, err := b.Git(ctx, nil, "ls-tree", at, "--", recordfiles.Ledger)
	mode, rest, _ := strings.Cut(entry, " ")
	if err != nil || !strings.HasPrefix(mode, "100") {
		return "", false, err
	}
	blob, _, _ := strings.Cut(strings.TrimPrefix(rest, "blob "), "\t")
	call := gitcmd.Writing("cat-file", "blob", blob)
	call.Limit = gitcmd.MaxPrinted
	out, err := b.Repo.Run(ctx, call)
	return string(out), err == nil, err
}

// withFile returns the tree with another blob in place of a file that it has.
func (b ledgerUnion) withFile(ctx context.Context, tree, file, blob string) (string, error) {
	name, rest, below := strings.Cut(file, "/")
	if below {
		sub, err := b.Git(ctx, nil, "rev-parse", "--verify", "--end-of-options", tree+":"+name)
		if err != nil {
			return "", err
		}
		if blob, err = b.withFile(ctx, sub, rest, blob); err != nil {
			return "", err
		}
	}
	call := gitcmd.Writing("ls-tree", "-z", tree)
	call.Limit = gitcmd.MaxPrinted
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
