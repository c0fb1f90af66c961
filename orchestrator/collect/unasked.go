package collect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/orchestrator/changes"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// lookForUnasked sees what the agent's own commits bring that the task does not ask for: products of tools and large files, secrets, and
// branches of the user's that it merged. If only earlier commits of the attempt have a secret, the attempt becomes one commit without it.
func lookForUnasked(ctx context.Context, wk *Work, names []git.Change) error {
	w, f, base := wk.Evidence.Work, wk.State, wk.Attempt.Base
	w.Unasked, w.Secrets, w.Merged = nil, nil, nil
	if err := errors.Join(findJunk(ctx, wk, names), findMerged(ctx, wk)); err != nil {
		return err
	}
	search := Search{wk.Repo, wk.Options.Secrets}
	found, err := search.Diff(ctx, base, f.Head)
	if err != nil {
		f.Note("secret", "the work was not searched for secrets: "+err.Error())
		return ctx.Err()
	}
	for _, s := range found {
		if !slices.ContainsFunc(w.Secrets, func(has string) bool { return has == s.String() }) {
			w.Secrets = append(w.Secrets, s.String())
		}
	}
	if len(w.Secrets)+len(w.Merged) > 0 || w.Theirs {
		return nil
	}
	before, err := search.Commits(ctx, base, f.Head)
	if err == nil && len(before) > 0 {
		if f.Head, err = worktree.Squash(ctx, wk.Tree, base, f.Head); err == nil {
			f.Note("secret", before[0].String()+" was in an earlier commit of the attempt: relay made one commit of them, without it")
		}
	}
	return err
}

// findJunk finds products of tools and large files that the commits add.
func findJunk(ctx context.Context, wk *Work, names []git.Change) error {
	added := each.Where(names, func(n git.Change) (string, bool) {
		return n.Path, n.Code == "A" && !strings.Contains(n.Path, "\n") && !asked(&wk.Attempt.Task, n.Path)
	})
	if len(added) == 0 {
		return nil
	}
	list := wk.State.Head + ":" + strings.Join(added, "\n"+wk.State.Head+":") + "\n"
	out, err := wk.Tree.Runner().Git(ctx, strings.NewReader(list), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return err
	}
	sizes := strings.Split(string(out), "\n")
	for i, p := range added {
		size, _ := strconv.ParseInt(sizes[min(i, len(sizes)-1)], 10, 64) // a missing object has none
		name := worktree.Product(p)
		if large := tooLarge(wk, size); name == "" && large != "" {
			name = p + large
		}
		if name != "" {
			wk.Evidence.Work.Unasked = append(wk.Evidence.Work.Unasked, name)
		}
	}
	slices.Sort(wk.Evidence.Work.Unasked)
	wk.Evidence.Work.Unasked = slices.Compact(wk.Evidence.Work.Unasked)
	return nil
}

// Files that people read, and words of a task that asks for such.
var (
	document  = pattern.New(`(?i)(^|/)(docs?/.*|[^/]*\.(md|mdx|rst|adoc)|(readme|changelog|license)(\.txt)?)$`)
	documents = pattern.New(`(?i)\bdocs?\b|document|readme|changelog|licen[cs]e|\.(md|rst|adoc)\b|\b(page|article|post|guide|tutorial|manual|notes?|text)s?\b|translat|describe|write[- ]?up`)
)

// reviewed returns the files that a review changes and does not name, but for new documents.
func reviewed(t *epic.Task, names []git.Change) []string {
	return each.Where(names, func(n git.Change) (string, bool) {
		return n.Path, t.Kind == epic.KindReview && !asked(t, n.Path) && (n.Code != "A" || !document.MatchString(n.Path))
	})
}

// onlyDocuments reports whether an attempt has changed only files that people read, and its task, which is not a review, neither asks for
// that nor has a criterion.
func onlyDocuments(t *epic.Task, names []git.Change) bool {
	return len(t.Criteria) == 0 && !documents.MatchString(t.Title+"\n"+t.Description+"\n"+strings.Join(t.Files, "\n")) &&
		t.Kind != epic.KindReview && !slices.ContainsFunc(names, func(n git.Change) bool {
		return !document.MatchString(n.Path) || changes.IsCode(n) || asked(t, n.Path)
	})
}

// removes matches what a task says that asks for a file to go, or to be somewhere else.
var removes = pattern.New(`(?i)\b(remov|delet|drop|renam|mov(e|ing)\b|get rid|obsolete|unused|clean|stop|no longer|without|replac|merge|inline|convert|migrat|port(s|ed|ing)?\b|rewr|split|extract)`)

// absent lists the files that the task names and that are nowhere, if it has no checks that would show them and asks for none to go. Words
// in place of a path name none.
func (wk *Work) absent(ctx context.Context) []string {
	t := &wk.Attempt.Task
	if len(t.Checks) > 0 || removes.MatchString(t.Title+"\n"+t.Description) {
		return nil
	}
	return each.Where(t.Files, func(p string) (string, bool) {
		anywhere := ":(top,glob)**/" + strings.TrimSuffix(p, "/")
		args := []string{"ls-files", "--cached", "--others", "--", ":(top,literal)" + p, anywhere, anywhere + "/**"}
		there, err := wk.Repo.Run(ctx, git.Call{Args: args})
		_, lost := os.Lstat(filepath.Join(wk.Repo.Root(), p)) // it may be in a submodule, or ignored
		return p, err == nil && len(there) == 0 && errors.Is(lost, fs.ErrNotExist) && !strings.ContainsAny(p, "*?[{:# ")
	})
}

// findMerged finds branches of the user's that the agent merged into its slot, without those that it pushed itself.
func findMerged(ctx context.Context, wk *Work) error {
	if wk.InUsers {
		return nil
	}
	merged, err := wk.Tree.Runner().Git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname:lstrip=3)",
		"--merged="+wk.State.Head, "--no-merged="+wk.Attempt.Base, "refs/remotes/origin")
	for line := range strings.Lines(string(merged)) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "relay/"+wk.Options.Epic.ID && git.Has(ctx, wk.Tree.Home, commit) {
			wk.Evidence.Work.Merged = append(wk.Evidence.Work.Merged, name)
		}
	}
	return err
}
