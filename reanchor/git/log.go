package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"relay/epic/plaintext"
)

// Tree returns the full hash of a commit's tree.
func (g *Repo) Tree(ctx context.Context, commit string) (string, error) {
	if IsHash(commit) {
		if tree, err := g.fast.tree(commit); err == nil {
			return tree, nil
		}
	}
	return verify(ctx, g, commit+"^{tree}")
}

// fieldBytes is how much is kept of a subject or an author.
const fieldBytes = 4 << 10

// HeadCommit returns the full hash of the commit HEAD leads to. That there is none is an error, and so is one git cannot find.
func (g *Repo) HeadCommit(ctx context.Context) (string, error) {
	if hash, err := g.fast.ref("HEAD"); err == nil {
		if _, err := g.fast.tree(hash); err == nil {
			return hash, nil
		}
	}
	return verify(ctx, g, "HEAD^{commit}")
}

// verify returns the full hash of the one object a name stands for.
func verify(ctx context.Context, g *Repo, name string) (string, error) {
	out, err := g.Run(ctx, Call{Args: []string{"rev-parse", "--verify", "--end-of-options", name}})
	return strings.TrimSpace(string(out)), err
}

// log returns up to n commits, the given one first. Each is four fields that end in NUL, which none of them can contain.
func (g *Repo) log(ctx context.Context, hash string, n int) ([]Commit, error) {
	if !IsHash(hash) {
		return nil, fmt.Errorf("commit %q: want a full hash", plaintext.Head(hash, 80))
	}
	args := []string{
		"log", "-n", strconv.Itoa(n), "-z", "--format=%H%x00%ct%x00%an%x00%s", "--encoding=UTF-8",
		"--no-color", "--no-decorate", "--no-notes", "--no-follow", "--no-patch", "--end-of-options", hash, "--",
	}
	scan := logScan{}
	cut := records{take: scan.take, clip: fieldBytes}
	call := Call{Args: args, Stdout: &cut}
	if _, err := g.Run(ctx, call); err != nil {
		return nil, err
	}
	// git log -z separates commits, so the last subject is not ended.
	if len(scan.fields) == 3 {
		if err := scan.take(cut.part); err != nil {
			return nil, err
		}
		cut.part = nil
	}
	if err := scan.end(); err != nil {
		return nil, err
	}
	return scan.found, cut.end()
}

// logScan collects four fields into a commit.
type logScan struct {
	fields []string
	found  []Commit
}

func (s *logScan) take(rec []byte) error {
	if s.fields = append(s.fields, string(rec)); len(s.fields) < 4 {
		return nil
	}
	seconds, err := strconv.ParseInt(s.fields[1], 10, 64)
	if err != nil || !IsHash(s.fields[0]) {
		return fmt.Errorf("%w: commit %q at %q", errRecord, plaintext.Head(s.fields[0], 80), plaintext.Head(s.fields[1], 80))
	}
	s.found = append(s.found, Commit{Hash: s.fields[0], When: time.Unix(seconds, 0).UTC(), Author: s.fields[2], Subject: s.fields[3]})
	s.fields = s.fields[:0]
	return nil
}

// end reports a commit without all its fields.
func (s *logScan) end() error {
	if len(s.fields) > 0 {
		return fmt.Errorf("%w: a commit of %d fields", errRecord, len(s.fields))
	}
	return nil
}

// IsHash reports whether a text is the full name of an object, SHA-1 or SHA-256.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
