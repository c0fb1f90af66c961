package finish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// Land carries the step out. A branch that is checked out is moved together with its files, any other one by itself,
// and only if it is where it was when the step was made. free is asked before the checkout's files are changed: its
// error says who works there.
func (f *Step) Land(ctx context.Context, free func() error) error {
	if f.How == NothingToLand {
		return nil
	}
	release, err := git.LockRepository(ctx, f.branch.Repo)
	if err != nil {
		return err
	}
	if f.Here {
		err = free()
	}
	if err == nil {
		err = land(ctx, f)
	}
	return errors.Join(err, release())
}

func land(ctx context.Context, f *Step) error {
	call := git.Writing("update-ref", "-m", reflog(f), "refs/heads/"+f.Into, f.New, f.Old)
	if f.Here {
		call = git.Writing("merge", "--quiet", "--ff-only", "--no-squash", "--no-verify-signatures", "--no-autostash", "--no-stat", f.New)
		call.Env = append(call.Env, "GIT_REFLOG_ACTION="+reflog(f),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=branch."+f.Into+".mergeOptions", "GIT_CONFIG_VALUE_0=") // a user's are for merges of theirs
	}
	var apart *worktree.RecordsApart // keeps out what the ledger has beyond its commit, while git changes it
	if f.ledger {
		apart = &worktree.RecordsApart{Repo: f.branch.Repo, All: true}
	}
	err := apart.Do(ctx, func() error {
		_, err := f.branch.Repo.Run(ctx, call)
		return err
	})
	if err == nil {
		return verify(ctx, f)
	}
	if at, asking := f.branch.Repo.Ref(ctx, "refs/heads/"+f.Into); asking == nil && at != f.Old {
		return &attempts.RefusedError{Reason: f.Into + " was moved by another process just now", Hint: "type relay finish again"}
	}
	return fmt.Errorf("put %s at %.12s: %w", f.Into, f.New, err)
}

// verify fails unless Into is where it was put, or has gone on from there since.
func verify(ctx context.Context, f *Step) error {
	at, err := f.branch.Repo.Ref(ctx, "refs/heads/"+f.Into)
	if err != nil || at == f.New {
		return err
	}
	if further, err := git.Contains(ctx, f.branch.Repo, at, f.New); err != nil || further {
		return err
	}
	return fmt.Errorf("git says that it has put %s at %.12s, but it is at %.12s", f.Into, f.New, at)
}

// reflogName begins what the log of a branch says of a step.
const reflogName = "relay finish: "

func reflog(f *Step) string { return reflogName + string(f.How) + " of " + f.Name }

// Undo returns the command that moves Into back to where it was.
func (f *Step) Undo() string {
	if f.Here {
		return "git reset --keep " + f.Old
	}
	return "git branch -f " + plaintext.ShellWord(f.Into) + " " + f.Old
}

// Remote is where a branch is pushed to.
type Remote struct {
	Name   string
	URLs   []string // as configured, and as git rewrites it
	Branch string   // what Into is called there
}

// Remote finds where Into is pushed to: its own remote, the one for all, or the only one.
func (f *Step) Remote(ctx context.Context) (Remote, error) {
	r := Remote{Branch: f.Into}
	var names []string
	if out, err := f.branch.Git(ctx, nil, "remote"); err != nil {
		return r, err
	} else if out != "" {
		names = strings.Split(out, "\n")
	}
	setting := func(key string) string {
		value, _ := f.branch.Git(ctx, nil, "config", "--get", key) // what is not set is an error
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
		return r, &attempts.RefusedError{Reason: "there is no remote that " + f.Into + " belongs to", Hint: remoteHint(f.Into, names)}
	}
	if branch, ok := strings.CutPrefix(setting("branch."+f.Into+".merge"), "refs/heads/"); ok && upstream == r.Name {
		r.Branch = branch
	}
	r.URLs = []string{setting("remote." + r.Name + ".url")}
	if url, err := f.branch.Git(ctx, nil, "remote", "get-url", "--push", r.Name); err == nil && url != r.URLs[0] {
		r.URLs = append(r.URLs, url)
	}
	return r, nil
}

// remoteHint returns what to type when it is not known where a branch is pushed to.
func remoteHint(into string, remotes []string) string {
	if len(remotes) == 0 {
		return "git remote add origin URL, then relay finish --pr"
	}
	return "git config branch." + plaintext.ShellWord(into) + ".remote " + plaintext.ShellWord(remotes[0]) +
		", or another of " + plaintext.Listed(remotes) + "; then relay finish --pr"
}

// Push puts the integration branch onto a remote, under its own name, and nothing else, whatever git is set to push
// besides. The repository's hooks run: one of them uploads large files.
func (f *Step) Push(ctx context.Context, remote string) error {
	call := git.Call{Hooks: true, Writes: true, Args: []string{
		"-c", "remote." + remote + ".mirror=false", "push", "--quiet", "--no-follow-tags",
		"--recurse-submodules=no", "--end-of-options", remote, refspec(f),
	}}
	_, err := f.branch.Repo.Run(ctx, call)
	var gitErr *git.Error
	if !errors.As(err, &gitErr) || ctx.Err() != nil {
		return err
	}
	why := &attempts.RefusedError{Reason: "git push: " + refusal(gitErr), Hint: "what git asks for can be answered when you type it: " + f.PushCommand(remote)}
	if strings.Contains(gitErr.Stderr, "(fetch first)") || strings.Contains(gitErr.Stderr, "(non-fast-forward)") {
		at := plaintext.ShellWord(remote)
		why.Reason = f.Name + " has other commits at " + remote + ": " + why.Reason
		why.Hint = "git push --force " + at + " " + refspec(f) + " replaces them"
		if f.offered == f.Tip {
			why.Hint = "git switch " + f.Name + " && git pull --no-rebase " + at + " " + f.Name + " merges them, then relay finish --pr\n" + why.Hint
		}
	}
	return why
}

// refusal returns why a push was refused, in the words of hooks, of the host, and of git.
func refusal(gitErr *git.Error) string {
	var why []string
	for row := range strings.Lines(gitErr.Stderr) {
		row = plaintext.Fit(row, 200)
		if row != "" && !strings.HasPrefix(row, "To ") && !strings.HasPrefix(row, "hint: ") && !strings.HasPrefix(row, "error: failed to push some refs to ") {
			why = append(why, row)
		}
	}
	if len(why) == 0 {
		return gitErr.Error()
	}
	return strings.Join(why[max(0, len(why)-6):], "; ") // more is too much to read
}

func refspec(f *Step) string { return f.offered + ":refs/heads/" + f.Name }

// PushCommand returns the command that does what Push does, as a person types it.
func (f *Step) PushCommand(remote string) string {
	return "git push " + plaintext.ShellWord(remote) + " " + refspec(f)
}
