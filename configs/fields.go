package configs

import (
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"relay/internal/commitmessage"
	"relay/internal/lazyregexp"
)

// kind says how a setting is written.
type kind int

const (
	text kind = iota
	integer
	span // a number of units, such as minutes; a time.Duration in Config
	decimal
	boolean
	list // of text
	prices
)

// field describes one setting: what may be written, wherever it is written. Its default stands in defaults.yml.
type field struct {
	key      string // dotted; "*" stands for the name of an agent
	kind     kind
	unit     time.Duration // span: what 1 means
	min, max float64       // numbers
	words    []string      // text: nothing else is allowed
	form     *form         // text and the items of a list
	fallback string        // below an agent: the value of every agent that does not say
	hidden   bool          // items are NAME=value, and the value is nobody's business
}

// form restricts the texts that a setting may have.
type form struct {
	pattern *lazyregexp.Regexp
	want    string                   // the pattern in words
	check   func(text string) string // a complaint the pattern cannot make, or ""
}

// Limits that are not one setting's own.
const (
	maxItems = 200  // in a list
	maxKeys  = 100  // in a map; relay itself has a third of that
	maxText  = 4096 // bytes of one text
	week     = 7 * 24 * 60
	maxUSD   = 1e6
	maxToken = 1e12
)

var (
	nameForm = form{
		pattern: lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`),
		want:    "a name: a letter, then up to 31 letters, digits, - or _",
	}
	// A leading dash would be read as an option by the CLI that gets the model.
	modelForm = form{pattern: lazyregexp.New(`^([^\s-]\S*)?$`), want: "a model's name: no spaces, no leading dash"}
	dirForm   = form{
		pattern: lazyregexp.New(`^[^/\\~]`), want: "a folder inside the repository, such as .agents-os/relay",
		check: localFolder,
	}
	passForm = form{
		pattern: lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(\*|=[^\x00]*)?$`), want: "NAME, NAME* or NAME=value",
		check: notOurs,
	}
	argumentForm = form{pattern: lazyregexp.New(`^[^\x00]*$`), want: "an argument without NUL"}
	pathForm     = form{pattern: lazyregexp.New(`^[^\x00-\x1f]*$`), want: "a path without control characters"}
	shellForm    = form{pattern: lazyregexp.New(`^[^\x00]*[^\s\x00][^\x00]*$`), want: "a shell command"}
	anywhereForm = form{
		pattern: lazyregexp.New(`^([^~\x00-\x1f][^\x00-\x1f]*)?$`), want: "a folder, absolute or in the repository, with ~ written out",
		check: ownFolder,
	}
	untrackedForm = form{
		pattern: lazyregexp.New(`^[^/\\~\x00-\x1f][^\\\x00-\x1f]*$`), want: "a path in the repository, such as .env or config/*.local",
		check: userFile,
	}
	untilForm = form{
		pattern: lazyregexp.New(`^(([01]?[0-9]|2[0-3]):[0-5][0-9]|([0-9]+(\.[0-9]+)?[hms])+)?$`),
		want:    "a time of day such as 07:00, or how long from now: 8h, 90m",
	}
	commitForm = form{
		pattern: lazyregexp.New(`^[^\x00]*$`), want: "a message as a Go template, such as {{.Type}}({{.Epic}}): {{.Title}} ({{.ID}})",
		check: commitTemplate,
	}
	permissionForm = form{pattern: lazyregexp.New(`^([A-Za-z][A-Za-z0-9_-]*)?$`), want: "one word, such as acceptEdits"}
)

