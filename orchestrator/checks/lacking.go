package checks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/pattern"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/reanchor/git"

	"github.com/bmatcuk/doublestar/v4"
)

// words matches the words of a command that may name a program.
var words = pattern.New(`[\w.+-]+`)

var changeDir = pattern.New(`\bcd ([\w./-]+)`)

// behindFolder matches a command that first changes to a folder, and the program that is not tried where that is missing.
var behindFolder = pattern.New(`^\(?\s*cd ([\w./-]+) && ([A-Za-z][\w.+-]*)(?:[\s)]|$)`)

// shellWord matches a word that begins a command and names no program.
var shellWord = pattern.New(`^(alias|case|cd|command|declare|echo|eval|exec|exit|export|false|for|function|if|kill|let|local|printf|pushd|pwd|read|select|set|shopt|source|test|time|trap|true|type|ulimit|umask|unset|until|wait|while)$`)

// missing returns what a check did not find: the last that it says, or the program that it would begin in a folder that is missing.
func (f finder) missing(check Check, run attempts.CheckRun) changes.Missing {
	what, m := changes.FindMissing(run), behindFolder.FindStringSubmatch(check.Run)
	if run.ExitCode == 0 || what.Name != "" || m == nil || f.committed(path.Clean(m[1])) || shellWord.MatchString(m[2]) || f.onPath(m[2]) {
		return what
	}
	return changes.Missing{Kind: changes.MissingProgram, Name: m[2]}
}

func newFinder(ctx context.Context, r *Runner, check Check, base string) finder {
	f := finder{r: r, ctx: ctx, base: base, dirs: []string{"."}, apart: r.Options.Isolation == engine.IsolationWorktree}
	for _, m := range changeDir.FindAllStringSubmatch(check.Run, -1) {
		f.dirs = append(f.dirs, path.Clean(m[1]))
	}
	return f
}

// finder looks for what a check lacks: in the commit, in the user's checkout and on the machine.
type finder struct {
	r    *Runner
	ctx  context.Context //nolint:containedctx // of the one call it lives for
	base string
	dirs []string // in which the check may have been, from the root of the checkout

	apart bool // the check ran in a checkout of relay's, and not in the user's own
}

// whyProgram is about one that is not on the PATH. One that neither the check nor the base names may be a mistake of the work.
func whyProgram(f finder, name, check string) string {
	if f.declared(name) || f.onPath(name) || strings.Contains(check, "PATH=") {
		return ""
	}
	for _, dir := range f.dirs {
		in := path.Join(dir, "node_modules/.bin", name)
		switch {
		case f.users(in) && f.apart:
			return whyIgnored(f, in)
		case strings.Contains(f.text(path.Join(dir, "package.json")), `"`+name+`"`):
			return whyUninstalled(f, name, path.Join(dir, "package.json"))
		}
	}
	if !slices.Contains(words.FindAllString(check, -1), name) &&
		!f.git("grep", "--quiet", "-I", "--word-regexp", "--fixed-strings", "-e", name, f.base) {
		return ""
	}
	if in := inEnvironment(f, name); in != "" && f.apart {
		return fmt.Sprintf("the program %s is not on the PATH: write %s in the check, or start relay with that environment activated", name, in)
	}
	return fmt.Sprintf("the program %s is not on the PATH: install it, or add its folder to the PATH that relay is started with", name)
}

// whyUninstalled is about a dependency that a manifest of node names.
func whyUninstalled(f finder, name, manifest string) string {
	if !f.apart {
		return fmt.Sprintf("%s is a dependency of %s, and it is not installed: npm ci", name, manifest)
	}
	return fmt.Sprintf("%s is a dependency of %s, and task checkouts have none installed: relay.worktree.setup: [npm ci]", name, manifest)
}

// whyFile is about one that is not there, or not executable.
func whyFile(f finder, what changes.Missing) string {
	name := f.inside(what.Name)
	if path.IsAbs(name) {
		if what.Kind == changes.MissingFile && !git.Exists(name) {
			return name + " is not on this machine: install it, or change the check"
		}
		return ""
	}
	for _, dir := range f.dirs {
		in := path.Join(dir, name)
		switch {
		case f.declared(in):
			return ""
		case f.committed(in):
			if what.Kind == changes.NotExecutable {
				return in + " is not executable, or the interpreter in its first line is missing: git update-index --chmod=+x " + in + " and commit, or install the interpreter"
			}
			return "" // an interpreter of another folder, or some file that it names
		case f.users(in) && !f.apart:
			if what.Kind == changes.NotExecutable {
				return in + " is not executable: chmod +x " + in
			}
			return ""
		}
		if why := whyIgnored(f, in); why != "" {
			return why
		}
		if info, err := os.Stat(filepath.Join(f.r.Home.Root(), filepath.FromSlash(in))); err == nil && info.ModTime().Before(f.r.Began) {
			return fmt.Sprintf("%s is in your checkout and in no commit, so task checkouts lack it: commit it, or relay.worktree.copy: [%s]", in, in)
		}
	}
	return ""
}

