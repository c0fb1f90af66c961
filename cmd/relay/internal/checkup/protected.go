package checkup

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/globs"
	"relay/reanchor"
)

// protected reports globs that protect nothing of what is in the repository, and links of which only the link is.
func (c *checkup) protected(ctx context.Context) {
	patterns := slices.Clone(c.plan.Epic.Protected)
	for i := range c.plan.Epic.Tasks {
		patterns = append(patterns, c.plan.Epic.Tasks[i].Protected...)
	}
	slices.Sort(patterns)
	if patterns = slices.Compact(patterns); len(patterns) == 0 {
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
		return slices.ContainsFunc(files, func(p string) bool { return globs.Covers(glob, p) })
	}
	for _, glob := range patterns {
		if covered(glob) {
			continue
		}
		fix := "write the path as git ls-files shows it"
		if deep := "**/" + glob; !strings.Contains(glob, "/") && covered(deep) {
			fix = "write " + deep + ": without a slash it is about the root only"
		}
		c.add(Warn, "protected", glob+" covers no file that git has", fix)
	}
	c.protectedLinks(patterns, links)
}

// protectedLinks warns of links whose target anybody may change.
func (c *checkup) protectedLinks(patterns, links []string) {
	safe := func(p string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, p) })
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
