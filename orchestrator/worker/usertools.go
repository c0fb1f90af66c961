package worker

import (
	"os"
	"path/filepath"

	"relay/orchestrator/git/gitconfig"
	"relay/orchestrator/userconfig"
)

// hooks are those that a person's own git runs in the morning. relay's runs none.
var hooks = []string{
	"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-rebase", "pre-push",
}

// watchTools holds what the user's tools go by: agents have the same home.
func (g *workspace) watchTools() {
	shared := g.home.CommonDir()
	files := []string{filepath.Join(shared, "objects", "info", "alternates")}
	for _, name := range hooks {
		files = append(files, filepath.Join(shared, "hooks", name))
	}
	g.user = &userconfig.Watch{
		Env: append(append([]string{}, g.o.Env...), g.o.CommandEnv...), Files: files, Folder: filepath.Join(g.o.Dir, "runs", g.o.Run, "user"),
	}
}

// watchLinks watches the programs behind what slots link to.
func (s *slotEngine) watchLinks() {
	_, linked := s.files.Names()
	for _, name := range linked {
		path := filepath.Join(s.home.Root(), filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			s.user.Links = append(s.user.Links, path)
		}
	}
}

// watch begins a time in which an agent's code runs; unwatch ends it.
func (g *workspace) watch() {
	g.rules.Enter()
	g.user.Enter()
}

func (g *workspace) unwatch() {
	g.user.Leave()
	g.rules.Leave()
}

// mendTools puts back what was done to what the user's tools go by.
func (c tamperGuard) mendTools(f *state) {
	for _, change := range c.user.Mend() {
		c.recordTampering(f, gitconfig.Tampering{Text: change.Text, Serious: change.Serious})
	}
}
