package slot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/nested"
	"relay/reanchor"
)

// ErrGone means that a slot's folder is not there. That a file is missing in it is another error: the attempt's work may be there.
var ErrGone = errors.New("the slot is gone")

// Open returns slot name as an attempt has left it; its files stay as they are. What says how git reads the slot is put
// back first, so that what an agent has set there has no say in what relay does next. When the folder is gone, or
// something else stands in its place, the error is [ErrGone].
//
// A repository that is gone, or that git cannot read, is made anew around the files, on branch at commit: lost reports
// that. What had been committed in it and not been fetched is only in the files then.
func (p *Pool) Open(ctx context.Context, name, commit, branch string) (repo *reanchor.Git, remade bool, err error) {
	path, err := p.path(name)
	if err != nil {
		return nil, false, err
	}
	if !isDir(path) {
		return nil, false, ErrGone
	}
	a := acquisition{pool: p, name: name, path: path, commit: commit, branch: branch}
	repo = p.git(path)
	if err := p.convertWorktree(ctx, &a); err != nil {
		return nil, false, err
	}
	if !sound(repo.GitDir()) {
		return repo, true, a.rebuild(ctx)
	}
	if err := errors.Join(gitcmd.Unblock(repo), p.restore(ctx, repo.GitDir())); err != nil {
		return nil, false, err
	}
	return repo, false, a.mendHead(ctx, repo)
}

// sound reports whether a git folder is the one that relay has made: all of it is where it belongs, and nothing leads out
// of it.
func sound(dir string) bool {
	if !isDir(dir) || !isDir(filepath.Join(dir, "objects")) ||
		!isDir(filepath.Join(dir, "refs")) || fileText(filepath.Join(dir, slotMark)) == "" {
		return false
	}
	links := false
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			links = true
			return fs.SkipAll
		case d.IsDir() && filepath.Dir(at) == filepath.Join(dir, "objects"):
			return fs.SkipDir
		}
		return nil
	})
	return err == nil && !links
}

// restore rewrites the files that say how git reads the slot as relay has made them.
func (p *Pool) restore(ctx context.Context, dir string) error {
	model, err := p.read(ctx)
	if err != nil {
		return err
	}
	for _, name := range steering {
		path, text := filepath.Join(dir, filepath.FromSlash(name)), model.files[name]
		if text == "" {
			err = errors.Join(err, gitcmd.RemoveTree(path))
		} else if fileText(path) != text {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), replace(path, text))
		}
	}
	return errors.Join(err, copyKeys(p.Repo, dir, model.keys), p.cut(dir))
}

// rebuild makes a new repository for the slot and keeps its files. A repository that an agent has made of the slot is
// moved into a folder beside: there git sees one of its own, which is in no commit.
func (a *acquisition) rebuild(ctx context.Context) error {
	a.pool.forget(a.name)
	if err := spare(a.path); err != nil {
		return err
	}
	if err := a.renew(ctx, a.commit, ""); err != nil {
		return err
	}
	repo := a.pool.git(a.path)
	if a.branch != "" {
		if err := a.standOnBranch(ctx, repo); err != nil {
			return err
		}
	}
	_, err := repo.Run(ctx, a.pool.writing("read-tree", a.commit))
	return err
}

// mendHead puts a slot whose HEAD or index cannot be read on its branch, at its commit when there is no such branch.
func (a *acquisition) mendHead(ctx context.Context, repo *reanchor.Git) error {
	if head, err := repo.Head(ctx); err != nil || head == "" {
		if err := a.standOnBranch(ctx, repo); err != nil {
			return err
		}
	}
	if indexSound(filepath.Join(repo.GitDir(), "index"), gitcmd.Wide(a.commit)) {
		return nil
	}
	for _, name := range []string{"index", "index.lock"} {
		if err := gitcmd.RemoveTree(filepath.Join(repo.GitDir(), name)); err != nil {
			return err
		}
	}
	_, err := repo.Run(ctx, a.pool.writing("read-tree", "HEAD"))
	return err
}

