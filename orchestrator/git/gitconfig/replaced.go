package gitconfig

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

const replaceRefs = "refs/replace/"

// packedReplacements is what packed-refs has of them, as of info.
type packedReplacements struct {
	info fs.FileInfo
	refs map[string]string
}

// replacements returns the objects that git shows for others, by their refs: relay's own git does not, but that of checks
// and of the user does. It reads files, for it is asked all the time; other ways to keep refs it does not know.
func (r *Guard) replacements() map[string]string {
	shared := r.Repo.CommonDir()
	all := maps.Clone(r.packed.read(filepath.Join(shared, "packed-refs")))
	entries, _ := os.ReadDir(filepath.Join(shared, filepath.FromSlash(replaceRefs))) // none as a rule
	for _, e := range entries {
		if hash := strings.TrimSpace(gitcmd.Contents(filepath.Join(shared, filepath.FromSlash(replaceRefs)), []string{e.Name()})[0]); hash != "" {
			if all == nil {
				all = make(map[string]string)
			}
			all[replaceRefs+e.Name()] = hash
		}
	}
	return all
}

// read reads them anew when it is another file than before.
func (p *packedReplacements) read(path string) map[string]string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		*p = packedReplacements{}
		return nil
	}
	if p.info != nil && os.SameFile(info, p.info) && info.Size() == p.info.Size() && info.ModTime().Equal(p.info.ModTime()) {
		return p.refs
	}
	text, _ := os.ReadFile(path) // gone meanwhile: as if it was not there
	*p = packedReplacements{info: info}
	for line := range strings.Lines(string(text)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(name, replaceRefs) {
			if p.refs == nil {
				p.refs = make(map[string]string)
			}
			p.refs[name] = hash
		}
	}
	return p.refs
}

// mendReplaced puts back which objects stand for others.
func (r *Guard) mendReplaced(ctx context.Context) error {
	now := r.replacements()
	if maps.Equal(now, r.replaced) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, was := r.replaced[name]; !was {
			if _, err := r.Repo.Run(ctx, gitcmd.Writing("update-ref", "--no-deref", "-d", name)); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.replaced)) {
		if r.replaced[name] != now[name] {
			if _, err := r.Repo.Run(ctx, gitcmd.Writing("update-ref", "--no-deref", "--", name, r.replaced[name])); err != nil {
				return err
			}
		}
	}
	r.unreported = append(r.unreported, Tampering{"which objects git shows for others (git replace -l) was changed during the attempt; relay put it back", true})
	return nil
}
