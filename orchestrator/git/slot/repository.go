package slot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/reanchor/git"
)

// template makes repositories for slots, and restores them.
type template struct {
	repo   *git.Repo // the user's
	folder *slotFolder

	mu    sync.Mutex
	known *model // nil: not read yet
}

// model is what the repository of every slot has. It is read once for a run.
type model struct {
	files   map[string]string // by name, from the slot's .git: configuration, info files, alternates, the mark
	keys    []string          // folders of the user's .git that the slot's has as copies
	partial bool              // the user's repository is a partial clone
}

// steering are the files of a .git that say how git reads and writes a checkout, and where its objects are. A slot has
// exactly those of its model; commondir would make another repository of it.
var steering = []string{
	"config", "config.worktree", "commondir", "info/attributes", "info/exclude",
	"info/grafts", "info/sparse-checkout", "objects/info/alternates", slotMark,
}

// read returns the model.
func (t *template) read(ctx context.Context) (*model, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known != nil {
		return t.known, nil
	}
	config, settings, err := initial(ctx, t)
	if err != nil {
		return nil, err
	}
	shared := t.repo.CommonDir()
	files := map[string]string{
		"config":                  config + settings.text(),
		"objects/info/alternates": alternates(filepath.Join(shared, "objects")),
		slotMark:                  "1\n",
	}
	for _, name := range []string{"info/attributes", "info/exclude"} {
		files[name] = fileText(filepath.Join(shared, filepath.FromSlash(name)))
	}
	files["info/attributes"] = "* !diff\n" + files["info/attributes"] // no .gitattributes hides a change from a reviewer
	if settings.sparse {
		files["info/sparse-checkout"] = fileText(filepath.Join(t.repo.GitDir(), "info", "sparse-checkout"))
	}
	t.known = &model{files, settings.keys, settings.partial}
	return t.known, nil
}

// initial returns the configuration that git init writes on this file system, and the settings that a slot has besides.
func initial(ctx context.Context, t *template) (text string, s settings, err error) {
	dir, err := t.folder.scratch(fmt.Sprint("init-", os.Getpid())) // other processes make slots beside it
	if err = errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		return "", s, err
	}
	format := "--object-format=sha1"
	if t.repo.Wide() {
		format = "--object-format=sha256"
	}
	call := git.Writing("-c", "init.defaultRefFormat=files", "-c", "init.defaultBranch=main",
		"init", "--quiet", "--template=", format, "--", dir)
	call.Dir, call.Env = filepath.Dir(dir), append(call.Env, "GIT_DEFAULT_REF_FORMAT=files")
	if _, err := git.Run(ctx, call); err != nil {
		return "", s, err
	}
	if s, err = settingsOf(ctx, t.repo, borrower(t.repo, dir)); err != nil {
		return "", s, err
	}
	text = fileText(filepath.Join(dir, ".git", "config"))
	return text, s, git.RemoveTree(dir)
}

// fileText reads a file; "" when it cannot.
func fileText(path string) string { return git.Plain(path, git.SmallFile) }

// alternates returns the file that names the folder of objects a repository borrows from.
func alternates(objects string) string {
	if strings.ContainsAny(objects, "\n\"") || strings.HasPrefix(objects, "#") {
		objects = quoted(objects)
	}
	return objects + "\n"
}

// Borrows reports whether a repository is a slot of another one.
func Borrows(repo, from *git.Repo) bool {
	return fileText(filepath.Join(repo.CommonDir(), "objects", "info", "alternates")) == alternates(filepath.Join(from.CommonDir(), "objects"))
}

// quoted quotes as C does, which git reads in alternates and in its configuration.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(text) + `"`
}

// create makes a repository at dir whose file HEAD says head.
func (t *template) create(ctx context.Context, dir, head string) error {
	model, err := t.read(ctx)
	if err != nil {
		return err
	}
	refs, err := refsFor(ctx, t.repo)
	if err != nil {
		return err
	}
	for _, folder := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o755); err != nil {
			return err
		}
	}
	write := func(name, text string) error {
		if text == "" {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644)
	}
	for name, text := range model.files {
		err = errors.Join(err, write(name, text))
	}
	return errors.Join(err, copyKeys(t.repo, dir, model.keys), write("packed-refs", refs), cut(t.repo, dir), write("HEAD", head))
}

// restore rewrites the files that say how git reads the slot as relay has made them.
func (t *template) restore(ctx context.Context, dir string) error {
	model, err := t.read(ctx)
	if err != nil {
		return err
	}
	for _, name := range steering {
		path, text := filepath.Join(dir, filepath.FromSlash(name)), model.files[name]
		if text == "" {
			err = errors.Join(err, git.RemoveTree(path))
		} else if fileText(path) != text {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), replace(path, text))
		}
	}
	return errors.Join(err, copyKeys(t.repo, dir, model.keys), cut(t.repo, dir))
}

// Probe has use ask git what it would do in a slot at HEAD: with the git folder of one, and its index, in the user's checkout.
func Probe(ctx context.Context, home *git.Repo, use func(repo *git.Repo) error) error {
	dir, err := os.MkdirTemp("", "relay-probe-")
	if err != nil {
		return err
	}
	own, t := filepath.Join(dir, "git"), template{repo: home, folder: &slotFolder{path: dir}}
	repo := home.Borrower(home.Root(), own)
	head, err := home.Head(ctx)
	if err == nil {
		err = t.create(ctx, own, head+"\n")
	}
	if err == nil {
		_, err = repo.Run(ctx, writing("read-tree", head))
	}
	if err == nil {
		err = use(repo)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// copyKeys gives a slot's git folder what filters keep in the user's.
func copyKeys(from *git.Repo, dir string, names []string) error {
	for _, name := range names {
		to := filepath.Join(dir, name)
		err := errors.Join(git.RemoveTree(to), os.Mkdir(to, 0o700))
		if err = errors.Join(err, os.CopyFS(to, os.DirFS(filepath.Join(from.CommonDir(), name)))); err != nil {
			return err
		}
	}
	return nil
}

// cut makes the slot's history end where the user's does.
func cut(from *git.Repo, dir string) error {
	to := filepath.Join(dir, "shallow")
	text, err := os.ReadFile(filepath.Join(from.CommonDir(), "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return git.RemoveTree(to)
	}
	if err != nil || git.SameAs(text, to) {
		return err
	}
	return errors.Join(git.RemoveTree(to), os.WriteFile(to, text, 0o644))
}

// refsFor returns the file packed-refs of a slot: the user's branches as those of a remote named origin, their tags, what
// they know of remotes, and the refs that keep earlier work, which briefs name. The branch they are on and those of relay are there by
// their own names as well. Tasks' branches are not: no task builds on work that has not landed.
func refsFor(ctx context.Context, from *git.Repo) (string, error) {
	out, err := from.Run(ctx, git.Call{Limit: git.MaxPrinted, Args: []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads", "refs/tags", "refs/remotes", "refs/relay"}})
	if err != nil {
		return "", err
	}
	own, err := from.Branch(ctx)
	if err != nil {
		return "", err
	}
	found := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || strings.HasPrefix(fields[1], "refs/heads/"+git.TaskBranches) { // one with three stands for another one
			continue
		}
		if branch, ok := strings.CutPrefix(fields[1], "refs/heads/"); ok {
			found["refs/remotes/origin/"+branch] = fields[0]
			if branch == own || strings.HasPrefix(branch, "relay/") {
				found[fields[1]] = fields[0]
			}
		} else {
			found[fields[1]] = cmp.Or(found[fields[1]], fields[0])
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&text, "%s %s\n", found[name], name)
	}
	return text.String(), nil
}
