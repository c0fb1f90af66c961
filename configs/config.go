// Package configs turns defaults, files, environment and flags into one checked [Config] that knows where each value came from.
//
// The layers, weakest first: the embedded defaults, the user's file, .agents.yml, .agents.local.yml, RELAY_*
// variables, flags. Maps merge; lists and scalars replace, so a local false, 0 or [] really overrides. The package
// also holds what ships with relay as text: JSON Schemas ([ConfigSchema], [EpicSchema]) and slash commands ([Commands]).
package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config is the configuration of one invocation of relay, complete and checked. It is the table of all settings, in the order of the
// documentation: each has its key, and under "is" what may be written, as a range, words or the name of a form. An agent that does not
// say has "else", and only agents of the types in "only" have the setting; CLI stands for all but commands and scripted agents. A setting
// with "grants" starts a program, or gives agents and checks what they do not get without it.
type Config struct {
	Relay       Relay       `key:"relay"`
	QualityGate QualityGate `key:"quality_gate"`
	Warnings    []string    // one line each; nothing that stops relay

	values []Value
	grants []Value
}

// Relay holds what stands under `relay:`.
type Relay struct {
	Dir                string           `key:"dir" is:"dir"` // relative to the repository, with slashes
	MaxAttemptsPerTask int              `key:"max_attempts_per_task" is:"1 100"`
	Timeout            time.Duration    `key:"timeout_minutes" is:"0.001 10080"`
	Silence            time.Duration    `key:"silence_minutes" is:"0.001 10080"`
	FirstAnswer        time.Duration    `key:"first_answer_minutes" is:"0 10080"`
	Linger             time.Duration    `key:"linger_seconds" is:"0 3600"`
	StopGrace          time.Duration    `key:"stop_grace_seconds" is:"0 3600"`
	CheckTimeout       time.Duration    `key:"check_timeout_minutes" is:"0.001 10080"`
	Jobs               int              `key:"jobs" is:"1 256"`
	Isolation          string           `key:"isolation" is:"worktree|none|shared"`
	Landing            string           `key:"landing" is:"merge|rebase|squash"`
	Commit             string           `key:"commit" is:"commit"` // a template of package plaintext
	Sign               bool             `key:"sign"`
	Hooks              bool             `key:"hooks" grants:"yes"`
	Worktree           Worktree         `key:"worktree"`
	SetupTimeout       time.Duration    `key:"setup_timeout_minutes" is:"0.001 10080"` // of one setup command
	Runners            []string         `key:"runners" is:"name"`                      // names in Agents, in order of preference
	Model              string           `key:"model" is:"model"`                       // "": the CLI's own default
	MaxUncharged       int              `key:"max_uncharged" is:"0 10000"`
	MaxUnchargedRun    int              `key:"max_uncharged_run" is:"1 1e6"`
	MaxFileMiB         int              `key:"max_file_mib" is:"0 1e6"`
	ChecksAtOnce       int              `key:"checks_at_once" is:"0 100"`
	MaxUndone          int              `key:"max_undone" is:"0 100"`
	RecheckPercent     int              `key:"recheck_percent" is:"0 100"`
	MaxFailedInARow    int              `key:"max_failed_in_a_row" is:"0 10000"`
	MaxSameError       int              `key:"max_same_error" is:"0 10000"`
	Until              string           `key:"until" is:"until"` // "": no deadline; HH:MM of the local day, or a duration
	DiskFloorMiB       int              `key:"disk_floor_mib" is:"0 1e9"`
	MemoryFloorMiB     int              `key:"memory_floor_mib" is:"0 1e9"`
	FloorWait          time.Duration    `key:"floor_wait_minutes" is:"0 10080"`
	Backoff            time.Duration    `key:"backoff_seconds" is:"0 86400"`
	BackoffMax         time.Duration    `key:"backoff_max_seconds" is:"0 86400"`
	MaxTaskFaults      int              `key:"max_task_faults" is:"0 10000"`
	OutAfterFailures   int              `key:"out_after_failures" is:"1 10000"`
	OutAfter           time.Duration    `key:"out_after_minutes" is:"0 10080"`
	GiveUp             time.Duration    `key:"give_up_minutes" is:"0.001 10080"`
	Budget             Budget           `key:",squash"`
	Prices             Prices           `key:"prices"`
	BriefKiB           int              `key:"brief_kib" is:"4 1024"`
	TranscriptMiB      int              `key:"transcript_mib" is:"1 4096"`
	Env                []string         `key:"env" is:"pass" grants:"yes"` // NAME, NAME* or NAME=value
	Push               bool             `key:"push" grants:"yes"`
	Sandbox            string           `key:"sandbox" is:"off|auto|require"` // a file that git tracks may only make it stricter
	SandboxWrite       []string         `key:"sandbox_write" is:"place"`      // from the user's own files only, as
	SandboxSockets     []string         `key:"sandbox_sockets" is:"place"`
	SandboxLogins      bool             `key:"sandbox_logins"`
	SandboxNetwork     SandboxNetwork   `key:"sandbox_network"`
	InhibitSleep       bool             `key:"inhibit_sleep"`
	Records            Records          `key:"records"`
	Learn              string           `key:"learn" is:"propose|off"`
	Review             Review           `key:"review"`
	Agents             map[string]Agent `key:"agents"` // by name, in the spelling of the file

	// Notify has the receivers of notifications by name, from the user's own files only.
	Notify map[string]Receiver `key:"notify"`
}

