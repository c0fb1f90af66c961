package collect

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"relay/epic"
	"relay/epic/pattern"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/git/worktree"
)

// inProduct reports whether a path is in a folder that is a product of tools: relay keeps nothing of that.
func inProduct(p string) bool {
	top := worktree.Product(p)
	return top != "" && top != p
}

// maxSecretFile bounds the untracked files that are searched for secrets, in bytes.
const maxSecretFile = 1 << 20

// junk tells which untracked files relay leaves out of its own commits, unless the plan names them: products of tools, files over
// relay.max_file_mib, and those that hold a secret.
type junk struct {
	wk    *Work
	ctx   context.Context //nolint:containedctx // of the call that the junk is made for
	known map[string]string
}

// is reports whether relay leaves a file out.
func (j *junk) is(p string) bool { return j.name(p) != "" }

// name returns what a person knows the file by; "": it is work.
func (j *junk) name(p string) string {
	key := p
	if top := worktree.Product(p); top != "" {
		key = top
	}
	name, known := j.known[key]
	if !known {
		if name = j.nameOf(p); name != "" && asked(&j.wk.Attempt.Task, p) {
			name = ""
		}
		j.known[key] = name
	}
	return name
}

// listed returns what was left out, in words.
func (j *junk) listed() []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(maps.Values(j.known))), func(name string) bool { return name == "" })
}

// nameOf is name, without the plan.
func (j *junk) nameOf(p string) string {
	wk := j.wk
	git := func(args ...string) string {
		out, _ := wk.Tree.Runner().Git(j.ctx, nil, args...) // what git cannot say is not so
		return strings.TrimSpace(string(out))
	}
	if top := worktree.Product(p); top != "" {
		if git("ls-tree", wk.Attempt.Base, "--", top) != "" {
			return "" // the project commits it
		}
		return top
	}
	full := filepath.Join(wk.Repo.Root(), filepath.FromSlash(p))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if size := tooLarge(wk, info.Size()); size != "" && strings.HasSuffix(git("check-attr", "filter", "--", p), ": unspecified") {
		return p + size
	}
	if info.Size() <= maxSecretFile && !changes.IsTest(p) { // of a test the look at secrets in commits decides
		if text, err := os.ReadFile(full); err == nil {
			if found := wk.Options.Secrets.Matches(string(text)); len(found) > 0 {
				return p + " (" + found[0].Rule + ")"
			}
		}
	}
	return ""
}

// tooLarge returns the size of a file in words if it is over the limit.
func tooLarge(wk *Work, size int64) string {
	if most := wk.Options.Limits.MaxFile; most > 0 && size > most {
		return fmt.Sprintf(" (%d MiB)", size>>20)
	}
	return ""
}

// asked reports whether the task's files, checks or text name a path, or the product that it is part of.
func asked(t *epic.Task, p string) bool {
	said := strings.FieldsFunc(t.Title+"\n"+t.Description+"\n"+strings.Join(t.Files, "\n"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-~", r)
	})
	names := func(name string) bool {
		return slices.ContainsFunc(said, func(word string) bool { return strings.TrimRight(word, ".") == name })
	}
	if top := worktree.Product(p); top != "" {
		return names(path.Base(top))
	}
	return changes.Declared(t, p) || slices.Contains(checks.Named(t), p) || names(path.Base(p))
}

// lacking matches what programs print of a file that is not there.
var lacking = pattern.New(`(?i)no such file|not found|cannot (?:find|open|access|stat|read)|does not exist|missing|ENOENT`)

// Missed returns the first of the files that relay left out of which an output says that it is not there; "": none.
func Missed(leftOut []string, output string) string {
	for line := range strings.Lines(output) {
		if !lacking.MatchString(line) {
			continue
		}
		for _, what := range leftOut {
			name, _, _ := strings.Cut(what, " (")
			words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`:;,()[]<>/\\", r) })
			if slices.Contains(words, path.Base(name)) && !inProduct(name+"/x") {
				return what
			}
		}
	}
	return ""
}
