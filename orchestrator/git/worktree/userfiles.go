package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// UserFiles names what in a checkout is the user's own: untracked and ignored files and folders that were there before the run,
// which are never committed and never removed, and tracked files with a flag that hides changes from git.
// In methods that take a [git.Runner] it is that of the checkout.
type UserFiles struct {
	own    map[string]bool // paths; of folders with a slash at the end
	hidden map[string]bool // nil: not known

	Also func(path string) bool // reports whether further untracked paths are no attempt's; nil: none
}

// Release takes the user's own untracked files out of the index when commit does not have them: an agent that stages everything there is
// would have relay commit them, and git would remove them with the commits of an agent that are taken back.
func (u *UserFiles) Release(ctx context.Context, run git.Runner, commit string) error {
	if len(u.own) == 0 && u.Also == nil {
		return nil
	}
	out, err := run.Git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z", commit, "--")
	if err != nil {
		return err
	}
	return flag(ctx, run, "--force-remove", slices.DeleteFunc(paths(out), func(p string) bool { return !u.Has(p) }))
}

// Record records the user's own files: those that are not tracked, ignored ones among them (an agent that rewrites
// .gitignore would have them committed), and changes that flags hide from git.
func (u *UserFiles) Record(ctx context.Context, run git.Runner) error {
	out, err := run.Git(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching",
		"--ignore-submodules=all")
	if err != nil {
		return err
	}
	u.own = make(map[string]bool)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if p, ok := strings.CutPrefix(entry, "?? "); ok {
			u.own[p] = true
		} else if p, ok := strings.CutPrefix(entry, "!! "); ok {
			u.own[p] = true
		}
	}
	assumed, skipped, err := flagged(ctx, run)
	u.hidden = make(map[string]bool)
	for _, p := range append(assumed, skipped...) {
		u.hidden[p] = true
	}
	return err
}

// Has reports whether a path is the user's own, or below a folder that is.
func (u *UserFiles) Has(p string) bool {
	if u.own[p] || u.Also != nil && u.Also(p) {
		return true
	}
	for at, b := range []byte(p) {
		if b == '/' && u.own[p[:at+1]] {
			return true
		}
	}
	return false
}

// flagged lists tracked files with a flag that hides their changes from git.
func flagged(ctx context.Context, run git.Runner) (assumed, skipped []string, err error) {
	out, err := run.Git(ctx, nil, "ls-files", "-v", "-z")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		tag, p, ok := strings.Cut(entry, " ")
		if !ok {
			continue
		}
		if tag >= "a" {
			assumed = append(assumed, p)
		}
		if strings.EqualFold(tag, "S") && git.Exists(fullPath(run.Repo, p)) {
			skipped = append(skipped, p)
		}
	}
	return assumed, skipped, err
}

// CoverHidden protects the user's own hidden changes from git reset, which heeds only one of the two ways to hide
// them. The function it returns ends that.
func (u *UserFiles) CoverHidden(ctx context.Context, run git.Runner) (uncover func() error, err error) {
	nothing := func() error { return nil }
	if u.hidden != nil && len(u.hidden) == 0 {
		return nothing, nil
	}
	assumed, _, err := flagged(ctx, run)
	assumed = slices.DeleteFunc(assumed, func(p string) bool { return u.hidden != nil && !u.hidden[p] })
	if err != nil || len(assumed) == 0 {
		return nothing, err
	}
	flag := func(name string) error { return flag(ctx, run, name, assumed) }
	return func() error { return flag("--no-skip-worktree") }, flag("--skip-worktree")
}

func flag(ctx context.Context, run git.Runner, name string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := run.Git(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), "update-index", name, "-z", "--stdin")
	return err
}

// Unhide clears the flags with which an attempt has hidden files from git: a change that is hidden so would help the
// checks to pass and be in no commit.
func (u *UserFiles) Unhide(ctx context.Context, run git.Runner) error {
	if u.hidden == nil {
		return nil
	}
	assumed, skipped, err := flagged(ctx, run)
	if err != nil {
		return err
	}
	users := func(p string) bool { return u.hidden[p] }
	err = flag(ctx, run, "--no-assume-unchanged", slices.DeleteFunc(assumed, users))
	return errors.Join(err, flag(ctx, run, "--no-skip-worktree", slices.DeleteFunc(skipped, users)))
}

// Clear forgets the user's own and hidden files: whatever is there counts as an attempt's work.
func (u *UserFiles) Clear() { u.own, u.hidden = make(map[string]bool), make(map[string]bool) }

// HideNothing forgets which files the user has hidden from git: whatever is hidden counts as an attempt's doing.
func (u *UserFiles) HideNothing() { u.hidden = make(map[string]bool) }

// Inherit copies what was recorded before of the same checkout.
func (u *UserFiles) Inherit(from *UserFiles) { u.own, u.hidden = from.own, from.hidden }

// Remove removes what was there before the attempt, as far as it can be removed.
func (u *UserFiles) Remove(repo *git.Repo) {
	root, err := os.OpenRoot(repo.Root())
	if err != nil {
		return
	}
	for p := range u.own {
		_ = root.RemoveAll(filepath.FromSlash(strings.TrimSuffix(p, "/")))
	}
	_ = root.Close()
}

