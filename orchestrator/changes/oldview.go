package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// Names of scripts that check something, rather than being what is checked; of files that say how programs run tests, wherever they are;
// and of the parts of the latter that say it, where they say other things as well.
var (
	checkName   = pattern.New(`(?i)(check|verif|test|spec|lint|valid|accept|assert|smoke|e2e)[^/]*$|(^|[/._-])(ci|env)[._-][^/]*$`)
	checkFolder = pattern.New(`(?i)(^|/)(checks?|ci|bin|lint|e2e|tools?|scripts?|hack)/`)
	helperName  = pattern.New(`(?i)(^|[._-])(checks?|checker|verify|tests?|spec|asserts?|assertions?|expect)[._-][^/]*$`)
	settings    = pattern.New(`^((GNUm|m|M)akefile|.*\.mk|[jJ]ustfile|Rakefile|Taskfile\.ya?ml|package\.json|(jest|vitest|vite|playwright|karma|ava|babel)\.config\.\w+|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|(site|user)customize\.py|go\.(work|env)|Cargo\.toml|build\.rs|settings\.gradle(\.kts)?)$`)
	testParts   = []string{"scripts", "jest", "mocha", "ava", "nyc", "c8", "vitest", "tap", "babel", "type", "imports", "workspaces"}
	testSection = pattern.New(`(?i)^\[(.*(test|tox|coverage)|\[?(alias|lib|bin|profile|patch)\b)`)
)

// Lines that end a test or a program at once, and lines of a test, in POSIX's extended expressions, that can change what other tests say.
var (
	endsEarly = pattern.New(`^\+\s*(return|exit(\s+0)?|(os\._exit|sys\.exit|process\.exit|os\.Exit|exit)\s*\(\s*0?\s*\)|raise SystemExit.*)\s*;?\s*$`)
	sways     = pattern.New(`func (init|TestMain)[[:space:]]*\(|(os|syscall)\.Exit|os\._exit|sys\.(exit|modules)|atexit|process\.(exit|on)|setattr|autouse|\.start\(\)|require\.cache|Module\._|prototype\.|^(require\([^)]*\)|[A-Za-z_][A-Za-z0-9_]*)(\.[A-Za-z_][A-Za-z0-9_]*)+[[:space:]]*=[^=]|^[[:space:]]+[a-z][A-Za-z0-9_]* = func|^var .*\(|Object\.(assign|define)|^(trap|alias) |^(export )?PATH=`)
	setsUp    = pattern.New(`(?i)(^|/)(conftest\.py|__mocks__/.*|[^/]*set_?up[^/]*)$`)
	inert     = pattern.New("^\\+\\s*([{}\\[\\]()\"'`#/*]|\\d|import\\b|from\\b|using\\b|use\\b|const .*require\\(|[^=(){};]*$)")
)

// OldTests are the changed files by which the checks of a task judge it, unless the task asks for their change.
type OldTests struct {
	Changed []string // as the agent has them they may pass what they did not pass before
	All     []string // to be put back for another run of the checks: changed ones, by both names, and new ones
}

// findOld lists the files by which checks judge, and that the agent has changed though the task does not declare them: tests and
// what they compare with, check scripts and their helpers, and files that say how programs run tests. New ones of these are in the list
// too. Tests that were only added to say no less than before.
func findOld(ctx context.Context, d *Diff) error {
	d.Old = OldTests{}
	var added []git.Change
	scripts := sync.OnceValue(func() []string { return checkScripts(ctx, d) })
	for _, n := range d.Names {
		if d.either(n, Declared) {
			continue
		}
		was := plaintext.FirstOf(n.From, n.Path)
		if n.Code == "A" && IsTest(was) {
			d.Old.All = append(d.Old.All, was)
			added = append(added, n)
			continue
		}
		ofChecks, err := judges(ctx, d, n, was)
		if ofChecks || n.Code != "A" && ofCheck(was) && slices.Contains(scripts(), was) {
			d.Old.Changed = append(d.Old.Changed, was)
			d.Old.All = append(d.Old.All, slices.Compact([]string{was, n.Path})...)
			err = errors.Join(err, scriptKept(ctx, d, n, was))
		}
		if err != nil {
			return err
		}
	}
	swaying, err := d.holding(ctx, d.Head, slices.Clone(added), "-E", "-e", sways.String(), "-e", rulesTests.String())
	for _, n := range added {
		if setsUp.MatchString(n.Path) || slices.Contains(swaying, n) {
			d.Old.Changed = append(d.Old.Changed, n.Path)
		}
	}
	return err
}

