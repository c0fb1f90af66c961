package checkup

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic"
	"relay/reanchor"
)

// protected looks for globs that protect nothing of what is in the repository, and for links of which only the link is.
func (c *checkup) protected(ctx context.Context) {
	globs := slices.Clone(c.plan.Epic.Protected)
	for i := range c.plan.Epic.Tasks {
		globs = append(globs, c.plan.Epic.Tasks[i].Protected...)
	}
	slices.Sort(globs)
	if globs = slices.Compact(globs); len(globs) == 0 {
		return
	}
	out, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-s", "-z"}, Limit: 256 << 20})
	if err != nil {
		c.fail("protected", err)
		return
	}
	var files, links []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if mode, name, ok := strings.Cut(entry, "\t"); ok {
			files = append(files, name)
			if strings.HasPrefix(mode, "120000 ") {
				links = append(links, name)
			}
		}
	}
	covered := func(glob string) bool {
		return slices.ContainsFunc(files, func(p string) bool { return epic.Covers(glob, p) })
	}
	for _, glob := range globs {
		if covered(glob) {
			continue
		}
		fix := "write the path as git ls-files shows it"
		if deep := "**/" + glob; !strings.Contains(glob, "/") && covered(deep) {
			fix = "write " + deep + ": without a slash it is about the root only"
		}
		c.add(Warn, "protected", glob+" covers no file that git has", fix)
	}
	c.protectedLinks(globs, links)
}

// protectedLinks warns of links whose target anybody may change.
func (c *checkup) protectedLinks(globs, links []string) {
	safe := func(p string) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return epic.Covers(glob, p) })
	}
	for _, link := range slices.DeleteFunc(links, func(p string) bool { return !safe(p) }) {
		target, err := os.Readlink(filepath.Join(c.project.Root, filepath.FromSlash(link)))
		if err != nil {
			continue
		}
		to := path.Join(path.Dir(link), filepath.ToSlash(target))
		var fix string
		switch {
		case filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(to)):
			fix = "put a file in its place: what is outside the repository cannot be protected"
		case !safe(to):
			fix = "protect " + to + " as well"
		default:
			continue
		}
		c.add(Warn, "protected", link+" is a link: what it leads to may be changed", fix)
	}
}
