package changes

import (
	"path"
	"slices"
	"strings"

	"relay/epic/pattern"
)

// Kinds of words in a shell command: what runs a file given to it, what stands before a command, and what ends one.
var (
	interpreter = pattern.New(`^(sh|bash|dash|zsh|ksh|source|\.|node|bun|deno|ruby|perl|php|python[0-9.]*)$`)
	prefix      = pattern.New(`^(exec|env|time|nice|nohup|command|timeout|!|if|then|else|elif|while|until|do|\{|[0-9.]+[smh]?|[A-Za-z_]\w*=.*)$`)
	separators  = pattern.New("\n|&&|\\|\\||[;|&()`]")
)

// ruled are programs that decide by what stands in a file of a certain name, wherever it is.
var ruled = []struct{ program, files *pattern.Regexp }{
	{pattern.New(`^g?make$`), pattern.New(`^(GNUm|m|M)akefile$`)},
	{pattern.New(`^(npm|npx|yarn|pnpm|bun|jest|vitest|mocha)$`), pattern.New(`^(package\.json|(jest|vitest|vite)\.config\.\w+|\.mocharc\.\w+)$`)},
	{pattern.New(`^(pytest|py\.test|tox|nox)$`), pattern.New(`^(pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py)$`)},
	{pattern.New(`^cargo$`), pattern.New(`^(Cargo\.toml|build\.rs)$`)},
	{pattern.New(`^(mvnw?|gradlew?)$`), pattern.New(`^(pom\.xml|(build|settings)\.gradle(\.kts)?)$`)},
	{pattern.New(`^(just|rake)$`), pattern.New(`^([jJ]ustfile|Rakefile)$`)},
}

// Command is what an acceptance command hangs on, as far as its text says it.
type Command struct {
	Scripts []string          // files it runs
	files   []*pattern.Regexp // names of files that decide what its programs do
	Words   []string
}

// ParseCommand finds the scripts in a shell command. It does not parse the shell, and misses some.
func ParseCommand(run string) Command {
	var c Command
	text := separators.ReplaceAllString(strings.NewReplacer(`"`, "", "'", "").Replace(run), " ; ")
	begins, script := true, false // whether the next word is a program, or a file for the one before it
	for word := range strings.FieldsSeq(text) {
		c.Words = append(c.Words, word)
		for _, r := range ruled {
			if r.program.MatchString(path.Base(word)) {
				c.files = append(c.files, r.files)
			}
		}
		switch {
		case word == ";":
			begins, script = true, false
		case begins && prefix.MatchString(word):
		case begins:
			c.Scripts = append(c.Scripts, pattern.CleanPath(word))
			begins, script = false, interpreter.MatchString(path.Base(word))
		case script && strings.HasPrefix(word, "-"):
			begins, script = strings.HasSuffix(word, "c"), word != "-m" && !strings.HasSuffix(word, "c")
		case script:
			c.Scripts = append(c.Scripts, pattern.CleanPath(word))
			script = false
		}
	}
	return c
}

// Runs reports whether a file is one of the command's scripts, in the root or in a folder that the command names.
func (c Command) Runs(p string) bool {
	return slices.ContainsFunc(c.Scripts, func(s string) bool {
		return s == p || slices.ContainsFunc(c.Words, func(dir string) bool { return path.Join(dir, s) == p })
	})
}

// Reads reports whether a program of the command reads a file of that name.
func (c *Command) Reads(name string) bool {
	return slices.ContainsFunc(c.files, func(r *pattern.Regexp) bool { return r.MatchString(name) })
}

// StandsIn reports whether a new file can stand in for what the command runs: one named as a target of make, which is then up to date, or
// a module of the name that python -m is given.
func (c Command) StandsIn(p string) bool {
	at := slices.Index(c.Words, "-m") + 1
	if at > 0 && at < len(c.Words) && slices.Contains(strings.Split(strings.TrimSuffix(p, ".py"), "/"), c.Words[at]) {
		return true
	}
	return c.Reads("Makefile") && slices.Contains(c.Words, path.Base(p))
}
