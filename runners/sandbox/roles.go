package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role says what a process is for.
type Role string

// The roles. A Bare process has no wall: relay asks a program for its version.
const (
	Bare     Role = ""
	Agent    Role = "agent"
	Reviewer Role = "reviewer" // also an agent that writes a plan: it changes no files
	Check    Role = "check"
	SetUp    Role = "setup"
)

// secret are files and folders below the home with keys, or with sockets of programs that hold keys. No process sees them.
var secret = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli",
	".config/gcloud", ".config/op", ".password-store", ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium",
}

// logins are files below the home with keys of package registries. Only set-up sees them.
var logins = []string{
	".netrc", ".npmrc", ".pypirc", ".config/pip/pip.conf", ".cargo/credentials.toml", ".cargo/credentials", ".m2/settings.xml",
}

// downloads are folders below the home into which set-up may download packages. Agents and checks read them.
var downloads = []string{"go/pkg", ".cargo/registry", ".cargo/git", ".m2/repository", ".gradle/caches"}

// caches are the variables of tools' caches. Agents and checks have caches of their own, so that none tests what another has written.
var caches = []string{"XDG_CACHE_HOME", "GOCACHE", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "YARN_CACHE_FOLDER"}

// running are the parts of /run that programs need to find hosts and themselves. Sockets of services are elsewhere there.
var running = []string{"/run/systemd/resolve", "/run/NetworkManager", "/run/nscd", "/run/current-system", "/run/wrappers"}

// state is what the CLI of an agent keeps between its sessions. Other CLIs and checks do not see it.
type state struct {
	variable string   // that names the first folder
	places   []string // below the home; the CLI writes these
	keep     []string // below the first folder: it reads these, and what is in them decides what later sessions do
	make     []string // below the first folder: it makes these if they are missing, which Landlock would refuse
}

// states are those of the CLIs that relay knows.
var states = map[string]state{
	"claude": {
		"CLAUDE_CONFIG_DIR",
		[]string{".claude", ".claude.json"},
		[]string{"settings.json", "settings.local.json", "hooks", "commands", "agents", "skills", "CLAUDE.md", "plugins"},
		[]string{"projects", "sessions", "session-env", "shell-snapshots", "plugins/store"},
	},
	"codex": {"CODEX_HOME", []string{".codex"}, []string{"config.toml", "hooks.json", "AGENTS.md", "prompts", "rules", "skills"}, nil},
	"gemini": {
		"", []string{".gemini"}, []string{"settings.json", "GEMINI.md", "commands", "extensions", "skills"}, []string{"tmp", "history"},
	},
	"opencode": {"", []string{".local/share/opencode", ".local/state/opencode", ".cache/opencode"}, nil, []string{"log", "storage"}},
}

// nests are the CLIs with a sandbox of their own that starts inside bubblewrap, but not inside Landlock.
var nests = map[string]bool{"codex": true}

// ruleset collects the rules for a process: a later rule for a path replaces an earlier one.
type ruleset struct {
	modes   map[string]Mode
	process Process
	env     []string
}

// rules decides what a process can reach.
func (s *Sandbox) rules(p Process) *ruleset {
	r := &ruleset{modes: map[string]Mode{}, process: p}
	home, works := r.variable("HOME"), p.Role == Check || p.Role == SetUp
	r.set(ReadOnly, "/")
	r.set(Private, "/tmp", "/var/tmp", "/dev/shm", s.Temp)
	r.set(Hidden, append(below(home, secret...), "/run")...)
	r.set(ReadOnly, running...)
	if p.Role == SetUp {
		r.set(Writable, below(home, downloads...)...)
		r.set(ReadOnly, r.variable("SSH_AUTH_SOCK"))
	} else {
		r.set(Hidden, below(home, logins...)...)
	}
	r.setStates(home)
	r.set(Hidden, s.State, s.Slots)
	if p.Role == Check && p.Dir != s.Root {
		r.set(Hidden, s.Root)
		r.set(ReadOnly, filepath.Join(s.Git, "objects"), s.Hook)
	}
	inCheckout := s.Kind == Landlock && p.Dir == s.Root && p.Role != Reviewer // with rules below it, nothing could make files in it
	if !inCheckout {
		r.showFolder(s, works)
	}
	r.set(map[bool]Mode{false: Writable, true: ReadOnly}[p.Role == Reviewer], p.Dir)
	if p.Dir == s.Root && p.Role != Reviewer {
		r.set(Writable, s.Git)
	}
	r.own(s, works)
	if inCheckout {
		delete(r.modes, r.variable("RELAY_PROMPT"))
	}
	r.set(Writable, s.Write...)
	r.set(ReadOnly, s.Sockets...)
	r.reveal(slices.Concat([]string{home, s.Root, s.Git}, filepath.SplitList(r.variable("PATH")))...)
	return r
}

