package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor"
)

// Open returns worktree name as an attempt has left it, after it has put back what git needs to read it; its files
// stay as they are. When the folder is gone, or something else stands in its place, the error is [fs.ErrNotExist]. One
// whose HEAD or index cannot be read is put on branch, at commit when there is no such branch.
func (y *Yard) Open(ctx context.Context, name, commit, branch string) (*reanchor.Git, error) {
	path, err := y.path(name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	s := site{yard: y, name: name, path: path, commit: commit, branch: branch, plot: y.plot(name)}
	var repo *reanchor.Git
	err = y.alone(ctx, func() error {
		admin, err := s.admin(ctx)
		if err != nil {
			return err
		}
		repo = y.Repo.Worktree(path, admin)
		return s.mend(ctx, repo)
	})
	return repo, err
}

// admin finds the worktree's own folder in the repository, or makes another one. Call it alone.
func (s *site) admin(ctx context.Context) (string, error) {
	entries, err := s.yard.entries(filepath.Dir(s.path))
	for _, e := range entries {
		if info, err := os.Lstat(e.admin); e.path == s.path && err == nil && info.IsDir() {
			return e.admin, nil
		}
	}
	if err != nil {
		return "", err
	}
	s.remade = true
	// git makes a worktree only where there is nothing: it is made beside, and moved.
	p, beside := &plot{}, filepath.Join(filepath.Dir(s.path), "mending-"+s.name)
	s.yard.forget(s.name)
	if err := s.yard.clear(filepath.Base(beside), beside); err != nil {
		return "", err
	}
	if err := s.add(ctx, p, beside); err != nil {
		return "", err
	}
	return p.admin, RemoveTree(beside)
}

// mend writes what git needs to read the worktree. Call it alone.
func (s *site) mend(ctx context.Context, repo *reanchor.Git) error {
	admin := repo.GitDir()
	for _, link := range []struct{ dir, name, text string }{
		{s.path, ".git", "gitdir: " + admin + "\n"}, {admin, "gitdir", filepath.Join(s.path, ".git") + "\n"}, {admin, "commondir", "../..\n"}, {admin, ownMark, s.path},
	} {
		if Contents(link.dir, []string{link.name})[0] == link.text {
			continue
		}
		if err := spare(link.dir, link.name); err != nil {
			return err
		}
		if err := replace(filepath.Join(link.dir, link.name), link.text); err != nil {
			return err
		}
	}
	if err := errors.Join(Unblock(repo), s.mendRules(admin)); err != nil {
		return err
	}
	if head, err := repo.Head(ctx); err != nil || head == "" || s.remade { // on which branch it was is not known any more
		if err := s.mendHead(ctx, repo); err != nil {
			return err
		}
	}
	if indexSound(filepath.Join(admin, "index"), Wide(s.commit)) {
		return nil
	}
	for _, name := range []string{"index", "index.lock"} {
		if err := RemoveTree(filepath.Join(admin, name)); err != nil {
			return err
		}
	}
	_, err := repo.Run(ctx, s.yard.git("read-tree", "HEAD"))
	return err
}

// mendRules makes the files again what relay has left them that say which part of a commit is checked out here, and how.
func (s *site) mendRules(admin string) error {
	if s.plot == nil || s.plot.admin != admin {
		return nil
	}
	for i, text := range Contents(admin, ruleFiles) {
		path := filepath.Join(admin, filepath.FromSlash(ruleFiles[i]))
		if text == s.plot.rules[i] {
			continue
		}
		err := RemoveTree(path)
		if err == nil && s.plot.rules[i] != "" {
			err = os.WriteFile(path, []byte(s.plot.rules[i]), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexSound reports whether a file is an index as git has written it: it ends in its own checksum, or in zeros.
func indexSound(path string, wide bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	content, err := os.ReadFile(path)
	h := NewHash(wide)
	end := len(content) - h.Size()
	if err != nil || end < 0 || !bytes.HasPrefix(content, []byte("DIRC")) {
		return false
	}
	h.Write(content[:end])
	return bytes.Equal(content[end:], h.Sum(nil)) || bytes.Equal(content[end:], make([]byte, h.Size()))
}

// mendHead puts the worktree on its branch again, and makes that when it is gone.
func (s *site) mendHead(ctx context.Context, repo *reanchor.Git) error {
	head := filepath.Join(repo.GitDir(), headFile)
	if s.branch == "" {
		return replace(head, s.commit+"\n")
	}
	ref := "refs/heads/" + s.branch
	at, err := s.yard.Repo.Ref(ctx, ref)
	if err == nil && at == "" {
		put := func() error {
			_, err := s.yard.Repo.Run(ctx, s.yard.git("update-ref", "--no-deref", ref, s.commit))
			return err
		}
		if err = put(); err != nil {
			err = errors.Join(makeWay(ctx, s.yard.Repo, ref), put())
		}
	}
	if err != nil {
		return err
	}
	return replace(head, "ref: "+ref+"\n")
}

// spare moves a repository that an agent has put where a file of relay's must be into a folder beside it: there git sees
// one of its own, which is in no commit.
func spare(dir, name string) error {
	if !isRepository(filepath.Join(dir, name)) {
		return nil
	}
	aside := filepath.Join(dir, AgentsGit)
	for n := 2; ; n++ {
		err := os.Mkdir(aside, 0o755)
		if err == nil {
			return os.Rename(filepath.Join(dir, name), filepath.Join(aside, ".git"))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		aside = fmt.Sprintf("%s-%d", filepath.Join(dir, AgentsGit), n)
	}
}

// AgentsGit is the folder in a worktree for the repository that an agent has made of it.
const AgentsGit = "agents-git"

// isRepository reports whether a path is the folder of a repository, and not a file that leads to one.
func isRepository(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(path, headFile))
	return err == nil
}

// replace writes a file, in place of whatever an agent has put there.
func replace(path, text string) error {
	return errors.Join(RemoveTree(path), os.WriteFile(path, []byte(text), 0o644))
}
