package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/plaintext"
)

// State holds what there is to know about a checkout before agents commit in it.
type State struct {
	Partial    bool   // objects are fetched when they are needed
	Sparse     bool   // not every file is checked out
	NoIdentity string // git's words when it does not know whom to name as author or committer
}

// ReadState asks git for everything in [State].
func ReadState(ctx context.Context, g *Repo) (s State, err error) {
	if err := configured(ctx, g, &s); err != nil {
		return s, err
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := g.Run(ctx, Call{Args: []string{"var", who}})
		var refused *Error
		switch {
		case errors.As(err, &refused) && refused.Code > 0:
			s.NoIdentity = firstCause(refused.Stderr)
		case err != nil:
			return s, err
		}
	}
	return s, nil
}

// configured reads what the configuration says, the last value of a key in force.
func configured(ctx context.Context, g *Repo, s *State) error {
	out, err := g.Run(ctx, Call{Hooks: true, Args: []string{
		"config", "-z", "--get-regexp",
		`^(core\.sparsecheckout|extensions\.partialclone|remote\..*\.promisor)$`,
	}})
	if err != nil && ExitCode(err) <= 0 {
		return err
	}
	for kv := range strings.SplitSeq(string(out), "\x00") {
		key, value, has := strings.Cut(kv, "\n")
		on := !has || truth(value)
		switch {
		case key == "core.sparsecheckout":
			s.Sparse = on
		case key == "extensions.partialclone", strings.HasSuffix(key, ".promisor") && on:
			s.Partial = true
		}
	}
	return nil
}

// truth reads a boolean as git does.
func truth(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// Hooks lists the names of the hooks that git would run in a checkout, sorted.
func Hooks(ctx context.Context, g *Repo) ([]string, error) {
	// Asked with the hooks in place: with them out of the way git names the folder of that instead.
	out, err := g.Run(ctx, Call{Hooks: true, Args: []string{"rev-parse", "--git-path", "hooks"}})
	if err != nil {
		return nil, err
	}
	dir := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.root, dir)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, nil // a folder that cannot be read has no hooks
	}
	defer func() { _ = folder.Close() }()
	entries, _ := folder.ReadDir(200) // there are some thirty hooks; a part of an odd folder is as good as all of it
	var names []string
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(e.Name(), ".sample") || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		names = append(names, plaintext.Head(plaintext.Line(e.Name()), 100))
	}
	slices.Sort(names)
	return names, nil
}

// Exists reports whether there is anything at a path, also a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
