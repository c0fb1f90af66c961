package reanchor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// errSlow means that the question has to go to the git program. Every error of this file means that, so an answer is
// given only where go-git is known to read what git reads: references and single commits of an ordinary repository.
var errSlow = errors.New("ask the git program")

// indexCap bounds the pack indexes go-git would load and checksum, whole, to find one commit. At 256 KiB, some nine
// thousand objects, that costs as much as asking the git program.
const indexCap = 256 << 10

// fast answers in the process, ten times quicker than a child, and keeps nothing open between two questions: packs
// and references change under it.
type fast struct{ gitDir, commonDir string }

func newFast(gitDir, commonDir string) fast { return fast{gitDir: gitDir, commonDir: commonDir} }

// open fails for repositories go-git does not know: unknown extensions, other hashes, other reference stores.
func (f fast) open() (*gogit.Repository, error) {
	own := osfs.New(f.gitDir)
	fs := dotgit.NewRepositoryFilesystem(own, nil)
	if f.commonDir != f.gitDir {
		fs = dotgit.NewRepositoryFilesystem(own, osfs.New(f.commonDir))
	}
	return gogit.Open(filesystem.NewStorage(fs, cache.NewObjectLRU(cache.MiByte)), nil)
}

// ref resolves a reference. A name that is not there is left to git, which also knows the odd places to look.
func (f fast) ref(name string) (string, error) {
	if name == "HEAD" && !f.plainHead() {
		return "", errSlow
	}
	repo, err := f.open()
	if err != nil {
		return "", err
	}
	ref, err := repo.Reference(plumbing.ReferenceName(name), true)
	if err != nil {
		return "", err
	}
	if ref.Hash().IsZero() {
		return "", errSlow
	}
	return ref.Hash().String(), nil
}

// symbolic returns the name HEAD points to, or "" when it is a commit.
func (f fast) symbolic(name string) (string, error) {
	if !f.plainHead() {
		return "", errSlow
	}
	repo, err := f.open()
	if err != nil {
		return "", err
	}
	ref, err := repo.Reference(plumbing.ReferenceName(name), false)
	if err != nil {
		return "", err
	}
	if ref.Type() == plumbing.SymbolicReference {
		return ref.Target().String(), nil
	}
	if ref.Hash().IsZero() {
		return "", errSlow
	}
	return "", nil
}

// plainHead is false when HEAD is a symbolic link, as very old git made it: read through, it looks detached.
func (f fast) plainHead() bool {
	info, err := os.Lstat(filepath.Join(f.gitDir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

// log returns up to n commits from hash on, along a history without merges. With one, the order is git's business.
func (f fast) log(hash string, n int) ([]Commit, error) {
	if !f.small() {
		return nil, errSlow
	}
	repo, err := f.open()
	if err != nil {
		return nil, err
	}
	var found []Commit
	for next := plumbing.NewHash(hash); len(found) < n; {
		c, err := repo.CommitObject(next)
		if err != nil {
			return nil, err
		}
		if odd(c) {
			return nil, errSlow
		}
		found = append(found, Commit{Hash: c.Hash.String(), Subject: subject(c.Message), Author: c.Author.Name, When: c.Committer.When.UTC()})
		if len(c.ParentHashes) == 0 {
			break
		}
		next = c.ParentHashes[0]
	}
	return found, nil
}

// odd commits are ones that git shows in another way than they are stored, or that need their neighbours for it.
func odd(c *object.Commit) bool {
	enc := strings.ToLower(string(c.Encoding))
	return len(c.ParentHashes) > 1 || enc != "" && enc != "utf-8" || c.Committer.When.Unix() <= 0 ||
		strings.ContainsAny(c.Author.Name, "<>\x00") || strings.ContainsRune(c.Message, 0)
}

// small reports that looking up a commit is cheap: everything is in this repository, and its pack indexes are small.
func (f fast) small() bool {
	objects := filepath.Join(f.commonDir, "objects")
	if _, err := os.Lstat(filepath.Join(objects, "info", "alternates")); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(f.commonDir, "shallow")); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	packs, err := os.ReadDir(filepath.Join(objects, "pack"))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	var size int64
	for _, p := range packs {
		if !strings.HasSuffix(p.Name(), ".idx") {
			continue
		}
		info, err := p.Info()
		if err != nil {
			return false
		}
		size += info.Size()
	}
	return size <= indexCap
}

// subject is the first paragraph of a message on one line, as git's %s.
func subject(message string) string {
	var words []string
	for line := range strings.Lines(message) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" && len(words) > 0 {
			break
		}
		if line != "" {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}
