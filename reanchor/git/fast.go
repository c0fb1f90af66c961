package git

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

// Sizes beyond which a file is not what it should be: an agent can write anything into a git folder.
const (
	refFile    = 4 << 10
	configFile = 256 << 10
	packedFile = 1 << 20
	objectFile = 16 << 10 // of one loose commit, compressed
	commitSize = 64 << 10
)

// fast answers in the process, ten times quicker than a child, and keeps nothing open between two questions: packs
// and references change under it. It opens only regular files of a sensible size, for nothing here can be interrupted.
type fast struct {
	gitDir, commonDir string
	lender            string // git folder whose objects this one borrows, and no other's; "" : none
}

// open fails for repositories go-git does not know: unknown extensions, other hashes, other reference stores.
func (f fast) open() (*gogit.Repository, error) {
	if !ordinaryFile(filepath.Join(f.commonDir, "config"), configFile) ||
		!ordinaryFile(filepath.Join(f.commonDir, "packed-refs"), packedFile) {
		return nil, errSlow
	}
	own := osfs.New(f.gitDir)
	fs := dotgit.NewRepositoryFilesystem(own, nil)
	if f.commonDir != f.gitDir {
		fs = dotgit.NewRepositoryFilesystem(own, osfs.New(f.commonDir))
	}
	return gogit.Open(filesystem.NewStorage(fs, cache.NewObjectLRU(cache.MiByte)), nil)
}

// ordinaryFile reports that there is a regular file of at most max bytes, or nothing. A symbolic link is neither: very
// old git made HEAD one, and read through it looks detached.
func ordinaryFile(path string, max int64) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	return info.Mode().IsRegular() && info.Size() <= max
}

// calm turns a panic of go-git over a damaged repository into a question for the git program.
func calm(err *error) {
	if recover() != nil {
		*err = errSlow
	}
}

// read returns one reference as it is stored.
func (f fast) read(repo *gogit.Repository, name plumbing.ReferenceName) (*plumbing.Reference, error) {
	path := filepath.FromSlash(name.String())
	if !ordinaryFile(filepath.Join(f.gitDir, path), refFile) || !ordinaryFile(filepath.Join(f.commonDir, path), refFile) {
		return nil, errSlow
	}
	ref, err := repo.Reference(name, false)
	if err != nil {
		return nil, err
	}
	if ref.Type() != plumbing.SymbolicReference && ref.Hash().IsZero() {
		return nil, errSlow
	}
	return ref, nil
}

// ref resolves a reference. A name that is not there is left to git, which also knows the odd places to look.
func (f fast) ref(name string) (hash string, err error) {
	defer calm(&err)
	repo, err := f.open()
	if err != nil {
		return "", err
	}
	next := plumbing.ReferenceName(name)
	for range 5 { // as git does
		if checkRef(next.String()) != nil {
			return "", errSlow
		}
		ref, err := f.read(repo, next)
		if err != nil {
			return "", err
		}
		if ref.Type() != plumbing.SymbolicReference {
			return ref.Hash().String(), nil
		}
		next = ref.Target()
	}
	return "", errSlow
}

// symbolic returns the name HEAD points to, or "" when it is a commit.
func (f fast) symbolic() (name string, err error) {
	defer calm(&err)
	repo, err := f.open()
	if err != nil {
		return "", err
	}
	ref, err := f.read(repo, plumbing.HEAD)
	if err != nil {
		return "", err
	}
	if ref.Type() == plumbing.SymbolicReference {
		return ref.Target().String(), nil
	}
	return "", nil
}

// stored reads one commit, whatever is in it.
func (f fast) stored(repo *gogit.Repository, hash plumbing.Hash) (*object.Commit, error) {
	name := hash.String()
	if !ordinaryFile(filepath.Join(f.commonDir, "objects", name[:2], name[2:]), objectFile) {
		return nil, errSlow
	}
	if size, err := repo.Storer.EncodedObjectSize(hash); err != nil || size > commitSize {
		return nil, errSlow
	}
	return repo.CommitObject(hash)
}

// tree returns the tree of a commit that is given by its full hash.
func (f fast) tree(hash string) (tree string, err error) {
	defer calm(&err)
	if f.lender != "" {
		if tree, err = (fast{gitDir: f.lender, commonDir: f.lender}).tree(hash); err == nil {
			return tree, nil
		}
	}
	if !f.small() {
		return "", errSlow
	}
	repo, err := f.open()
	if err != nil {
		return "", err
	}
	c, err := f.stored(repo, plumbing.NewHash(hash))
	if err != nil {
		return "", err
	}
	if c.Hash.String() != hash { // what an agent wrote into the object's file
		return "", errSlow
	}
	return c.TreeHash.String(), nil
}

// small reports that looking up a commit is cheap: everything is in this repository, and its pack indexes are small.
func (f fast) small() bool {
	objects := filepath.Join(f.commonDir, "objects")
	if _, err := os.Lstat(filepath.Join(objects, "info", "alternates")); f.lender == "" && !errors.Is(err, os.ErrNotExist) {
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
		info, err := p.Info()
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		if strings.HasSuffix(p.Name(), ".idx") {
			size += info.Size()
		}
	}
	return size <= indexCap
}
