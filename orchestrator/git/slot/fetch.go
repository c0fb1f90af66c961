package slot

import (
	"context"
	"errors"
	"os"
	"strings"

	"relay/reanchor/git"
)

// fetchesIndexed is after how many fetches their packs are indexed together: each fetch that checks its objects leaves a pack.
const fetchesIndexed = 32

// Fetch brings a commit of a slot, with all that the user's repository lacks of it, into that repository, and points ref
// there. Every object is checked. base is a commit that both have.
func (p *Pool) Fetch(ctx context.Context, from *git.Repo, commit, base, ref string) error {
	model, err := p.template.read(ctx)
	if err != nil {
		return err
	}
	if model.partial { // a fetch that checks objects would take what the remote still has for missing
		return p.fetchPack(ctx, from, commit, base, ref)
	}
	call := git.Writing(
		"-c", "fetch.fsckObjects=true", "-c", "protocol.version=2", "-c", "protocol.file.allow=always", "-c", "fetch.writeCommitGraph=false",
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--no-show-forced-updates",
		"--no-prune", "--update-head-ok", "--force", "--refmap=", "--negotiation-tip="+base, "--", from.GitDir(), commit+":"+ref,
	)
	call.Env = append(call.Env, "GIT_ALLOW_PROTOCOL=file")
	if _, err := p.Repo.Run(ctx, call); err != nil || p.fetches.Add(1)%fetchesIndexed > 0 {
		return err
	}
	_, _ = p.Repo.Run(ctx, git.Writing("multi-pack-index", "write")) // else git looks into each pack: slower, nothing more
	return nil
}

// fetchPack fetches into a partial clone: git checks each object, but not that the objects it names are there.
func (p *Pool) fetchPack(ctx context.Context, from *git.Repo, commit, base, ref string) (err error) {
	path, err := p.folder.scratch("pack-" + commit)
	if err != nil {
		return err
	}
	pack, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pack.Close(), os.Remove(path)) }()
	call := git.Writing("pack-objects", "--quiet", "--revs", "--thin", "--missing=allow-promisor", "--stdout")
	call.Stdin, call.Stdout = strings.NewReader(commit+"\n^"+base+"\n"), pack
	if _, err := from.Run(ctx, call); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return err
	}
	call = git.Writing("index-pack", "--stdin", "--fix-thin", "--fsck-objects")
	call.Stdin = pack
	if _, err := p.Repo.Run(ctx, call); err != nil {
		return err
	}
	_, err = p.Repo.Run(ctx, git.Writing("update-ref", "--no-deref", "--", ref, commit))
	return err
}