// fields are all settings, in the order of the documentation.
var fields = []field{
	{key: "relay.dir", kind: text, form: &dirForm},
	{key: "relay.max_attempts_per_task", kind: integer, min: 1, max: 100},
	{key: "relay.timeout_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.silence_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.first_answer_minutes", kind: span, unit: time.Minute, min: 0, max: week},
	{key: "relay.linger_seconds", kind: span, unit: time.Second, min: 0, max: 3600},
	{key: "relay.stop_grace_seconds", kind: span, unit: time.Second, min: 0, max: 3600},
	{key: "relay.check_timeout_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.jobs", kind: integer, min: 1, max: 256},
	{key: "relay.isolation", kind: text, words: []string{"worktree", "none", "shared"}},
	{key: "relay.landing", kind: text, words: []string{"merge", "rebase", "squash"}},
	{key: "relay.commit", kind: text, form: &commitForm},
	{key: "relay.sign", kind: boolean},
	{key: "relay.hooks", kind: boolean},
	{key: "relay.worktree.setup", kind: list, form: &shellForm},
	{key: "relay.worktree.copy", kind: list, form: &untrackedForm},
	{key: "relay.worktree.share", kind: list, form: &untrackedForm},
	{key: "relay.worktree.share_max_mib", kind: integer, min: 0, max: 1e9},
	{key: "relay.worktree.link", kind: list, form: &untrackedForm},
	{key: "relay.worktree.dir", kind: text, form: &anywhereForm},
	{key: "relay.setup_timeout_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.runners", kind: list, form: &nameForm},
	{key: "relay.model", kind: text, form: &modelForm},
	{key: "relay.max_uncharged", kind: integer, min: 0, max: 10000},
	{key: "relay.max_uncharged_run", kind: integer, min: 1, max: 1e6},
	{key: "relay.max_file_mib", kind: integer, min: 0, max: 1e6},
	{key: "relay.checks_at_once", kind: integer, min: 0, max: 100},
	{key: "relay.max_undone", kind: integer, min: 0, max: 100},
	{key: "relay.recheck_percent", kind: integer, min: 0, max: 100},
	{key: "relay.max_failed_in_a_row", kind: integer, min: 0, max: 10000},
	{key: "relay.max_same_error", kind: integer, min: 0, max: 10000},
	{key: "relay.until", kind: text, form: &untilForm},
	{key: "relay.disk_floor_mib", kind: integer, min: 0, max: 1e9},
	{key: "relay.memory_floor_mib", kind: integer, min: 0, max: 1e9},
	{key: "relay.floor_wait_minutes", kind: span, unit: time.Minute, min: 0, max: week},
	{key: "relay.backoff_seconds", kind: span, unit: time.Second, min: 0, max: 86400},
	{key: "relay.backoff_max_seconds", kind: span, unit: time.Second, min: 0, max: 86400},
	{key: "relay.max_task_faults", kind: integer, min: 0, max: 10000},
	{key: "relay.out_after_failures", kind: integer, min: 1, max: 10000},
	{key: "relay.out_after_minutes", kind: span, unit: time.Minute, min: 0, max: week},
	{key: "relay.give_up_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.budget_usd", kind: decimal, max: maxUSD},
	{key: "relay.budget_tokens", kind: integer, max: maxToken},
	{key: "relay.epic_budget_usd", kind: decimal, max: maxUSD},
	{key: "relay.epic_budget_tokens", kind: integer, max: maxToken},
	{key: "relay.task_budget_usd", kind: decimal, max: maxUSD},
	{key: "relay.task_budget_tokens", kind: integer, max: maxToken},
	{key: "relay.attempt_budget_usd", kind: decimal, max: maxUSD},
	{key: "relay.attempt_budget_tokens", kind: integer, max: maxToken},
	{key: "relay.prices", kind: prices},
	{key: "relay.brief_kib", kind: integer, min: 4, max: 1024},
	{key: "relay.transcript_mib", kind: integer, min: 1, max: 4096},
	{key: "relay.env", kind: list, form: &passForm, hidden: true},
	{key: "relay.push", kind: boolean},
	{key: "relay.inhibit_sleep", kind: boolean},
	{key: "relay.records.ledgersync", kind: boolean},
	{key: "relay.records.artifacts", kind: boolean},
	{key: "relay.records.discussions", kind: boolean},
	{key: "relay.records.sessions", kind: boolean},
	{key: "relay.records.checkpoints", kind: text, words: []string{"stop", "landing", "none"}},
	{key: "relay.learn", kind: text, words: []string{"propose", "apply", "off"}},
	{key: "relay.review.enabled", kind: boolean},
	{key: "relay.review.provider", kind: text, form: &nameForm},
	{key: "relay.review.rounds", kind: integer, min: 0, max: 20},
	{key: "relay.review.timeout_minutes", kind: span, unit: time.Minute, min: 0.001, max: week},
	{key: "relay.agents.*.type", kind: text, words: []string{"claude", "codex", "gemini", "opencode", "command", "scripted"}},
	{key: "relay.agents.*.argv", kind: list, form: &argumentForm},
	{key: "relay.agents.*.prompt", kind: text, words: []string{"stdin", "file"}, fallback: "stdin"},
	{key: "relay.agents.*.result", kind: text, words: []string{"file", "final", "exit"}, fallback: "file"},
	{key: "relay.agents.*.model", kind: text, form: &modelForm},
	{key: "relay.agents.*.env", kind: list, form: &passForm, hidden: true},
	{key: "relay.agents.*.stop_signal", kind: text, words: []string{"TERM", "INT"}, fallback: "TERM"},
	{key: "relay.agents.*.script", kind: text, form: &pathForm},
	{key: "relay.agents.*.permission", kind: text, form: &permissionForm},
	{key: "relay.agents.*.mcp", kind: boolean},
	{key: "relay.agents.*.focus", kind: text, form: &pathForm},
	{key: "relay.agents.*.instructions", kind: text, form: &pathForm},
	{key: "quality_gate.reviewers", kind: list, form: &nameForm},
	{key: "quality_gate.strictness", kind: text, words: []string{"pedantic", "strict", "standard"}},
	{key: "quality_gate.epic", kind: boolean},
	{key: "quality_gate.epic_rounds", kind: integer, min: 0, max: 20},
}

