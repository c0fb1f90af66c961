package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/reanchor"
)

// Land takes the step. A branch that is checked out is moved together with its files, any other one by itself, and
// only if it is where it was when the step was made.
func (f *Finish) Land(ctx context.Context) error {
	if f.How == NothingToLand {
		return nil
	}
	release, err := lockRepository(ctx, f.trunk.repo)
	if err != nil {
		return err
	}
	if f.Here {
		err = unoccupied(f.trunk.repo)
	}
	if err == nil {
		err = f.land(ctx)
	}
	return errors.Join(err, release())
}

// unoccupied refuses a checkout in which a run of another epic works.
func unoccupied(repo *reanchor.Git) error {
	entries, err := os.ReadDir(repo.GitDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, _, ok := runOfLock(e.Name()); !ok {
			continue
		}
		path := filepath.Join(repo.GitDir(), e.Name())
		who, err := attempts.HeldBy(path)
		if err != nil {
			return err
		}
		if who != nil {
			return &InUseError{&attempts.HeldError{Holder: *who, Path: path}}
		}
	}
	return nil
}

func (f *Finish) land(ctx context.Context) error {
	call := writing("update-ref", "-m", f.reflog(), "refs/heads/"+f.Into, f.New, f.Old)
	if f.Here {
		call = writing("merge", "--quiet", "--ff-only", "--no-autostash", "--no-stat", f.New)
		call.Env = append(call.Env, "GIT_REFLOG_ACTION="+f.reflog())
	}
	_, err := f.trunk.repo.Run(ctx, call)
	if err == nil {
		return nil
	}
	if at, asking := f.trunk.repo.Ref(ctx, "refs/heads/"+f.Into); asking == nil && at != f.Old {
		return &RefusedError{Reason: f.Into + " was moved by somebody else this moment", Hint: "type relay finish again"}
	}
	return fmt.Errorf("put %s at %.12s: %w", f.Into, f.New, err)
}

func (f *Finish) reflog() string { return "relay finish: " + string(f.How) + " of " + f.Branch }

// Undo is what to type to have Into where it was.
func (f *Finish) Undo() string {
	if f.Here {
		return "git reset --keep " + f.Old
	}
	return "git branch -f " + ShellWord(f.Into) + " " + f.Old
}

// Remote is where a branch is pushed to.
type Remote struct {
	Name   string
	URLs   []string // as configured, and as git rewrites it
	Branch string   // what Into is called there
}

// Remote finds where Into is pushed to: its own remote, the one for all, or the only one.
func (f *Finish) Remote(ctx context.Context) (Remote, error) {
	r := Remote{Branch: f.Into}
	var names []string
	if out, err := f.trunk.git(ctx, nil, "remote"); err != nil {
		return r, err
	} else if out != "" {
		names = strings.Split(out, "\n")
	}
	setting := func(key string) string {
		value, _ := f.trunk.git(ctx, nil, "config", "--get", key) // what is not set is an error
		return value
	}
	upstream := setting("branch." + f.Into + ".remote")
	for _, name := range []string{setting("branch." + f.Into + ".pushRemote"), setting("remote.pushDefault"), upstream, "origin"} {
		if slices.Contains(names, name) {
			r.Name = name
			break
		}
	}
	if r.Name == "" && len(names) == 1 {
		r.Name = names[0]
	}
	if r.Name == "" {
		return r, &RefusedError{Reason: "there is no remote that " + f.Into + " belongs to", Hint: "git remote add origin URL, then relay finish --pr"}
	}
	if branch, ok := strings.CutPrefix(setting("branch."+f.Into+".merge"), "refs/heads/"); ok && upstream == r.Name {
		r.Branch = branch
	}
	r.URLs = []string{setting("remote." + r.Name + ".url")}
	if url, err := f.trunk.git(ctx, nil, "remote", "get-url", "--push", r.Name); err == nil && url != r.URLs[0] {
		r.URLs = append(r.URLs, url)
	}
	return r, nil
}

// Push puts the integration branch onto a remote, under its own name. The repository's hooks run: one of them uploads
// large files.
func (f *Finish) Push(ctx context.Context, remote string) error {
	call := reanchor.Call{Hooks: true, Writes: true, Args: []string{"push", "--quiet", "--end-of-options", remote, f.refspec()}}
	_, err := f.trunk.repo.Run(ctx, call)
	var said *reanchor.GitError
	if !errors.As(err, &said) || ctx.Err() != nil {
		return err
	}
	return &RefusedError{Reason: said.Error(), Hint: "what git asks for can be answered when you type it: " + f.PushCommand(remote)}
}

func (f *Finish) refspec() string { return f.Tip + ":refs/heads/" + f.Branch }

// PushCommand is what to type to do what Push does.
func (f *Finish) PushCommand(remote string) string {
	return "git push " + ShellWord(remote) + " " + f.refspec()
}

// ShellWord writes text so that a person can paste it into a shell as one word.
func ShellWord(text string) string {
	odd := func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\$`!*?[](){}<>|&;#~", r) }
	if text != "" && !strings.ContainsFunc(text, odd) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