// Save writes down what is the user's own, for a run that has to bring this one to its end. Names are bytes,
// with a NUL behind each: JSON would change those that are no text.
func (u *UserFiles) Save(file string) error {
	var list bytes.Buffer
	for path := range u.own {
		list.WriteString(path)
		list.WriteByte(0)
	}
	list.WriteString(listEnd)
	return os.WriteFile(file, list.Bytes(), 0o600)
}

// listEnd ends a whole list: no path is empty.
const listEnd = "\x00\x00"

// Load reads what Save of an earlier run has written. When that is gone, everything that is there and not
// tracked counts as the user's: nothing of theirs may be taken for an agent's.
func (u *UserFiles) Load(ctx context.Context, run git.Runner, file string) error {
	var list []byte
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() { // an agent has put something else there
		err = fs.ErrNotExist
	}
	if err == nil {
		list, err = os.ReadFile(file)
	}
	list, whole := bytes.CutSuffix(list, []byte(listEnd))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !whole {
		err = u.Record(ctx, run)
		u.hidden = nil
		return err
	}
	u.own, u.hidden = make(map[string]bool), nil
	for path := range strings.SplitSeq(string(list), "\x00") {
		if path != "" {
			u.own[path] = true
		}
	}
	return err
}

// Altered lists files that were there before an attempt, or are in folders that were, and that it has changed since then
// without committing them: those by name, and what is not ignored any more.
func (u *UserFiles) Altered(ctx context.Context, run git.Runner, since time.Time) ([]string, error) {
	newer := func(p string) bool {
		info, err := os.Lstat(filepath.Join(run.Repo.Root(), filepath.FromSlash(p)))
		return err == nil && info.Mode().IsRegular() && info.ModTime().After(since)
	}
	if len(u.own) == 0 {
		return nil, nil
	}
	var altered []string
	for p := range u.own {
		if newer(p) {
			altered = append(altered, p)
		}
	}
	if len(altered) > 0 {
		out, err := run.Git(ctx, nil, append([]string{"ls-files", "-z", "--"}, altered...)...)
		if err != nil {
			return nil, err
		}
		committed := strings.Split(string(out), "\x00")
		altered = slices.DeleteFunc(altered, func(p string) bool { return slices.Contains(committed, p) })
	}
	out, err := run.Git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" && !u.own[p] && u.Has(p) && newer(p) {
			altered = append(altered, p)
		}
	}
	slices.Sort(altered)
	return altered, err
}

// keptMost bounds how much keep keeps, in bytes.
const keptMost = 8 << 20

// KeepAltered copies the files that [UserFiles.Altered] lists into a folder; room makes room for each. It returns a note that ends
// before the name of the folder; "": there are none.
func (u *UserFiles) KeepAltered(
	ctx context.Context, run git.Runner, since time.Time, to string, room func(files ...string) error,
) (note string, err error) {
	names, err := u.Altered(ctx, run, since)
	if err != nil || len(names) == 0 {
		return "", err
	}
	kept, err := keep(run.Repo.Root(), names, to, room)
	return plaintext.Listed(names) + " is of the set-up or was brought by relay: what the agent changed of it is in no commit, and " + kept, err
}

// keep copies files of a checkout into a folder, as far as they are small; room makes room for each. It says so, up to the folder's name.
func keep(checkout string, names []string, to string, room func(files ...string) error) (note string, err error) {
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var tooLarge []string
	left := int64(keptMost)
	for _, name := range names {
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || info.Size() > left {
			tooLarge = append(tooLarge, name)
			continue
		}
		content, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil { // it belongs to another user, say
			tooLarge = append(tooLarge, name)
			continue
		}
		left -= info.Size()
		copied := filepath.Join(to, filepath.FromSlash(name))
		if err := errors.Join(room(copied), os.MkdirAll(filepath.Dir(copied), 0o700)); err != nil {
			return "", err
		}
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			return "", err
		}
	}
	if len(tooLarge) > 0 {
		return "is kept, but for " + plaintext.Listed(tooLarge) + ", which is too large or cannot be read, in ", nil
	}
	return "is kept in ", nil
}

// CommitHint returns what to type about uncommitted changes of files, and then. git stash cannot take back line endings that
// .gitattributes says otherwise than the commit: git converts them again.
func CommitHint(ctx context.Context, repo *git.Repo, paths []string, then string) string {
	args := append([]string{"ls-files", "--eol", "-z", "--"}, paths[:min(len(paths), 21)]...)
	out, err := repo.Run(ctx, git.Call{Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Args: args})
	var converted []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		eol, path, _ := strings.Cut(entry, "\t")
		words := strings.Fields(eol) // i/INDEX w/FILE attr/ATTRIBUTES
		if len(words) > 2 && (words[0] == "i/crlf" || words[0] == "i/mixed") && words[2] == "attr/text" {
			converted = append(converted, plaintext.ShellWord(path))
		}
	}
	if err != nil || len(converted) == 0 {
		return "git commit or git stash them" + then
	}
	if len(converted) > 20 {
		converted = []string{"."}
	}
	return "git config merge.renormalize true && git add --renormalize " + strings.Join(converted, " ") + " && git commit -m 'Normalize line endings'" + then +
		"\ngit stash leaves these changes: .gitattributes and the commit say different line endings"
}
