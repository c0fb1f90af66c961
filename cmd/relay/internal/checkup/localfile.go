package checkup

import (
	"context"
	"fmt"
	"path/filepath"

	"relay/configs"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// localFile reports the person's own configuration when git has it or may come to have it.
func checkLocalFile(ctx context.Context, c *checkup) {
	if !git.Exists(filepath.Join(c.project.Root, configs.LocalFile)) {
		return
	}
	_, err := c.project.Git.Run(ctx, git.Call{Args: []string{"ls-files", "--error-unmatch", "--", ":(top)" + configs.LocalFile}})
	if err == nil {
		c.add(Warn, "configuration", configs.LocalFile+" is tracked by git: your own settings become those of everybody, and agents can change them for all",
			"git rm --cached "+configs.LocalFile+" and a line /"+configs.LocalFile+" in .gitignore; then git commit")
		return
	}
	_, err = c.project.Git.Run(ctx, git.Call{Args: []string{"check-ignore", "--quiet", "--no-index", "--", configs.LocalFile}})
	if err != nil {
		c.add(Warn, "configuration", configs.LocalFile+" is not ignored by git: the next git add -A takes your own settings into a commit",
			"add a line /"+configs.LocalFile+" to .gitignore")
	}
}

// checkUnread reports configuration between the folder that the user is in and the root of the repository: relay reads that of the root.
func checkUnread(c *checkup) {
	root, err := filepath.EvalSymlinks(c.project.Root)
	if err != nil {
		return // the repository was found there
	}
	dir, err := filepath.EvalSymlinks(c.project.Session.Dir)
	if err != nil {
		return
	}
	for ; dir != root && len(dir) > len(root); dir = filepath.Dir(dir) {
		for _, name := range []string{configs.SharedFile, configs.LocalFile} {
			file := filepath.Join(dir, name)
			if !git.Exists(file) {
				continue
			}
			at := plaintext.Relative(root, file)
			c.add(Warn, "configuration", fmt.Sprintf("%s is not read: relay reads %s at the root of the repository", at, name),
				fmt.Sprintf("write what it says into %s there", name))
		}
	}
}