// showFolder hides relay's folder. An agent sees there what is its task's own, with the plan, and asks its run for the rest.
func (r *ruleset) showFolder(s *Sandbox, works bool) {
	if !works && s.Socket == "" {
		r.set(ReadOnly, s.Folder)
		return
	}
	r.set(Hidden, s.Folder)
	epic, own, ok := strings.Cut(strings.TrimPrefix(r.variable("RELAY_PROMPT"), s.Folder), "runs/")
	if parts := strings.Split(own, "/"); ok && !works && len(parts) > 1 {
		runs := filepath.Join(s.Folder, epic, "runs")
		all, _ := filepath.Glob(filepath.Join(runs, "*", parts[1]))
		if s.Kind == Bubblewrap { // Landlock hides no sockets, and with a rule below /tmp it lets no process create files there
			all = append(all, filepath.Dir(s.Socket))
		}
		r.set(ReadOnly, append(all, filepath.Join(runs, parts[0], "epic.yml"))...)
		r.env = append(r.env, SocketVariable+"="+s.Socket)
	}
}

// own adds what only this process has: its folder for temporary files, its result and its traces of git, and its caches.
func (r *ruleset) own(s *Sandbox, works bool) {
	if temp := r.variable("TMPDIR"); temp != "" && temp != s.Temp {
		r.set(Writable, temp)
	}
	result := r.variable("RELAY_RESULT")
	progress := filepath.Join(result, "../../../progress.jsonl")
	if filepath.IsAbs(result) {
		f, _ := os.OpenFile(progress, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // a process inside cannot make it
		_ = f.Close()
	}
	r.set(Writable, filepath.Dir(result), progress, r.variable("GIT_TRACE2_EVENT"))
	r.set(ReadOnly, r.variable("RELAY_PROMPT"))
	if s.State == "" {
		return
	}
	cache := filepath.Join(s.State, "caches", filepath.Base(s.Slots), map[bool]string{false: "agents", true: "checks"}[works])
	_ = os.MkdirAll(cache, 0o700) // tools say so
	r.set(Writable, cache)
	for _, name := range caches {
		r.env = append(r.env, name+"="+filepath.Join(cache, strings.ToLower(name)))
	}
}

// setStates lets the CLI of an agent write its own state, and hides those of others.
func (r *ruleset) setStates(home string) {
	for _, cli := range slices.Sorted(maps.Keys(states)) {
		known := states[cli]
		places := below(home, known.places...)
		places[0] = cmp.Or(r.variable(known.variable), places[0])
		if cli != r.process.CLI {
			r.set(Hidden, places...)
			continue
		}
		for _, folder := range below(places[0], known.make...) {
			_ = os.MkdirAll(folder, 0o700) // the CLI says so
		}
		r.set(Writable, places...)
		r.set(ReadOnly, below(places[0], known.keep...)...)
		r.set(Writable, below(places[0], known.make...)...)
	}
}

// set gives paths a mode. It follows links, and leaves out paths that are missing.
func (r *ruleset) set(mode Mode, paths ...string) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) {
			r.modes[real] = mode
		}
	}
}

// reveal lets the process read paths that lie in a private folder.
func (r *ruleset) reveal(paths ...string) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) && r.mode(real) == Private {
			r.modes[real] = ReadOnly
		}
	}
}

// mode returns the mode of a path, by the rule for it or for the nearest folder above.
func (r *ruleset) mode(path string) Mode {
	for {
		if mode, ok := r.modes[path]; ok || path == "/" {
			return mode
		}
		path = filepath.Dir(path)
	}
}

// sorted returns the rules, without those that change nothing: Landlock lets no process create files in a folder with rules below it.
func (r *ruleset) sorted() (rules []Rule) {
	for _, path := range slices.Sorted(maps.Keys(r.modes)) {
		if mode := r.modes[path]; path == "/" || mode == Private || mode != r.mode(filepath.Dir(path)) {
			rules = append(rules, Rule{path, mode})
		}
	}
	return rules
}

// variable returns the value of a variable that the process gets.
func (r *ruleset) variable(name string) (value string) {
	for _, entry := range r.process.Env {
		if own, ok := strings.CutPrefix(entry, name+"="); ok && name != "" {
			value = own
		}
	}
	return value
}

func below(folder string, names ...string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, name))
	}
	return paths
}