// whyIgnored is about a path that git ignores, so that no commit has it.
func whyIgnored(f finder, in string) string {
	folder := f.topIgnored(in)
	switch {
	case folder == "":
		return ""
	case !f.apart:
		return in + " is ignored by git, and it is not in your checkout: make it there"
	case f.users(in):
		return fmt.Sprintf("%s is ignored by git, so task checkouts lack it: %s", in, advice(folder))
	}
	return fmt.Sprintf("%s is ignored by git, so task checkouts lack it, and your checkout does too: make it there and relay.worktree.share: [%s], or have task checkouts make it, as in relay.worktree.setup: [npm ci]", in, folder)
}

// topIgnored returns the path itself or the highest folder above it that git ignores, or "".
func (f finder) topIgnored(in string) string {
	parts := strings.Split(in, "/")
	for i := range parts {
		folder := strings.Join(parts[:i+1], "/")
		asked := folder
		if i < len(parts)-1 || f.isFolder(folder) {
			asked += "/"
		}
		if f.git("check-ignore", "--quiet", "--no-index", "--", asked) {
			return folder
		}
	}
	return ""
}

// managers install packages: their lock files, their programs, and the commands that install what the manifest in a folder names; the last
// one also without a lock file. They leave in node_modules what manifests name; npm removes the rest.
var managers = [][3]string{
	{"pnpm-lock.yaml", "pnpm", "CI=true pnpm install --frozen-lockfile"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install"},
	{"package-lock.json", "npm", "npm install --no-save --no-audit --no-fund --fetch-timeout=60000 --fetch-retries=1"},
}

// installer returns the command that installs what the manifest in a folder of the checkout in root names. It is "" if its program is not
// on the PATH, or if a link may lead out of the checkout.
func (f finder) installer(dir, root string) string {
	for up := dir; ; up = path.Dir(up) {
		n := slices.IndexFunc(managers, func(i [3]string) bool { return f.committed(path.Join(up, i[0])) || i[1] == "npm" && up == path.Dir(up) })
		if _, err := os.Readlink(filepath.Join(root, up, "node_modules")); err == nil || n >= 0 && !f.onPath(managers[n][1]) {
			return ""
		} else if n >= 0 {
			return strings.TrimPrefix("cd "+dir+" && ", "cd . && ") + managers[n][2]
		}
	}
}

// whyModule is about a package of node or python. For one of node that a manifest names it also returns the command of its installer.
func whyModule(f finder, what changes.Missing, root string) (why, install string) {
	for _, dir := range f.dirs {
		pkg := packageOf.FindString(what.Name)
		if in := path.Join(dir, "node_modules", pkg); f.users(in) && f.apart && !f.provided(in) {
			return whyIgnored(f, in), ""
		} else if f.users(in) {
			return "", ""
		}
		for _, file := range []string{path.Join(dir, "package.json"), path.Join(dir, "package-lock.json")} { // this one has workspaces, too
			if text := f.text(file); strings.Contains(text, `"`+pkg+`":`) || strings.Contains(text, `"node_modules/`+pkg+`":`) {
				return whyUninstalled(f, pkg, file), f.installer(dir, root)
			}
		}
		if why := whyRequired(f, dir, what.Name); why != "" {
			return why, ""
		}
	}
	if what.Kind == changes.MissingTool && slices.Contains(pythonTools, what.Name) {
		why = fmt.Sprintf("the python module %s is not installed: pip install %s", what.Name, what.Name)
	}
	return why, ""
}

// packageOf matches the package that a module of node is in.
var packageOf = pattern.New(`^(?:@[^/]+/)?[^/]*`)

// pythonTools are modules that run tests and checks. Projects do not have modules of these names.
var pythonTools = []string{"pytest", "tox", "nox", "mypy", "ruff", "flake8", "black", "pylint", "coverage", "pyright"}

// requirements are files that name the python modules a project needs, and nothing else.
var requirements = []string{
	"requirements.txt", "requirements-dev.txt", "requirements/dev.txt", "requirements/test.txt", "dev-requirements.txt",
}

// whyRequired is about a python module that the project's requirements name and that is none of its own.
func whyRequired(f finder, dir, module string) string {
	top, _, _ := strings.Cut(module, ".")
	for _, own := range []string{top, top + ".py", "src/" + top} {
		if in := path.Join(dir, own); f.committed(in) || f.declared(in) {
			return ""
		}
	}
	line := regexp.MustCompile(`(?im)^\s*` + strings.ReplaceAll(regexp.QuoteMeta(top), "_", "[-_]") + `\b`)
	for _, name := range requirements {
		if file := path.Join(dir, name); line.MatchString(f.text(file)) {
			or := map[bool]string{true: ", or relay.worktree.setup"}[f.apart]
			return fmt.Sprintf("the python module %s, which %s names, is not installed: pip install -r %s%s", top, file, file, or)
		}
	}
	return ""
}

// inside makes a path relative to the checkout it was printed in.
func (f finder) inside(name string) string {
	for _, root := range []string{f.r.Options.Worktree.Dir, f.r.Home.Root()} {
		rest, below := strings.CutPrefix(name, root+string(filepath.Separator))
		if root == f.r.Options.Worktree.Dir {
			_, rest, _ = strings.Cut(rest, "/") // the worktree's name
		}
		if root != "" && below {
			return path.Clean(rest)
		}
	}
	return path.Clean(name)
}

// declared reports whether a task of the epic says that it changes a file of that name: then a task is to make it.
func (f finder) declared(name string) bool {
	for i := range f.r.Options.Epic.Tasks {
		for _, file := range f.r.Options.Epic.Tasks[i].Files {
			base := path.Base(file)
			if pattern.Covers(file, name) || base == name || strings.TrimSuffix(base, path.Ext(base)) == name ||
				strings.Contains(file, "/"+name+"/") {
				return true
			}
		}
	}
	return false
}

func (f finder) onPath(name string) bool {
	for _, variable := range f.r.Options.Env {
		if list, ok := strings.CutPrefix(variable, "PATH="); ok {
			return slices.ContainsFunc(filepath.SplitList(list), func(dir string) bool {
				_, err := exec.LookPath(filepath.Join(dir, name))
				return err == nil
			})
		}
	}
	return false
}

func (f finder) users(in string) bool {
	return git.Exists(filepath.Join(f.r.Home.Root(), filepath.FromSlash(in)))
}

func (f finder) isFolder(in string) bool {
	info, err := os.Stat(filepath.Join(f.r.Home.Root(), filepath.FromSlash(in)))
	return err == nil && info.IsDir()
}

func (f finder) committed(in string) bool { return f.git("cat-file", "-e", f.base+":"+in) }

func (f finder) text(in string) string {
	out, _ := f.r.Home.Run(f.ctx, git.Call{Args: []string{"show", f.base + ":" + in}, Limit: 1 << 20}) // nothing, if it is not there
	return string(out)
}

func (f finder) git(args ...string) bool {
	_, err := f.r.Home.Run(f.ctx, git.Call{Args: args})
	return err == nil
}

// inEnvironment returns the path of a program that is not on the PATH in a virtual environment of the user's, or "".
func inEnvironment(f finder, name string) string {
	for _, dir := range f.dirs {
		for _, environment := range []string{".venv", "venv"} {
			if in := path.Join(dir, environment, "bin", name); f.users(in) && !f.onPath(name) {
				return in
			}
		}
	}
	return ""
}

// isDependency reports whether a path leads into a folder of dependencies, or to a file of settings that stays on one machine.
func isDependency(name string) bool {
	return path.Base(name) == ".env" || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "node_modules" || part == ".venv" || part == "venv" || part == "vendor"
	})
}

// wordsOf returns the words of a command. A > is one.
func wordsOf(command string) []string {
	command = strings.ReplaceAll(command, ">", " > ")
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<\"'`=$:,", r) })
}

// lacks reports whether git ignores a path, so that no commit has it, and task checkouts get it in no other way.
func (f finder) lacks(in string) bool {
	return f.users(in) && !f.declared(in) && !f.committed(in) && f.topIgnored(in) != "" && !f.provided(in)
}

// provided reports whether task checkouts are given a path, or have something set up that may make it.
func (f finder) provided(in string) bool {
	w := f.r.Options.Worktree
	for at := in; at != "."; at = path.Dir(at) {
		for _, glob := range slices.Concat(w.Copy, w.Share) {
			if ok, err := doublestar.Match(path.Clean(glob), at); ok && err == nil {
				return true
			}
		}
	}
	return isDependency(in) && len(w.Setup) > 0
}

// advice says what gives task checkouts a path.
func advice(in string) string {
	key := "relay.worktree.share"
	if path.Base(in) == ".env" {
		key = "relay.worktree.copy"
	}
	return fmt.Sprintf("%s: [%s]", key, in)
}
