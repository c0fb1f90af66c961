package sandbox

import (
	"cmp"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"relay/epic/plaintext"
)

// cache is a folder with what a tool has downloaded or built. Agents and checks have one each: they change neither the user's nor that of
// the others. The tool downloads again what the own one lacks, unless it finds that through links or variables.
type cache struct {
	env  string // lines: $OWN is the own folder, $USER the user's; the first variable also names the user's
	user string // the user's by default, below the home
	kept string // folders in the user's into which set-up downloads
	seen string // globs in the user's to which the own folder has links
	only string // a file in the folder of the process without which the variables are not set
}

// caches are those of the tools that have documented variables for this. Others print what they are refused.
var caches = []cache{
	{env: "XDG_CACHE_HOME=$OWN\n" + inside, user: ".cache", seen: installed},
	{env: "GOPATH=$OWN", user: "go", kept: "pkg", seen: "bin/* src/*"}, // go writes pkg/sumdb when it adds a module
	// Besides, it has links to the modules in go.sum.
	{env: "GOMODCACHE=$OWN", user: "go/pkg/mod", kept: ".", seen: "golang.org/toolchain@* cache/download/golang.org/toolchain/@v/*.[imz]*"},
	{env: "CARGO_HOME=$OWN", user: ".cargo", kept: "registry git", seen: crates},
	{env: "MAVEN_OPTS=$MAVEN_OPTS -Dmaven.repo.local=$OWN -Dmaven.repo.local.tail=$USER", user: ".m2/repository", kept: "."},
	{env: "GRADLE_USER_HOME=$OWN\nGRADLE_RO_DEP_CACHE=$USER/caches", user: ".gradle", seen: "*.properties init.* wrapper/dists/*/*/*"},
	{env: "NUGET_PACKAGES=$OWN\nNUGET_FALLBACK_PACKAGES=$USER", user: ".nuget/packages", kept: "."},
	{env: "npm_config_store_dir=$OWN\n" + pnpm, only: "pnpm-lock.yaml"},
}

// pnpm are settings of pnpm: files in the checkout are not those of the cache, which a change there would change, too; and an agent's
// `pnpm install` replaces what set-up has installed from another cache, without asking.
const pnpm = "npm_config_package_import_method=clone-or-copy\nnpm_config_ci=true\nnpm_config_prefer_frozen_lockfile=true"

// crates are what cargo has downloaded, with its settings.
const crates = "config* credentials* registry/index/* registry/cache/*/* registry/src/*/* git/db/* git/checkouts/*/*"

// inside are caches of which the user's are not seen, or in the same place. uv makes no links to it, as pnpm.
const inside = "GOCACHE=$OWN/go-build\nnpm_config_cache=$OWN/npm\nPIP_CACHE_DIR=$OWN/pip\nUV_CACHE_DIR=$OWN/uv\nUV_LINK_MODE=copy\n" +
	"YARN_CACHE_FOLDER=$OWN/yarn\nYARN_GLOBAL_FOLDER=$OWN/berry\nBUN_INSTALL_CACHE_DIR=$OWN/bun\nPUPPETEER_CACHE_DIR=$OWN/puppeteer"

// installed is what tools keep among caches, but do not download again when they need it, or only at great cost.
const installed = "ms-playwright/[^.]* puppeteer/*/* ms-playwright-go/* Cypress/* rod/browser/* pypoetry/virtualenvs/*-py* node/corepack/v1/*/* " +
	"huggingface/hub/*--* torch/hub/checkpoints/* torch/hub/[^c]* torch/sentence_transformers/* whisper/*"

// setCaches gives the process caches of its own, except those that it may write.
func (r *ruleset) setCaches(s *Sandbox, home string, works bool) {
	if s.State == "" {
		return
	}
	folder := filepath.Join(s.State, "caches", filepath.Base(s.Slots))
	own, others := filepath.Join(folder, "checks"), []string(nil)
	switch {
	case slices.Contains(r.process.Allow, Logins): // without network, packages from an earlier trial would count as those of logins
		own = filepath.Join(folder, "logins")
	case r.process.Allow != nil: // agents' code has written the others, and a trial that is allowed more may leave what one without lacks
		own = filepath.Join(folder, map[bool]string{true: "bare", false: "trials"}[len(r.process.Allow) == 0])
	case !works: // with what set-up has downloaded
		own, others = filepath.Join(folder, "agents"), []string{own}
		r.set(ReadOnly, others...)
	}
	_ = os.MkdirAll(own, 0o700) // tools say so
	root, err := os.OpenRoot(own)
	if err != nil {
		return
	}
	defer root.Close()
	r.set(Writable, own)
	for _, c := range caches {
		variable, _, _ := strings.Cut(c.env, "=")
		name, user := strings.ToLower(variable), r.usersCache(c, variable, home)
		if r.openKept(c, user) {
			continue
		}
		real, err := filepath.EvalSymlinks(user)
		if err == nil && r.mode(real) == Writable || c.only != "" && !exists(filepath.Join(r.process.Dir, c.only)) {
			continue
		}
		r.reveal(user)
		var modules []string
		if variable == "GOMODCACHE" {
			modules = r.modules(s, filepath.Join(own, name))
		}
		for _, other := range others {
			c.link(root, name, filepath.Join(other, name), modules)
		}
		c.link(root, name, user, modules)
		values := strings.NewReplacer("$OWN", filepath.Join(own, name), "$USER", user, "$MAVEN_OPTS", r.variable("MAVEN_OPTS"))
		r.env = append(r.env, strings.Split(values.Replace(c.env), "\n")...)
	}
}

