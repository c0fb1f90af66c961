package checkup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"relay/cmd/relay/internal/project"
	"relay/configs"
	"relay/reanchor"
)

// Mend is what relay check can put right itself, after a question.
type Mend struct {
	Question string
	Do       func(context.Context) (done string, err error)
}

// MendAll puts right what relay can, and says so in its point.
func MendAll(ctx context.Context, points []Point) error {
	for i, p := range points {
		if p.Mend == nil {
			continue
		}
		done, err := p.Mend.Do(ctx)
		if err != nil {
			return err
		}
		points[i] = Point{Name: p.Name, State: OK, Message: done}
	}
	return nil
}

// Offer asks a person whether relay shall put right what it can.
func Offer(ctx context.Context, w io.Writer, points []Point, confirm func(question string) bool) error {
	for _, p := range points {
		if p.Mend == nil || !confirm("\n"+p.Mend.Question) {
			continue
		}
		done, err := p.Mend.Do(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, done)
	}
	return nil
}

// localFile reports the person's own configuration when git has it or may come to have it.
func (c *checkup) localFile(ctx context.Context) {
	if !project.Exists(filepath.Join(c.project.Root, configs.LocalFile)) {
		return
	}
	_, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--error-unmatch", "--", ":(top)" + configs.LocalFile}})
	tracked := err == nil
	_, err = c.project.Git.Run(ctx, reanchor.Call{Args: []string{"check-ignore", "--quiet", "--no-index", "--", configs.LocalFile}})
	ignored := err == nil
	switch {
	case tracked:
		c.add(Warn, "configuration", configs.LocalFile+" is tracked by git: your own settings become those of everybody, and agents can change them for all",
			"relay check --yes, or git rm --cached "+configs.LocalFile+" and a line /"+configs.LocalFile+" in .gitignore; then git commit")
		c.points[len(c.points)-1].Mend = &Mend{
			Question: "Take " + configs.LocalFile + " out of git and have git ignore it? The file stays.",
			Do: func(ctx context.Context) (string, error) {
				if !ignored {
					if err := c.ignoreLocalFile(); err != nil {
						return "", err
					}
				}
				_, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"rm", "--cached", "--quiet", "--force", "--", configs.LocalFile}})
				return configs.LocalFile + " is ignored and, with the next commit, not in git any more: git commit -m \"Leave out " + configs.LocalFile + "\"", err
			},
		}
	case !ignored:
		c.add(Warn, "configuration", configs.LocalFile+" is not ignored by git: the next git add -A takes your own settings into a commit",
			"relay check --yes, or a line /"+configs.LocalFile+" in .gitignore")
		c.points[len(c.points)-1].Mend = &Mend{
			Question: "Have git ignore " + configs.LocalFile + "?",
			Do: func(context.Context) (string, error) {
				return configs.LocalFile + " is ignored (info/exclude in .git, which is in no commit)", c.ignoreLocalFile()
			},
		}
	}
}

// ignoreLocalFile adds the file to those that git ignores in this repository alone: no file of a commit changes.
func (c *checkup) ignoreLocalFile() error {
	file := filepath.Join(c.project.Git.CommonDir(), "info", "exclude")
	known, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	line := "/" + configs.LocalFile + "\n"
	if len(known) > 0 && known[len(known)-1] != '\n' {
		line = "\n" + line
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// unread reports configuration between the folder that the user is in and the root of the repository: relay reads that of the root.
func (c *checkup) unread() {
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
			if !project.Exists(file) {
				continue
			}
			at := project.Rel(root, file)
			c.add(Warn, "configuration", fmt.Sprintf("%s is not read: relay reads %s at the root of the repository", at, name),
				fmt.Sprintf("write what it says into %s there", name))
		}
	}
}