// goesOn matches what can follow a command and does not hide that it failed, idle a lost line that checked nothing, and shell the first
// line of a script, in which one shell may stand for another.
var (
	goesOn = pattern.New(`^([^|;&#]|&&)*$`)
	idle   = pattern.New("^-(echo|printf)\\b([^|;&`$]|\\$(\\w|\\{\\w+\\}))*$")
	shell  = pattern.New(`^[+-]#!\s*/\S*(/env )?\b(ba|da)?sh$`)
)

// scriptKept tells of a script that a check runs by its name, that the task does not name, and that has lost a line or ends early now.
func scriptKept(ctx context.Context, d *Diff, n git.Change, was string) error {
	run := func(c epic.Check) bool { return ParseCommand(c.Run).Runs(was) }
	named := strings.Contains(d.Task.Title+"\n"+d.Task.Description, path.Base(was))
	other := named || IsTest(was) && code.MatchString(was) || !ofCheck(path.Base(was))
	if other || !slices.ContainsFunc(slices.Concat(d.Task.Checks, d.Plan.Checks), run) {
		return nil
	}
	var less []string
	err := d.changedLines(ctx, []string{was, n.Path}, func(line string) {
		line = line[:1] + strings.TrimSpace(line[1:])
		less = slices.DeleteFunc(less, func(gone string) bool {
			more, kept := strings.CutPrefix(line, "+"+gone[1:])
			return kept && goesOn.MatchString(more) || shell.MatchString(gone) && shell.MatchString(line)
		})
		if endsEarly.MatchString(line) || line[0] == '-' && len(line) > 1 && !comment.MatchString(line) && !idle.MatchString(line) {
			less = append(less, line)
		}
	})
	if len(less) > 0 {
		d.weak(n.Path, was, "is what a check runs, and may prove less now: "+plaintext.Capped(less[0], 100))
	}
	return err
}

// judges reports whether checks judge by a changed file, whatever they run: it is a test that was not only added to, a file of settings
// whose part for tests was changed, a hidden file or a module brought along that no check names, or one that stands in for what a check
// runs.
func judges(ctx context.Context, d *Diff, n git.Change, was string) (bool, error) {
	checks := slices.Concat(d.Task.Checks, d.Plan.Checks)
	switch {
	case IsTest(was):
		more, err := onlyMore(ctx, d, n)
		return !more, err
	case settings.MatchString(path.Base(was)):
		return testPart(ctx, d.Repo, d.Base, was) != testPart(ctx, d.Repo, d.Head, n.Path), ctx.Err()
	case hidden(was):
		return !slices.ContainsFunc(checks, func(c epic.Check) bool { return strings.Contains(c.Run, path.Base(was)) }), nil
	}
	standsIn := func(c epic.Check) bool { return ParseCommand(c.Run).StandsIn(was) }
	return n.Code == "A" && slices.ContainsFunc(checks, standsIn), nil
}

// ofCheck reports whether a script, or what it reads in, belongs to a check by its name. Code may have a name that is nearly such.
func ofCheck(p string) bool {
	if slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts"}, path.Ext(p)) {
		return checkFolder.MatchString(p) || helperName.MatchString(path.Base(p))
	}
	return checkFolder.MatchString(p) || checkName.MatchString(p)
}

// hidden reports whether a path is that of a file that people seldom see: one that begins with a dot, or is below such a folder, or one
// of modules or bytecode. Those of git are seen, and no check reads relay's records.
func hidden(p string) bool {
	if strings.HasPrefix(p, ledgersync.Folder+"/") || strings.HasPrefix(p, ".agents-os/") {
		return false
	}
	return slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return name[0] == '.' && !strings.HasPrefix(name, ".git") || name == "node_modules" || name == "__pycache__" || path.Ext(name) == ".pyc"
	})
}