// openKept lets set-up download into the user's folders, if they are there.
func (r *ruleset) openKept(c cache, user string) bool {
	kept := below(user, strings.Fields(c.kept)...)
	if r.process.Role != SetUp || len(kept) == 0 || !exists(kept[0]) || r.isLinked(kept[0]) {
		return false
	}
	r.set(Writable, kept...)
	return true
}

// usersCache returns the folder of the user's that a variable names, for go as `go env` does.
func (r *ruleset) usersCache(c cache, variable, home string) string {
	config := filepath.Join(cmp.Or(r.variable("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "go/env")
	file, _ := os.ReadFile(cmp.Or(r.variable("GOENV"), config)) // none sets nothing
	set := ruleset{process: Process{Env: append(strings.Split(string(file), "\n"), r.process.Env...)}}
	value, path := set.variable(variable), filepath.SplitList(set.variable("GOPATH"))
	if below, ok := strings.CutPrefix(c.user, "go"); ok && len(path) > 0 && (below == "" || value == "") {
		value = path[0] + below
	}
	if !filepath.IsAbs(value) {
		return filepath.Join(home, c.user)
	}
	return value
}

// link makes links in the own folder, below root, to what is seen of another one and to these names in it. The process decides what else is
// in the own one.
func (c *cache) link(root *os.Root, own, other string, names []string) {
	for pattern := range strings.FieldsSeq(c.seen) {
		for _, folder := range []string{other, filepath.Join(root.Name(), own)} { // links may lead to what is gone
			found, _ := fs.Glob(os.DirFS(folder), pattern) // the patterns are right
			names = append(names, found...)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at, target := filepath.Join(own, name), filepath.Join(other, name)
		path := filepath.Join(root.Name(), at)
		if exists(path) {
			continue
		}
		if _, err := os.Lstat(path); err == nil { // what it led to is gone
			_ = root.Remove(at)
		}
		if exists(target) { // without the link, the tool downloads that
			_ = root.MkdirAll(filepath.Dir(at), 0o700)
			_ = root.Symlink(target, at)
		}
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// mostNames bounds the links that one start makes for modules of go.
const mostNames = 20_000

var capital = regexp.MustCompile(`[A-Z]`)

// modules returns the names in go's cache of the modules that the own one lacks, and that are in a go.sum in the folder of the process or
// near below it, except in node_modules. An agent may have written the files.
func (r *ruleset) modules(s *Sandbox, own string) (names []string) {
	for _, pattern := range []string{"go.sum", "go.work.sum", "*/go.sum", "[^.n]*/*/go.sum", "n[^o]*/*/go.sum"} {
		sums, _ := fs.Glob(os.DirFS(r.process.Dir), pattern) // the patterns are right
		for _, path := range sums {
			text, _ := plaintext.ReadFile(filepath.Join(r.process.Dir, path), 4<<20) // what cannot be read names none
			if s.Linked != nil {
				sum := sha256.Sum256(text)
				if _, linked := s.Linked.LoadOrStore(own+string(sum[:]), true); linked {
					continue
				}
			}
			for line := range strings.Lines(string(text)) {
				line, _, ok := strings.Cut(line, " h1:")
				if !ok || len(names) > mostNames {
					continue
				}
				line = capital.ReplaceAllStringFunc(line, func(c string) string { return "!" + strings.ToLower(c) })
				line, short := strings.CutSuffix(line, "/go.mod")
				module, version, _ := strings.Cut(line, " ")
				at := "cache/download/" + module + "/@v/" + version
				files := []string{module + "@" + version, at + ".zip", at + ".ziphash"}
				if short {
					files = []string{at + ".mod", at + ".info"}
				}
				if !exists(filepath.Join(own, files[0])) && !strings.Contains(line, "..") {
					names = append(names, files...)
				}
			}
		}
	}
	return names
}
