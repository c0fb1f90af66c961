package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic/each"
	"relay/reanchor/git"
)

// commitObject is a commit as git stores it, byte for byte: what is not asked to change does not.
type commitObject struct {
	header  []string // one for each field, with the lines that continue it
	message string
}

var errNoCommit = errors.New("git returned an object that is not a commit")

func parseCommit(raw string) (c commitObject, err error) {
	head, message, _ := strings.Cut(raw, "\n\n")
	c.message = message
	for line := range strings.SplitSeq(strings.TrimSuffix(head, "\n"), "\n") {
		if last := len(c.header) - 1; last >= 0 && strings.HasPrefix(line, " ") {
			c.header[last] += "\n" + line
			continue
		}
		c.header = append(c.header, line)
	}
	if c.Tree() == "" {
		return c, errNoCommit
	}
	return c, nil
}

func (c commitObject) values(name string) []string {
	return each.Where(c.header, func(field string) (string, bool) { return strings.CutPrefix(field, name+" ") })
}

func (c commitObject) Parents() []string { return c.values("parent") }

func (c commitObject) Tree() string {
	if trees := c.values("tree"); len(trees) == 1 {
		return trees[0]
	}
	return ""
}

// Copies reports whether two commits have one author, time and message, as one has that was picked or replayed.
func (c commitObject) Copies(other NamedCommit) bool {
	return c.message == other.message && slices.Equal(c.values("author"), other.values("author"))
}

// on returns the commit with another tree and other parents, and without the signatures that those break.
func (c commitObject) on(tree string, parents ...string) commitObject {
	header := append([]string{"tree " + tree}, each.Of(parents, func(p string) string { return "parent " + p })...)
	for _, field := range c.header {
		switch name, _, _ := strings.Cut(field, " "); name {
		case "tree", "parent", "gpgsig", "gpgsig-sha256", "mergetag":
		default:
			header = append(header, field)
		}
	}
	return commitObject{header: header, message: c.message}
}

// by returns the commit with another committer.
func (c commitObject) by(committer string) commitObject {
	c.header = slices.Clone(c.header)
	for i, field := range c.header {
		if strings.HasPrefix(field, "committer ") {
			c.header[i] = "committer " + committer
		}
	}
	return c
}

// hashCommit writes a commit into a repository and returns its name. No ref leads to it yet.
func hashCommit(ctx context.Context, repo *git.Repo, c commitObject) (string, error) {
	call := git.Writing("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
	call.Stdin = strings.NewReader(strings.Join(c.header, "\n") + "\n\n" + c.message)
	name, err := repo.Run(ctx, call)
	return strings.TrimSpace(string(name)), err
}

// NamedCommit is a commit and its name.
type NamedCommit struct {
	Name string
	commitObject
}

// Commits reads the commits of a span (arguments of rev-list), parents first.
func Commits(ctx context.Context, repo *git.Repo, span []string) ([]NamedCommit, error) {
	args := append([]string{"rev-list", "--topo-order", "--reverse", "--max-count=" + strconv.Itoa(mostCommits+1)}, span...)
	list, err := repo.Run(ctx, git.Writing(append(args, "--")...))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	names := strings.Fields(string(list))
	if len(names) > mostCommits {
		return nil, &UnfitError{fmt.Sprintf("the work has more than %d commits", mostCommits)}
	}
	found, err := readCommits(ctx, repo, names...)
	if errors.Is(err, git.ErrTooMuch) {
		return nil, &UnfitError{"the messages of the work's commits are too long to be read"}
	}
	return found, err
}

// readCommits reads commits in one process. It returns an [*UnfitError] for one that is damaged.
func readCommits(ctx context.Context, repo *git.Repo, names ...string) ([]NamedCommit, error) {
	call := git.Writing("cat-file", "--batch", "--buffer")
	call.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := repo.Run(ctx, call)
	if err != nil {
		return nil, err
	}
	found := make([]NamedCommit, len(names))
	for i, name := range names {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		at := bytes.LastIndexByte(line, ' ')
		size, err := strconv.Atoi(string(line[at+1:]))
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file says: %s", line)
		}
		found[i].Name, out = name, rest[size+1:]
		if found[i].commitObject, err = parseCommit(string(rest[:size])); err != nil {
			return nil, &UnfitError{fmt.Sprintf("commit %s: %v", name, err)}
		}
	}
	return found, nil
}

// committer returns who lands work, and when, as a commit has it.
func committer(ctx context.Context, repo *git.Repo) (string, error) {
	who, err := repo.Run(ctx, git.Writing(append(git.Identity(ctx, repo), "var", "GIT_COMMITTER_IDENT")...))
	return strings.TrimSpace(string(who)), err
}

// makeCommit makes a commit of a tree, by relay or whoever git knows here, now.
func makeCommit(ctx context.Context, b *Branch, tree, message string, parents ...string) (string, error) {
	who, err := committer(ctx, b.Repo)
	if err != nil {
		return "", err
	}
	return write(ctx, b, commitObject{header: []string{"author " + who, "committer " + who}, message: message}.on(tree, parents...))
}

// write writes a commit, with a signature if the branch's commits have one.
func write(ctx context.Context, b *Branch, c commitObject) (string, error) {
	if b.Signer.On {
		if name, err := b.Signer.sign(ctx, b.Repo, c); err != nil || name != "" {
			return name, err
		}
	}
	return hashCommit(ctx, b.Repo, c)
}

// again writes a commit that is committed now, by whoever lands it.
func again(ctx context.Context, b *Branch, c commitObject) (Integrated, error) {
	who, err := committer(ctx, b.Repo)
	if err != nil {
		return Integrated{}, err
	}
	name, err := write(ctx, b, c.by(who))
	return Integrated{Commit: name, Anew: true}, err
}
