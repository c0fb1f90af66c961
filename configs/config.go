// Package configs turns defaults, files, environment and flags into one checked [Config] that knows where each value came from.
//
// The layers, weakest first: the embedded defaults, the user's file, .agents.yml, .agents.local.yml, RELAY_*
// variables, flags. Maps merge; lists and scalars replace, so a local false, 0 or [] really overrides. The package
// also holds what ships with relay as text: JSON Schemas ([ConfigSchema], [EpicSchema]) and slash commands ([Commands]).
package configs

import (
	"fmt"
	"strings"
	"time"
)

// Config is the configuration of one invocation of relay, complete and checked. It is the table of all settings, in the order of the
// documentation: each has its key, and under "is" what may be written, as a range, words or the name of a form. An agent that does not
// say has "else", and only agents of the types in "only" have the setting.
type Config struct {
	Relay       Relay       `mapstructure:"relay"`
	QualityGate QualityGate `mapstructure:"quality_gate"`
	Warnings    []string    `mapstructure:"-"` // one line each; nothing that stops relay

	values []Value
}

// Relay holds what stands under `relay:`.
type Relay struct {
	Dir                string           `mapstructure:"dir" is:"dir"` // relative to the repository, with slashes
	MaxAttemptsPerTask int              `mapstructure:"max_attempts_per_task" is:"1 100"`
	Timeout            time.Duration    `mapstructure:"timeout_minutes" is:"0.001 10080"`
	Silence            time.Duration    `mapstructure:"silence_minutes" is:"0.001 10080"`
	FirstAnswer        time.Duration    `mapstructure:"first_answer_minutes" is:"0 10080"`
	Linger             time.Duration    `mapstructure:"linger_seconds" is:"0 3600"`
	StopGrace          time.Duration    `mapstructure:"stop_grace_seconds" is:"0 3600"`
	CheckTimeout       time.Duration    `mapstructure:"check_timeout_minutes" is:"0.001 10080"`
	Jobs               int              `mapstructure:"jobs" is:"1 256"`
	Isolation          string           `mapstructure:"isolation" is:"worktree|none|shared"`
	Landing            string           `mapstructure:"landing" is:"merge|rebase|squash"`
	Commit             string           `mapstructure:"commit" is:"commit"` // a template of package commitmessage
	Sign               bool             `mapstructure:"sign"`
	Hooks              bool             `mapstructure:"hooks"`
	Worktree           Worktree         `mapstructure:"worktree"`
	SetupTimeout       time.Duration    `mapstructure:"setup_timeout_minutes" is:"0.001 10080"` // of one setup command
	Runners            []string         `mapstructure:"runners" is:"name"`                      // names in Agents, in order of preference
	Model              string           `mapstructure:"model" is:"model"`                       // "": the CLI's own default
	MaxUncharged       int              `mapstructure:"max_uncharged" is:"0 10000"`
	MaxUnchargedRun    int              `mapstructure:"max_uncharged_run" is:"1 1e6"`
	MaxFileMiB         int              `mapstructure:"max_file_mib" is:"0 1e6"`
	ChecksAtOnce       int              `mapstructure:"checks_at_once" is:"0 100"`
	MaxUndone          int              `mapstructure:"max_undone" is:"0 100"`
	RecheckPercent     int              `mapstructure:"recheck_percent" is:"0 100"`
	MaxFailedInARow    int              `mapstructure:"max_failed_in_a_row" is:"0 10000"`
	MaxSameError       int              `mapstructure:"max_same_error" is:"0 10000"`
	Until              string           `mapstructure:"until" is:"until"` // "": no deadline; HH:MM of the local day, or a duration
	DiskFloorMiB       int              `mapstructure:"disk_floor_mib" is:"0 1e9"`
	MemoryFloorMiB     int              `mapstructure:"memory_floor_mib" is:"0 1e9"`
	FloorWait          time.Duration    `mapstructure:"floor_wait_minutes" is:"0 10080"`
	Backoff            time.Duration    `mapstructure:"backoff_seconds" is:"0 86400"`
	BackoffMax         time.Duration    `mapstructure:"backoff_max_seconds" is:"0 86400"`
	MaxTaskFaults      int              `mapstructure:"max_task_faults" is:"0 10000"`
	OutAfterFailures   int              `mapstructure:"out_after_failures" is:"1 10000"`
	OutAfter           time.Duration    `mapstructure:"out_after_minutes" is:"0 10080"`
	GiveUp             time.Duration    `mapstructure:"give_up_minutes" is:"0.001 10080"`
	Budget             Budget           `mapstructure:",squash"`
	Prices             Prices           `mapstructure:"-"` // merged, in the spelling of the files
	BriefKiB           int              `mapstructure:"brief_kib" is:"4 1024"`
	TranscriptMiB      int              `mapstructure:"transcript_mib" is:"1 4096"`
	Env                []string         `mapstructure:"env" is:"pass"` // NAME, NAME* or NAME=value
	Push               bool             `mapstructure:"push"`
	InhibitSleep       bool             `mapstructure:"inhibit_sleep"`
	Records            Records          `mapstructure:"records"`
	Learn              string           `mapstructure:"learn" is:"propose|off"`
	Review             Review           `mapstructure:"review"`
	Agents             map[string]Agent `mapstructure:"agents"` // by name, in the spelling of the file
}

