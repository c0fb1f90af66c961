// Package opencode runs opencode and reads its stream of events.
package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Options configure opencode. Permission says what the agent may do: "workspace" (default), "auto", "readonly" or "config"; see
// [Runner.Mode]. Model is provider/model. Args stand before run.
type Options = adapter.Options

// Runner runs opencode headless, and reads its stream of events (opencode 1.18, run --format json). That stream does not
// report subagents: their tokens and cost are missing from the usage.
type Runner struct {
	sup  process.Supervisor
	mode permissionMode
	Options
}

// permissionMode is one way to be unattended. A question that opencode would ask ends the run: auto answers them all.
type permissionMode struct {
	auto        bool
	denied      []string // permissions that are taken away
	inside      bool     // file tools stay in the working directory, but for the folder of the result
	description string
}

var permissionModes = map[string]permissionMode{
	"workspace": {auto: true, inside: true, description: "workspace: works unasked, its file tools stay in the checkout; no sandbox"},
	"auto":      {auto: true, description: "auto: works unasked, everywhere; only what your opencode configuration denies is denied; no sandbox"},
	"readonly":  {auto: true, inside: true, denied: []string{"edit", "bash"}, description: "readonly: no edits, no commands"},
	"config":    {description: "config: your opencode configuration alone; what it would ask for ends the attempt; no sandbox"},
}

// New returns the runner for opencode; an unknown permission is an error.
func New(sup process.Supervisor, o Options) (runners.Runner, error) {
	o.Permission = cmp.Or(o.Permission, "workspace")
	mode, ok := permissionModes[o.Permission]
	if !ok {
		return nil, fmt.Errorf("opencode has no permission %q, only %s", o.Permission, strings.Join(slices.Sorted(maps.Keys(permissionModes)), ", "))
	}
	return &Runner{sup: sup, mode: mode, Options: o.For("opencode")}, nil
}

// CLI describes opencode. It asks whichever provider its settings name.
func CLI() adapter.CLI {
	const inside = "Your file tools work in this folder only."
	return adapter.CLI{
		New: New, Conversation: Conversation, OwnSettings: OwnSettings,
		OwnSessions: runners.OwnSessions{ // into the database it moves the files of its earlier versions
			Folder: func(env []string) string {
				return filepath.Join(cmp.Or(runners.Variable(env, "XDG_DATA_HOME"), adapter.InHome(env, ".local", "share")), "opencode")
			},
			Names:  []string{"opencode*.db"},
			Reader: func(string) runners.MessageReader { return adapter.Conversation[ownLine]((&ownSpeech{}).line) },
		},
		Begins: adapter.Begins(func(ev *outputEvent) bool { return !ev.SessionID.Empty() }),
		Facts: runners.Facts{
			Login: " auth login",
			Variables: []string{
				"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "AZURE_OPENAI_*",
				"GEMINI_*", "GOOGLE_*", "AWS_*", "OPENCODE_*", "CLOUD_ML_REGION", "VERTEX_*",
			},
			Steering: []string{".opencode", "opencode*.json", "opencode*.jsonc", "AGENTS.md", "AGENTS.*.md"},
			Leaves: []string{
				".opencode/node_modules", ".opencode/package.json", ".opencode/package-lock.json",
				".opencode/bun.lock", ".opencode/bun.lockb", ".opencode/.gitignore",
			},
			Forbids:     map[string]string{"": inside, "workspace": inside},
			TellsPrices: true,
		},
	}
}

// Name returns the runner's name in configuration and ledger.
func (c *Runner) Name() string { return c.Options.Name }

// Tested returns the versions of opencode that this adapter was tested on.
func (c *Runner) Tested() command.VersionRange {
	return command.VersionRange{Oldest: "1.18.33", Newest: "1.18.33"}
}

// Mode returns text that says what the agent may do.
func (c *Runner) Mode() string { return c.mode.description }

// Run runs one session, or one more turn of the session that req names. A session can be resumed only in the folder
// it began in: elsewhere opencode waits for ever without a word.
func (c *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	req.Model = cmp.Or(req.Model, c.Model)
	if provider, model, _ := strings.Cut(req.Model, "/"); req.Model != "" && (provider == "" || model == "") {
		return adapter.StartFault(fmt.Errorf("opencode wants its model as provider/model, not %s", req.Model)), nil
	}
	if req.Session != "" && adapter.SessionID(req.Session, "") == "" {
		return runners.Report{Outcome: runners.NoSession, Detail: "cannot resume: that is not a session of opencode"}, nil
	}
	var unsteered []string
	if req.Unsteered {
		unsteered = []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1"}
	}
	// It must not change itself in the middle of a night. Its plugins and its list of models stay: logins and models that are newer
	// than the program come by them.
	quiet := []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	cmd := adapter.Command(req, c.argv(req), quiet, c.Env, c.permission(req), unsteered)
	cmd.StopAgain = time.Second // it misses a signal now and then while it goes from one step to the next
	s := &reader{agent: adapter.Stream{Req: req, Now: c.Now, Asked: adapter.Requests{Base: baseTokens}}}
	return s.agent.Run(ctx, c.sup, cmd, s)
}

func (c *Runner) argv(req runners.Request) []string {
	argv := slices.Concat([]string{c.Program}, c.Args, []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"})
	if c.mode.auto {
		argv = append(argv, "--auto")
	}
	if req.Model != "" {
		argv = append(argv, "-m", req.Model)
	}
	if req.Session != "" {
		argv = append(argv, "-s", req.Session)
	} else {
		argv = append(argv, "--title", "relay "+req.Mark) // or it asks a model for one
	}
	return argv
}

const permissionVariable = "OPENCODE_PERMISSION"

// permission returns the mode as opencode's own variable, which it merges over every configuration there is: files and
// OPENCODE_CONFIG_CONTENT stay as the user has them. The user's own rules in that variable hold beside it.
func (c *Runner) permission(req runners.Request) []string {
	if !c.mode.inside {
		return nil
	}
	fields := otherRules(runners.Variable(slices.Concat(req.Env, c.Env), permissionVariable), append(c.mode.denied, outside))
	for _, name := range c.mode.denied {
		fields = append(fields, adapter.JSONQuote(name)+`:"deny"`)
	}
	allowed := ""
	if req.Result != "" {
		allowed = "," + adapter.JSONQuote(filepath.Join(filepath.Dir(req.Result), "*")) + `:"allow"`
	}
	fields = append(fields, adapter.JSONQuote(outside)+`:{"*":"deny"`+allowed+"}")
	return []string{permissionVariable + "={" + strings.Join(fields, ",") + "}"}
}

// outside is the permission for what lies beyond the working directory.
const outside = "external_directory"

// otherRules returns the fields of a JSON object but for those of some names, in their order: of two rules that fit, the later one
// holds. Anything else than an object opencode itself would pass over.
func otherRules(text string, but []string) (fields []string) {
	dec := json.NewDecoder(strings.NewReader(text))
	if open, _ := dec.Token(); open != json.Delim('{') || !json.Valid([]byte(text)) {
		return nil
	}
	for dec.More() {
		name, _ := dec.Token()
		var value json.RawMessage
		_ = dec.Decode(&value) // the text is valid
		if name, _ := name.(string); !slices.Contains(but, name) {
			fields = append(fields, adapter.JSONQuote(name)+":"+string(value))
		}
	}
	return fields
}