// testPart returns the part of a file of settings that says how tests are run, at a commit.
func testPart(ctx context.Context, repo *git.Repo, commit, p string) string {
	out, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "blob", commit + ":" + p}, Limit: 1 << 20})
	if err != nil {
		return ""
	}
	var b strings.Builder
	switch path.Ext(p) {
	case ".json":
		var parts map[string]json.RawMessage
		if json.Unmarshal(out, &parts) != nil {
			return string(out)
		}
		for _, name := range testParts {
			fmt.Fprintf(&b, "%s\n", parts[name])
		}
		return b.String()
	case ".toml", ".cfg":
		in := false
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "[") {
				in = testSection.MatchString(line)
			}
			if in {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	return string(out)
}

// onlyMore reports whether a test has only got more tests and cases, none of which ends or skips anything or changes what others say.
func onlyMore(ctx context.Context, d *Diff, n git.Change) (bool, error) {
	if n.Code != "M" {
		return false, nil
	}
	var count AssertionDiff
	more, whole := true, true // whole: a test has begun in this part of the diff
	err := d.changedLines(ctx, []string{n.Path}, func(line string) {
		count.Line(line)
		whole = line[0] != '@' && (whole || BeginsTest(line))
		adds := line[0] == '+' && (whole || inert.MatchString(line)) && !endsEarly.MatchString(line) && !sways.MatchString(line[1:])
		more = more && (line[0] == '@' || adds)
	})
	return more && err == nil && count.Issue() == "", ctx.Err()
}

// Where a script names another file that it reads in: in a shell, in JavaScript and in Python.
var (
	readsIn  = pattern.New(`(?m)(?:^|[;&|]|\s)(?:\.|source)[ \t]+"?([^\s";&|]+)`)
	requires = pattern.New(`(?:require\(|from|import)\s*['"](\.[^'"]+)['"]`)
	imports  = pattern.New(`(?m)^\s*(?:from|import)\s+(\w[\w.]*)`)
)

// maxScripts bounds how many files are looked at for scripts.
const maxScripts = 40

// checkScripts lists the scripts that the checks run, and what these run and read in, as the base has them, as far as they belong to the
// checks by their names: any other may be what is checked.
func checkScripts(ctx context.Context, d *Diff) (found []string) {
	type source struct{ name, text string }
	sources := each.Of(slices.Concat(d.Task.Checks, d.Plan.Checks), func(check epic.Check) source { return source{"", check.Run} })
	seen := make(map[string]bool)
	for i := 0; i < len(sources); i++ {
		for _, p := range mentioned(sources[i].name, sources[i].text) {
			if p = pattern.CleanPath(p); p == "" || seen[p] || len(seen) >= maxScripts {
				continue
			}
			seen[p] = true
			out, err := d.Repo.Run(ctx, git.Call{Args: []string{"cat-file", "blob", d.Base + ":" + p}, Limit: 64 << 10})
			if err != nil {
				continue // the base lacks it
			}
			if ofCheck(p) {
				found = append(found, p)
			}
			sources = append(sources, source{p, string(out)})
		}
	}
	return found
}

// mentioned lists the paths that a script may run or read in; one without a name is a command.
func mentioned(script, text string) (paths []string) {
	own := path.Dir(script)
	switch path.Ext(script) {
	case ".js", ".mjs", ".cjs", ".ts":
		for _, m := range requires.FindAllStringSubmatch(text, -1) {
			paths = append(paths, path.Join(own, m[1]), path.Join(own, m[1]+path.Ext(script)))
		}
		return paths
	case ".py":
		return each.Of(imports.FindAllStringSubmatch(text, -1), func(m []string) string {
			return path.Join(own, strings.ReplaceAll(m[1], ".", "/")+".py")
		})
	}
	for _, m := range readsIn.FindAllStringSubmatch(text, -1) {
		paths = append(paths, m[1], path.Join(own, m[1]), path.Join(own, path.Base(m[1])))
	}
	command, dirs := ParseCommand(text), []string{own}
	names := slices.DeleteFunc(slices.Clone(command.Scripts), func(s string) bool { return !strings.ContainsAny(s, "./") })
	if script == "" {
		dirs = append(dirs, each.Where(command.Words, func(word string) (string, bool) {
			return word, strings.HasSuffix(word, "/") || !strings.Contains(path.Base(word), ".") && !strings.HasPrefix(word, "-")
		})...)
		names = append(names, slices.DeleteFunc([]string{"Makefile", "package.json"}, func(s string) bool { return !command.Reads(s) })...)
	}
	for _, dir := range dirs {
		paths = append(paths, each.Of(names, func(name string) string { return path.Join(dir, name) })...)
	}
	return paths
}
