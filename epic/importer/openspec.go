package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var openspecSection = pattern.New(`^\d+\.?\s+\S`)

func claimsOpenspec(s source) bool {
	if path.Base(s.name) != "tasks.md" || s.has("requirements.md") {
		return false
	}
	change := s.has("proposal.md") || strings.Contains("/"+s.name, "openspec/changes/")
	numbered := slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Kind == markdown.Heading && l.Level == 2 && openspecSection.MatchString(l.Rest)
	})
	return slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Box != 0 && (change || numbered && markdown.Numbered.MatchString(l.Rest))
	})
}

// readOpenspec reads a change folder of OpenSpec: tasks.md with numbered boxes in numbered sections, proposal.md beside it, and what the
// change wants in specs. Its tasks are done in their order: the form has no other.
func readOpenspec(s source, d *draft) {
	proposal := d.read(s, s.beside("proposal.md"))
	companions(d, s, "", "", "proposal.md", "design.md")
	title, proposed := markdown.FirstHeading(proposal)
	change := path.Base(path.Dir(s.name))
	d.title = cmp.Or(strings.TrimSpace(strings.TrimPrefix(title, "Change:")), strings.TrimSpace(strings.TrimPrefix(s.title, "Tasks:")), change)
	d.prose("", proposed)
	_, design := markdown.FirstHeading(d.read(s, s.beside("design.md")))
	d.prose("Design", design)
	for _, name := range pattern.Glob(s.files, path.Dir(s.name), "specs/*/spec.md") {
		d.prose("Spec "+path.Base(path.Dir(name)), d.read(s, name))
	}
	numbered := slices.ContainsFunc(s.body, func(l markdown.Line) bool { return l.Box != 0 && markdown.Numbered.MatchString(l.Rest) })
	if starts := markdown.Steps(s.body); !numbered && markdown.AreTasks(s.body, starts) {
		stepsOf(d, s, starts)
		return
	}
	boxesOf(d, s.body, true)
	d.chain(d.items)
}