// standOnBranch writes HEAD, and the branch when git cannot read it.
func (a *acquisition) standOnBranch(ctx context.Context, repo *reanchor.Git) error {
	head := filepath.Join(repo.GitDir(), "HEAD")
	if a.branch == "" {
		return replace(head, a.commit+"\n")
	}
	ref := "refs/heads/" + a.branch
	at, err := repo.Ref(ctx, ref)
	if err != nil || at == "" || !gitcmd.Has(ctx, repo, at) {
		path := filepath.Join(repo.GitDir(), filepath.FromSlash(ref))
		if err := errors.Join(makeParents(repo.GitDir(), path), gitcmd.RemoveTree(path+".lock")); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(a.commit+"\n"), 0o644); err != nil {
			return err
		}
	}
	return replace(head, "ref: "+ref+"\n")
}

// makeParents makes room for a file below a git folder, with the folders that it is in.
func makeParents(top, path string) error {
	if err := gitcmd.ClearPath(top, path); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(path), 0o755)
}

// indexSound reports whether a file is an index as git has written it: it ends in its own checksum, or in zeros.
func indexSound(path string, wide bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	content, err := os.ReadFile(path)
	h := gitcmd.NewHash(wide)
	end := len(content) - h.Size()
	if err != nil || end < 0 || !bytes.HasPrefix(content, []byte("DIRC")) {
		return false
	}
	h.Write(content[:end])
	return bytes.Equal(content[end:], h.Sum(nil)) || bytes.Equal(content[end:], make([]byte, h.Size()))
}

// spare moves a repository that an agent has put in place of the slot's own into a folder beside it.
func spare(path string) error {
	own := filepath.Join(path, ".git")
	if !isDir(own) || fileText(filepath.Join(own, "HEAD")) == "" || fileText(filepath.Join(own, slotMark)) != "" {
		return nil
	}
	aside := filepath.Join(path, nested.AgentsGit)
	for n := 2; ; n++ {
		err := os.Mkdir(aside, 0o755)
		if err == nil {
			return os.Rename(own, filepath.Join(aside, ".git"))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		aside = fmt.Sprintf("%s-%d", filepath.Join(path, nested.AgentsGit), n)
	}
}

// replace writes a file, in place of whatever an agent has put there.
func replace(path, text string) error {
	return errors.Join(gitcmd.RemoveTree(path), os.WriteFile(path, []byte(text), 0o644))
}

// linkedAdmin returns git's own folder of a worktree that an earlier version of relay has made at path, "" when there is
// none.
func (p *Pool) linkedAdmin(path string) string {
	admins := filepath.Join(p.Repo.CommonDir(), "worktrees")
	found, _ := os.ReadDir(admins) // none: nobody has made one
	for _, f := range found {
		admin := filepath.Join(admins, f.Name())
		if strings.TrimSpace(fileText(filepath.Join(admin, "gitdir"))) == filepath.Join(path, ".git") ||
			fileText(filepath.Join(admin, "relay-worktree")) == path {
			return admin
		}
	}
	return ""
}

// convertWorktree makes a slot of a worktree that an earlier version of relay has left: with its HEAD, index and log, and the
// branch of its task. What it was in the middle of is not taken over.
func (p *Pool) convertWorktree(ctx context.Context, a *acquisition) error {
	if isDir(filepath.Join(a.path, ".git")) {
		return nil
	}
	admin := p.linkedAdmin(a.path)
	if admin == "" {
		return nil
	}
	head := fileText(filepath.Join(admin, "HEAD"))
	branch, on := strings.CutPrefix(strings.TrimSpace(head), "ref: ")
	commit, err := p.Repo.Ref(ctx, branch)
	if on && (err != nil || commit == "") || head == "" {
		return nil //nolint:nilerr // git could not read it either
	}
	if err := a.renew(ctx, a.commit, ""); err != nil {
		return err
	}
	own := filepath.Join(a.path, ".git")
	for _, name := range []string{"index", "logs/HEAD", "ORIG_HEAD"} {
		if text, err := os.ReadFile(filepath.Join(admin, filepath.FromSlash(name))); err == nil {
			to := filepath.Join(own, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644)); err != nil {
				return err
			}
		}
	}
	if on {
		ref := filepath.Join(own, filepath.FromSlash(branch))
		if err := errors.Join(os.MkdirAll(filepath.Dir(ref), 0o755), os.WriteFile(ref, []byte(commit+"\n"), 0o644)); err != nil {
			return err
		}
	}
	return errors.Join(replace(filepath.Join(own, "HEAD"), head), gitcmd.RemoveTree(admin))
}
