package changes

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
)

// Unchanged returns the claimed paths that git does not list.
func Unchanged(files []string, names []git.Change) []string {
	var missing []string
	for _, p := range files {
		clean := cleanClaim(p) // an agent may give whole paths: what it says is compared, not trusted
		if !slices.ContainsFunc(names, func(n git.Change) bool { return n.Path == clean || strings.HasSuffix(clean, "/"+n.Path) }) {
			missing = append(missing, p)
		}
	}
	return missing
}

// Claims reports whether an agent lists a path among the files it has changed. It may give whole paths.
func Claims(claimed []string, p string) bool {
	return slices.ContainsFunc(claimed, func(files string) bool {
		files = cleanClaim(files)
		return files == p || strings.HasSuffix(files, "/"+p)
	})
}

func cleanClaim(p string) string { return path.Clean(filepath.ToSlash(p)) }

// NoteSettings notes work that changes how relay works where it lands.
func NoteSettings(r *engine.Result, o *engine.LocalOptions, names []git.Change) {
	var changed []string
	for _, path := range o.Files {
		rel, err := filepath.Rel(o.Root, path)
		if err == nil && slices.ContainsFunc(names, func(n git.Change) bool {
			return n.Path == filepath.ToSlash(rel) || n.From == filepath.ToSlash(rel)
		}) {
			changed = append(changed, rel)
		}
	}
	if len(changed) > 0 {
		r.Note("settings", "the agent changed "+plaintext.Listed(changed)+", which configures relay wherever that lands")
	}
}

// NoteLinks notes new links that lead out of the checkout: what is found there is in no other clone, and checks pass by it.
func NoteLinks(r *engine.Result, root string, names []git.Change) {
	for _, n := range names {
		if n.Code == "D" {
			continue
		}
		target, err := os.Readlink(filepath.Join(root, filepath.FromSlash(n.Path)))
		if err != nil { // it is not a link
			continue
		}
		to := filepath.ToSlash(target)
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(n.Path), to))) {
			r.Note("link", n.Path+" is a link to "+plaintext.Capped(to, 200)+", outside the repository: no other clone has what is there")
		}
	}
}

// Notable describes, as a suffix for a message, the protected files and tests that commits change which no check has seen.
func Notable(ctx context.Context, repo *git.Repo, plan *epic.Epic, from, to string) string {
	names, err := repo.Names(ctx, from, to)
	if err != nil {
		return "; what they change git does not say"
	}
	globs := slices.Clone(plan.Protected)
	for i := range plan.Tasks {
		globs = append(globs, plan.Tasks[i].Protected...)
	}
	var protected, tests []string
	for _, n := range names {
		switch was := plaintext.FirstOf(n.From, n.Path); {
		case len(ProtectedHits(globs, []git.Change{n})) > 0:
			protected = append(protected, was)
		case IsTest(was) && n.Code != "A":
			tests = append(tests, was)
		}
	}
	message := ""
	if len(protected) > 0 {
		message += "; that changes " + plaintext.Listed(protected) + ", which is protected"
	}
	if len(tests) > 0 {
		message += "; that changes the tests in " + plaintext.Listed(tests)
	}
	return message
}
