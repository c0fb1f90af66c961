// Package claude runs Claude Code and reads its stream of events.
package claude

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Options configure Claude Code. Permission is its permission mode. "": dontAsk, with the tools that any task needs; what the CLI
// would ask about beyond them is denied. bypassPermissions: everything, unasked. Another mode comes without any tools of ours.
type Options = adapter.Options

// Runner runs Claude Code in print mode, and reads its stream of events (claude 2.1, --output-format stream-json).
type Runner struct {
	sup process.Supervisor
	Options
}

// New returns the runner for Claude Code.
func New(sup process.Supervisor, o Options) *Runner {
	return &Runner{sup: sup, Options: o.For("claude")}
}

// CLI describes Claude Code. Its variables are those of Bedrock and Vertex, too.
func CLI() adapter.CLI {
	return adapter.CLI{
		New:          func(sup process.Supervisor, o Options) (runners.Runner, error) { return New(sup, o), nil },
		Conversation: Conversation,
		OwnSessions: runners.OwnSessions{
			Folder: func(env []string) string {
				return cmp.Or(runners.Variable(env, "CLAUDE_CONFIG_DIR"), adapter.InHome(env, ".claude"))
			},
			Names: []string{"projects/*/????????-????-????-????-????????????.jsonl"},
			Files: func(path string) []string {
				return append([]string{path}, runners.Glob(strings.TrimSuffix(path, ".jsonl"), "subagents/agent-*.json*")...)
			},
			Reader: func(string) runners.MessageReader {
				return adapter.Conversation[ownLine]((&ownSpeech{calls: map[string]string{}, seen: map[string]bool{}}).line)
			},
		},
		Begins: adapter.Begins(func(ev *outputEvent) bool { return ev.Type.String() == "system" && ev.Subtype != "" }),
		Facts: runners.Facts{
			Recorded:   "claude-code",
			Login:      ", then /login (or %s setup-token)",
			Variables:  []string{"ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*"},
			Steering:   []string{".claude", ".mcp.json", "CLAUDE.md", "CLAUDE.*.md"},
			Leaves:     []string{".claude/worktrees"},
			NewSession: true, PricedAs: "claude", TellsPrices: true,
			Access: runners.Access{
				Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
				Base: "ANTHROPIC_BASE_URL", Address: "https://api.anthropic.com",
			},
		},
	}
}

// Name returns the runner's name in configuration and ledger.
func (c *Runner) Name() string { return c.Options.Name }

// Tested returns the versions of Claude Code that this adapter was tested on.
func (c *Runner) Tested() command.VersionRange {
	return command.VersionRange{Oldest: "2.1.197", Newest: "2.1.329"}
}

// Run runs one session, or one more turn of the session that req names.
func (c *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	req.Model = cmp.Or(req.Model, c.Model)
	s := &reader{agent: adapter.Stream{Req: req, Now: c.Now, Asked: adapter.Requests{Base: baseTokens}}}
	return s.agent.Run(ctx, c.sup, adapter.Command(req, c.argv(req), c.settings(req), c.Env), s)
}

// maxSchemaArg keeps the schema below what Linux takes as one argument (128 KiB).
const maxSchemaArg = 100 << 10

func (c *Runner) argv(req runners.Request) []string {
	argv := slices.Concat([]string{c.Program}, c.Args, []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
	})
	argv = append(argv, c.permissions(req)...)
	if c.served(req) {
		argv = append(argv, "--mcp-config", c.serverConfig())
	}
	if req.Model != "" {
		argv = append(argv, "--model", req.Model)
	}
	if req.Unsteered {
		argv = append(argv, "--setting-sources", "user")
	}
	if n := len(req.Schema); n > 0 && n <= maxSchemaArg {
		argv = append(argv, "--json-schema", string(req.Schema))
	}
	if req.Session != "" {
		argv = append(argv, "--resume", req.Session)
	} else {
		argv = append(argv, "--session-id", cmp.Or(req.NewSession, uuid.NewString()))
	}
	return argv
}

// allowedTools need no permission in the default mode. The CLI still refuses to remove what is not the task's, to change
// its own settings, and what the user's settings deny or ask about.
const allowedTools = "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Skill,Monitor"

// askedTools are those of an agent that is only asked something: it reads files and runs commands, and edits none.
const askedTools = "Bash,WebFetch,WebSearch,Skill,Monitor"

const bypassPermissions = "bypassPermissions"

// Mode returns text that says what an agent may do unasked.
func (c *Runner) Mode() string {
	switch c.Permission {
	case "":
		return "permission mode dontAsk: files, commands and the web; the rest is denied"
	case bypassPermissions:
		return "permission mode bypassPermissions: everything is allowed"
	}
	return "permission mode " + c.Permission
}

// QuestionMode describes what an agent that is only asked something, as a reviewer is, may do unasked.
func (c *Runner) QuestionMode() string {
	if c.Permission == "" {
		return "permission mode dontAsk: commands and the web, and no edits; the rest is denied"
	}
	return c.Mode()
}

func (c *Runner) permissions(req runners.Request) []string {
	var tools []string
	switch {
	case c.Permission == "" && req.Question:
		tools = append(tools, askedTools)
	case c.Permission == "":
		tools = append(tools, allowedTools)
	}
	if c.served(req) {
		tools = append(tools, "mcp__"+adapter.ServerName)
	}
	argv := []string{"--permission-mode", cmp.Or(c.Permission, "dontAsk")}
	switch {
	case c.Permission == bypassPermissions:
		return []string{"--dangerously-skip-permissions"}
	case len(tools) > 0:
		argv = append(argv, "--allowedTools", strings.Join(tools, ","))
	}
	return argv
}

// served reports whether the agent gets the MCP server: who is only asked a question does not.
func (c *Runner) served(req runners.Request) bool { return len(c.MCP) > 0 && !req.Question }

// serverConfig names the MCP server for the CLI, which takes it beside those of the user's configuration. The server has the
// environment of the CLI.
func (c *Runner) serverConfig() string {
	return `{"mcpServers":{"` + adapter.ServerName + `":{"command":` + adapter.JSONQuote(c.MCP[0]) + `,"args":` + adapter.JSONQuote(c.MCP[1:]) + `}}}`
}

// settings keep the CLI quiet and short of breath: it would retry for three minutes on its own, and relay knows better
// what to do next.
func (c *Runner) settings(req runners.Request) []string {
	env := []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_RETRIES=6", // some 2^6 seconds in all
	}
	if c.served(req) {
		env = append(env, "ENABLE_TOOL_SEARCH=false") // else the model sees the names of its tools only
	}
	if os.Geteuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // as root it refuses to skip permissions without
	}
	return env
}
