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

// Config is the configuration of one invocation of relay, complete and checked.
type Config struct {
	Relay       Relay       `mapstructure:"relay"`
	QualityGate QualityGate `mapstructure:"quality_gate"`
	Warnings    []string    `mapstructure:"-"` // one line each; nothing that stops relay

	values []Value
}

// Relay holds what stands under `relay:`.
type Relay struct {
	Dir                string           `mapstructure:"dir"` // relative to the repository, with slashes
	MaxAttemptsPerTask int              `mapstructure:"max_attempts_per_task"`
	Timeout            time.Duration    `mapstructure:"timeout_minutes"`
	Silence            time.Duration    `mapstructure:"silence_minutes"`
	FirstAnswer        time.Duration    `mapstructure:"first_answer_minutes"`
	Linger             time.Duration    `mapstructure:"linger_seconds"`
	StopGrace          time.Duration    `mapstructure:"stop_grace_seconds"`
	CheckTimeout       time.Duration    `mapstructure:"check_timeout_minutes"`
	Jobs               int              `mapstructure:"jobs"`
	Isolation          string           `mapstructure:"isolation"` // "worktree", "none" or "shared"
	Landing            string           `mapstructure:"landing"`   // "merge", "rebase" or "squash"
	Commit             string           `mapstructure:"commit"`    // a template of package commitmessage
	Sign               bool             `mapstructure:"sign"`
	Hooks              bool             `mapstructure:"hooks"`
	Worktree           Worktree         `mapstructure:"worktree"`
	SetupTimeout       time.Duration    `mapstructure:"setup_timeout_minutes"` // of one setup command
	Runners            []string         `mapstructure:"runners"`               // names in Agents, in order of preference
	Model              string           `mapstructure:"model"`                 // "": the CLI's own default
	MaxUncharged       int              `mapstructure:"max_uncharged"`
	MaxUnchargedRun    int              `mapstructure:"max_uncharged_run"`
	MaxFailedInARow    int              `mapstructure:"max_failed_in_a_row"`
	MaxSameError       int              `mapstructure:"max_same_error"`
	MaxFileMiB         int              `mapstructure:"max_file_mib"`
	ChecksAtOnce       int              `mapstructure:"checks_at_once"`
	MaxUndone          int              `mapstructure:"max_undone"`
	RecheckPercent     int              `mapstructure:"recheck_percent"`
	Until              string           `mapstructure:"until"` // "": no deadline; HH:MM of the local day, or a duration
	DiskFloorMiB       int              `mapstructure:"disk_floor_mib"`
	MemoryFloorMiB     int              `mapstructure:"memory_floor_mib"`
	FloorWait          time.Duration    `mapstructure:"floor_wait_minutes"`
	Budget             Budget           `mapstructure:",squash"`
	Prices             Prices           `mapstructure:"-"` // merged, in the spelling of the files
	Backoff            time.Duration    `mapstructure:"backoff_seconds"`
	BackoffMax         time.Duration    `mapstructure:"backoff_max_seconds"`
	MaxTaskFaults      int              `mapstructure:"max_task_faults"`
	OutAfterFailures   int              `mapstructure:"out_after_failures"`
	OutAfter           time.Duration    `mapstructure:"out_after_minutes"`
	GiveUp             time.Duration    `mapstructure:"give_up_minutes"`
	BriefKiB           int              `mapstructure:"brief_kib"`
	TranscriptMiB      int              `mapstructure:"transcript_mib"`
	Env                []string         `mapstructure:"env"` // NAME, NAME* or NAME=value
	Push               bool             `mapstructure:"push"`
	InhibitSleep       bool             `mapstructure:"inhibit_sleep"`
	Records            Records          `mapstructure:"records"`
	Learn              string           `mapstructure:"learn"` // "propose", "apply" or "off"
	Review             Review           `mapstructure:"review"`
	Agents             map[string]Agent `mapstructure:"agents"` // by name, in the spelling of the file
}

// Budget holds what a run, the epic over all its runs, a task and an attempt may cost. 0: anything.
type Budget struct {
	USD           float64 `mapstructure:"budget_usd"`
	Tokens        int64   `mapstructure:"budget_tokens"`
	EpicUSD       float64 `mapstructure:"epic_budget_usd"`
	EpicTokens    int64   `mapstructure:"epic_budget_tokens"`
	TaskUSD       float64 `mapstructure:"task_budget_usd"`
	TaskTokens    int64   `mapstructure:"task_budget_tokens"`
	AttemptUSD    float64 `mapstructure:"attempt_budget_usd"`
	AttemptTokens int64   `mapstructure:"attempt_budget_tokens"`
}

// Worktree holds what stands under `relay.worktree:`.
type Worktree struct {
	Setup []string `mapstructure:"setup"` // shell commands, run in each fresh worktree
	Copy  []string `mapstructure:"copy"`  // paths and globs of untracked files, with slashes
	Share []string `mapstructure:"share"` // the same, of dependencies; "auto": those there are
	Link  []string `mapstructure:"link"`  // as share; earlier versions made links

	ShareMaxMiB int    `mapstructure:"share_max_mib"` // that auto copies, for all worktrees together
	Dir         string `mapstructure:"dir"`           // absolute, or relative to the repository; "": outside of the checkout
}

// Records holds what stands under `relay.records:`.
type Records struct {
	LedgerSync  bool   `mapstructure:"ledgersync"`
	Artifacts   bool   `mapstructure:"artifacts"`
	Discussions bool   `mapstructure:"discussions"`
	Sessions    bool   `mapstructure:"sessions"`
	Checkpoints string `mapstructure:"checkpoints"` // "stop", "landing" or "none"
}

// Review holds what stands under `relay.review:`.
type Review struct {
	Enabled  bool          `mapstructure:"enabled"`
	Rounds   int           `mapstructure:"rounds"`   // in which the agent may mend what reviewers find
	Provider string        `mapstructure:"provider"` // "none", a known reviewer, or a name in Agents
	Timeout  time.Duration `mapstructure:"timeout_minutes"`
}

// Agent is one entry of `relay.agents:`.
type Agent struct {
	Type         string   `mapstructure:"type"`   // "claude", "codex", "gemini", "opencode", "command" or "scripted"
	Argv         []string `mapstructure:"argv"`   // the program and its first arguments
	Prompt       string   `mapstructure:"prompt"` // "stdin" or "file"
	Result       string   `mapstructure:"result"` // "file", "final" or "exit"
	Model        string   `mapstructure:"model"`
	Env          []string `mapstructure:"env"`         // NAME, NAME* or NAME=value
	StopSignal   string   `mapstructure:"stop_signal"` // "TERM" or "INT"
	Script       string   `mapstructure:"script"`
	Permission   string   `mapstructure:"permission"`
	MCP          bool     `mapstructure:"mcp"`          // it gets relay's MCP server
	Focus        string   `mapstructure:"focus"`        // as a reviewer: what it looks at most
	Instructions string   `mapstructure:"instructions"` // as a reviewer: file with the user's own words to it
}

// QualityGate holds what stands under `quality_gate:`.
type QualityGate struct {
	Reviewers  []string `mapstructure:"reviewers"`
	Strictness string   `mapstructure:"strictness"` // "pedantic", "strict" or "standard"
	Epic       bool     `mapstructure:"epic"`       // they judge the whole epic too, once all has landed
	EpicRounds int      `mapstructure:"epic_rounds"`
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