// Receiver is one entry of `relay.notify:`. It has one of Argv, URL and Desktop.
type Receiver struct {
	On       []string `key:"on" is:"event"`
	Argv     []string `key:"argv" is:"private"` // a program and its arguments; it reads the notification from stdin
	URL      string   `key:"url" is:"address"`  // gets the notification as a POST
	Desktop  bool     `key:"desktop"`
	Template string   `key:"template" is:"payload"` // of what the receiver gets; "": JSON
}

// SandboxNetwork holds what stands under `relay.sandbox_network:`, which a file that git tracks may only make stricter.
type SandboxNetwork struct {
	Checks []string `key:"checks" is:"host"` // "open" and "none" are all hosts and no host
	Agents []string `key:"agents" is:"host"`
}

// Hosts returns what a list of hosts allows; nil: all.
func Hosts(list []string) []string {
	if slices.Contains(list, openHosts) {
		return nil
	}
	return slices.DeleteFunc(append([]string{}, list...), func(host string) bool { return host == noHosts })
}

// Budget holds what a run, the epic over all its runs, a task and an attempt may cost. 0: anything.
type Budget struct {
	USD           float64 `key:"budget_usd" is:"0 1e6"`
	Tokens        int64   `key:"budget_tokens" is:"0 1e12"`
	EpicUSD       float64 `key:"epic_budget_usd" is:"0 1e6"`
	EpicTokens    int64   `key:"epic_budget_tokens" is:"0 1e12"`
	TaskUSD       float64 `key:"task_budget_usd" is:"0 1e6"`
	TaskTokens    int64   `key:"task_budget_tokens" is:"0 1e12"`
	AttemptUSD    float64 `key:"attempt_budget_usd" is:"0 1e6"`
	AttemptTokens int64   `key:"attempt_budget_tokens" is:"0 1e12"`
}

// Worktree holds what stands under `relay.worktree:`.
type Worktree struct {
	Setup       []string `key:"setup" is:"shell" grants:"yes"`     // shell commands, run in each fresh worktree
	Copy        []string `key:"copy" is:"untracked" grants:"yes"`  // paths and globs of untracked files, with slashes
	Share       []string `key:"share" is:"untracked" grants:"yes"` // the same, of dependencies; "auto": those there are
	ShareMaxMiB int      `key:"share_max_mib" is:"0 1e9"`          // that auto copies, for all worktrees together
	Dir         string   `key:"dir" is:"anywhere"`                 // absolute, or relative to the repository; "": outside of the checkout
}

// Records holds what stands under `relay.records:`.
type Records struct {
	LedgerSync  bool   `key:"ledgersync"`
	Artifacts   bool   `key:"artifacts"`
	Discussions bool   `key:"discussions"`
	Sessions    bool   `key:"sessions"`
	Checkpoints string `key:"checkpoints" is:"stop|landing|none"`
}