// Budget holds what a run, the epic over all its runs, a task and an attempt may cost. 0: anything.
type Budget struct {
	USD           float64 `mapstructure:"budget_usd" is:"0 1e6"`
	Tokens        int64   `mapstructure:"budget_tokens" is:"0 1e12"`
	EpicUSD       float64 `mapstructure:"epic_budget_usd" is:"0 1e6"`
	EpicTokens    int64   `mapstructure:"epic_budget_tokens" is:"0 1e12"`
	TaskUSD       float64 `mapstructure:"task_budget_usd" is:"0 1e6"`
	TaskTokens    int64   `mapstructure:"task_budget_tokens" is:"0 1e12"`
	AttemptUSD    float64 `mapstructure:"attempt_budget_usd" is:"0 1e6"`
	AttemptTokens int64   `mapstructure:"attempt_budget_tokens" is:"0 1e12"`
}

// Worktree holds what stands under `relay.worktree:`.
type Worktree struct {
	Setup       []string `mapstructure:"setup" is:"shell"`         // shell commands, run in each fresh worktree
	Copy        []string `mapstructure:"copy" is:"untracked"`      // paths and globs of untracked files, with slashes
	Share       []string `mapstructure:"share" is:"untracked"`     // the same, of dependencies; "auto": those there are
	ShareMaxMiB int      `mapstructure:"share_max_mib" is:"0 1e9"` // that auto copies, for all worktrees together
	Link        []string `mapstructure:"link" is:"untracked"`      // as share; earlier versions made links
	Dir         string   `mapstructure:"dir" is:"anywhere"`        // absolute, or relative to the repository; "": outside of the checkout
}

// Records holds what stands under `relay.records:`.
type Records struct {
	LedgerSync  bool   `mapstructure:"ledgersync"`
	Artifacts   bool   `mapstructure:"artifacts"`
	Discussions bool   `mapstructure:"discussions"`
	Sessions    bool   `mapstructure:"sessions"`
	Checkpoints string `mapstructure:"checkpoints" is:"stop|landing|none"`
}

// Review holds what stands under `relay.review:`.
type Review struct {
	Enabled  bool          `mapstructure:"enabled"`
	Provider string        `mapstructure:"provider" is:"name"` // "none", a known reviewer, or a name in Agents
	Rounds   int           `mapstructure:"rounds" is:"0 20"`   // in which the agent may mend what reviewers find
	Timeout  time.Duration `mapstructure:"timeout_minutes" is:"0.001 10080"`
}

// Agent is one entry of `relay.agents:`.
type Agent struct {
	Type         string   `mapstructure:"type" is:"claude|codex|gemini|opencode|command|scripted"`
	Argv         []string `mapstructure:"argv" is:"argument"` // the program and its first arguments
	Prompt       string   `mapstructure:"prompt" is:"stdin|file" else:"stdin" only:"command"`
	Result       string   `mapstructure:"result" is:"file|final|exit" else:"file" only:"command"`
	Model        string   `mapstructure:"model" is:"model"`
	Env          []string `mapstructure:"env" is:"pass"` // NAME, NAME* or NAME=value
	StopSignal   string   `mapstructure:"stop_signal" is:"TERM|INT" else:"TERM"`
	Script       string   `mapstructure:"script" is:"path" only:"scripted"`
	Permission   string   `mapstructure:"permission" is:"permission" only:"claude|codex|gemini|opencode"`
	MCP          bool     `mapstructure:"mcp" only:"claude|codex"` // it gets relay's MCP server
	Focus        string   `mapstructure:"focus" is:"path"`         // as a reviewer: what it looks at most
	Instructions string   `mapstructure:"instructions" is:"path"`  // as a reviewer: file with the user's own words to it
}

// QualityGate holds what stands under `quality_gate:`.
type QualityGate struct {
	Reviewers  []string `mapstructure:"reviewers" is:"name"`
	Strictness string   `mapstructure:"strictness" is:"pedantic|strict|standard"`
	Epic       bool     `mapstructure:"epic"` // they judge the whole epic too, once all has landed
	EpicRounds int      `mapstructure:"epic_rounds" is:"0 20"`
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
		if x == "" {
			return `""`
		}
		return x
	case []string:
		return "[" + strings.Join(x, ", ") + "]"
	default:
		return fmt.Sprint(x)
	}
}

// Explain lists every setting with its origin, in the order of the documentation, agents by name. What stands behind
// NAME= in an env list is hidden: people paste this list into bug reports.
func (c *Config) Explain() []Value {
	return append([]Value(nil), c.values...)
}

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