const agentsKey = "relay.agents"

// ours are the variables relay sets for agents and scripts. They are no settings, even where one has the same name
// (RELAY_DIR, relay.dir): relay may run inside an agent that relay started.
var ours = []string{"RELAY_ATTEMPT", "RELAY_TASK", "RELAY_EPIC", "RELAY_RESULT", "RELAY_DIR", "RELAY_FAIL", "RELAY_TOKEN"}

// fieldOf finds the setting with a dotted key; any name stands for an agent.
func fieldOf(key string) (*field, bool) {
	general := general(key)
	for i := range fields {
		if fields[i].key == general {
			return &fields[i], true
		}
	}
	return nil, false
}

// general replaces the name of an agent in a key by "*".
func general(key string) string {
	rest, ok := strings.CutPrefix(key, agentsKey+".")
	if !ok {
		return key
	}
	if _, last, ok := strings.Cut(rest, "."); ok {
		return agentsKey + ".*." + last
	}
	return agentsKey + ".*"
}

// agentOf returns the name of the agent that a key belongs to.
func agentOf(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, agentsKey+".")
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, ".")
	return name, true
}

// below lists the words that may follow a key; "*" stands for any name. It is empty when key is no section.
func below(key string) []string {
	var words []string
	for _, f := range fields {
		rest, ok := strings.CutPrefix(f.key, general(key)+".")
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(rest, ".")
		if len(words) == 0 || words[len(words)-1] != word {
			words = append(words, word)
		}
	}
	return words
}

// variable returns the environment variable of a setting, or "" when it has none.
func variable(key string) string {
	name := "RELAY_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(key, "relay.")))
	if slices.Contains(ours, name) {
		return ""
	}
	return name
}

// localFolder complains of a path that leaves the repository on any system.
func localFolder(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	deep := false
	for _, part := range parts {
		if part == ".." || strings.Contains(part, ":") {
			return "leads outside the repository"
		}
		deep = deep || part != "."
	}
	if !deep {
		return "is the repository itself"
	}
	return ""
}

// userFile complains of a path or glob that no file of the user's in the repository can have.
func userFile(path string) string {
	if inGit(path) {
		return "belongs to git"
	}
	if !doublestar.ValidatePattern(path) {
		return "is no glob: * stands for any name, ** for any folders, [ab] and {a,b} for one of them"
	}
	return localFolder(path)
}

// ownFolder complains of a path that is the repository itself or one above it, or that is git's.
func ownFolder(path string) string {
	switch {
	case path == "":
		return ""
	case strings.Trim(path, `./\`) == "":
		return "holds more than worktrees"
	case inGit(path):
		return "belongs to git"
	}
	return ""
}

func inGit(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") })
}

// commitTemplate complains of a template that makes no commit message of every task.
func commitTemplate(template string) string {
	if err := commitmessage.Check(template); err != nil {
		return "is no template of a commit message: " + err.Error()
	}
	return ""
}

// notOurs complains of an env entry for a variable that relay sets itself.
func notOurs(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	if slices.Contains(ours, name) {
		return "is set by relay itself"
	}
	return ""
}