// Review holds what stands under `relay.review:`.
type Review struct {
	Enabled  bool          `key:"enabled"`
	Provider string        `key:"provider" is:"name"` // "none", a known reviewer, or a name in Agents
	Rounds   int           `key:"rounds" is:"0 20"`   // in which the agent may mend what reviewers find
	Timeout  time.Duration `key:"timeout_minutes" is:"0.001 10080"`
}

// Agent is one entry of `relay.agents:`.
type Agent struct {
	Type         string   `key:"type" is:"type"`
	Argv         []string `key:"argv" is:"argument" grants:"yes"` // the program and its first arguments
	Prompt       string   `key:"prompt" is:"stdin|file" else:"stdin" only:"command"`
	Result       string   `key:"result" is:"file|final|exit" else:"file" only:"command"`
	Model        string   `key:"model" is:"model"`
	Env          []string `key:"env" is:"pass" grants:"yes"` // NAME, NAME* or NAME=value
	StopSignal   string   `key:"stop_signal" is:"TERM|INT" else:"TERM"`
	SandboxWrite []string `key:"sandbox_write" is:"place"`                         // from the user's own files only
	Key          string   `key:"key" is:"|proxy" only:"claude|codex" grants:"yes"` // proxy: relay adds it to requests
	Script       string   `key:"script" is:"path" only:"scripted" grants:"yes"`
	Permission   string   `key:"permission" is:"permission" only:"CLI" grants:"yes"`
	MCP          bool     `key:"mcp" only:"claude|codex"`             // it gets relay's MCP server
	Focus        string   `key:"focus" is:"path"`                     // as a reviewer: what it looks at most
	Instructions string   `key:"instructions" is:"path" grants:"yes"` // as a reviewer: file with the user's own words to it
}

// QualityGate holds what stands under `quality_gate:`.
type QualityGate struct {
	Reviewers  []string `key:"reviewers" is:"name"`
	Strictness string   `key:"strictness" is:"pedantic|strict|standard"`
	Epic       bool     `key:"epic"` // they judge the whole epic too, once all has landed
	EpicRounds int      `key:"epic_rounds" is:"0 20"`
}

// Value is one setting with the layer it came from.
type Value struct {
	Key    string `json:"key"`    // dotted, as in relay.review.provider
	Value  any    `json:"value"`  // string, bool, int, float64, []string or Prices, as it would be written in a file
	Origin string `json:"origin"` // "default", "FILE:LINE", "RELAY_…" or "flag"
}

// String returns the value as one line of YAML would show it.
func (v Value) String() string {
	switch x := v.Value.(type) {
	case string:
		return cmp.Or(x, `""`)
	case []string:
		return "[" + strings.Join(x, ", ") + "]"
	default:
		return fmt.Sprint(x)
	}
}

// Explain lists every setting with its origin, in the order of the documentation, agents by name. It hides
// the values of NAME=value in env lists, and the addresses and arguments of receivers: people paste this list into bug reports.
func (c *Config) Explain() []Value {
	return append([]Value(nil), c.values...)
}

// Grants lists the settings of the repository's files that have relay start programs, or hand out what agents and checks do not get
// without them. The values are complete.
func (c *Config) Grants() []Value { return slices.Clone(c.grants) }

// Lookup returns the setting with the given dotted key.
func (c *Config) Lookup(key string) (Value, bool) {
	for _, v := range c.values {
		if v.Key == key {
			return v, true
		}
	}
	return Value{}, false
}

// Keys lists the settings of c whose key is key or stands below it; when there is none, suggestion is the key that was
// probably meant, or empty.
func (c *Config) Keys(key string) (found []Value, suggestion string) {
	var all []string
	for _, v := range c.values {
		if v.Key == key || strings.HasPrefix(v.Key, key+".") {
			found = append(found, v)
		}
		all = append(all, v.Key)
	}
	if len(found) == 0 {
		suggestion = nearest(key, all)
	}
	return found, suggestion
}
