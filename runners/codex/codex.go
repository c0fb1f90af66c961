// Package codex runs the Codex CLI and reads its stream of events and the file of its session.
package codex

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Options configure the Codex CLI. Permission is the sandbox of the commands the agent runs: read-only, workspace-write or
// danger-full-access (none); "": workspace-write, and read-only for a question. Args stand before exec: flags such as
// -c sandbox_workspace_write.network_access=true, too.
type Options = adapter.Options

// Runner runs the Codex CLI without its terminal (codex 0.169, codex exec --json), and reads its stream of events. It
// never asks: a command that its sandbox forbids fails, with a message for the agent.
type Runner struct {
	sup process.Supervisor
	Options
}

// New returns the runner for the Codex CLI.
func New(sup process.Supervisor, o Options) *Runner {
	return &Runner{sup: sup, Options: o.For("codex")}
}

// CLI describes the Codex CLI.
func CLI() adapter.CLI {
	const sandboxed = "Your sandbox has no network, and writes in this folder and /tmp only: git cannot commit in it."
	return adapter.CLI{
		New:          func(sup process.Supervisor, o Options) (runners.Runner, error) { return New(sup, o), nil },
		Conversation: Conversation, OwnSettings: OwnSettings,
		OwnSessions: runners.OwnSessions{
			Folder: home,
			Names:  []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"},
			Reader: func(string) runners.MessageReader { return adapter.Conversation[ownLine]((&ownSpeech{}).line) },
		},
		Begins: adapter.Begins(func(ev *outputEvent) bool { return ev.Type.String() == "thread.started" && ev.ThreadID != "" }),
		Facts: runners.Facts{
			Login:     " login",
			Variables: []string{"OPENAI_*", "CODEX_*", "AZURE_OPENAI_*", "AWS_*"},
			Steering:  []string{".codex", "AGENTS.md", "AGENTS.*.md"},
			Forbids:   map[string]string{"": sandboxed, codexWorkspace: sandboxed},
			PricedAs:  "gpt-",
			Access: runners.Access{
				Keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
				Base: "OPENAI_BASE_URL", Address: "https://api.openai.com/v1", Argv: asking,
			},
		},
	}
}

// Name returns the runner's name in configuration and ledger.
func (c *Runner) Name() string { return c.Options.Name }

// The sandboxes of codex.
const (
	codexReadOnly  = "read-only"
	codexWorkspace = "workspace-write"
	codexNoSandbox = "danger-full-access"
)

// Mode returns text that says what an agent may do unasked.
func (c *Runner) Mode() string { return sandboxWords(c.sandbox(false)) }

// QuestionMode describes what an agent that is only asked something, as a reviewer is, may do unasked.
func (c *Runner) QuestionMode() string { return sandboxWords(c.sandbox(true)) }

func (c *Runner) sandbox(question bool) string {
	if question {
		return cmp.Or(c.Permission, codexReadOnly)
	}
	return cmp.Or(c.Permission, codexWorkspace)
}

func sandboxWords(mode string) string {
	switch mode {
	case codexReadOnly:
		return "sandbox read-only: it can change nothing"
	case codexWorkspace:
		return "sandbox workspace-write: writes in its checkout and /tmp, no network, no commits"
	case codexNoSandbox:
		return "no sandbox (danger-full-access): everything is allowed"
	default:
		return "sandbox " + mode
	}
}

var errNoSession = errors.New("cannot resume: the session's id is none of codex")

// Tested returns the versions of the Codex CLI that this adapter was tested on.
func (c *Runner) Tested() command.VersionRange {
	return command.VersionRange{Oldest: "0.169.0", Newest: "0.169.0"}
}

// Run runs one session, or one more turn of the session that req names.
func (c *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	req.Model = cmp.Or(req.Model, c.Model)
	if req.Session != "" && adapter.SessionID(req.Session, "") == "" { // it would be read as a flag, or as the prompt
		return runners.Report{Outcome: runners.NoSession, Detail: errNoSession.Error()}, nil
	}
	schema, err := schemaFile(req)
	if err != nil {
		return runners.Report{}, err
	}
	cmd := adapter.Command(req, c.argv(req, schema), c.Env)
	cmd.StopSignal = "INT" // on TERM it leaves its commands behind
	s := &reader{agent: adapter.Stream{Req: req, Now: c.Now, Asked: adapter.Requests{Base: baseTokens}}}
	s.agent.File = adapter.SessionLog{
		Find: func() string { return sessionFile(cmd.Env, s.agent.Session) },
		Line: func(line []byte) { record(&s.agent, line) },
	}
	return s.agent.Run(ctx, c.sup, cmd, s)
}

// argv names all options before resume: behind it codex takes no sandbox.
func (c *Runner) argv(req runners.Request, schema string) []string {
	argv := slices.Concat([]string{c.Program}, c.Args, []string{
		"exec", "--json", "--skip-git-repo-check", "--sandbox", c.sandbox(req.Question),
		"-c", "analytics.enabled=false",
	}) // with it, each good run ends 5 s late
	if req.Model != "" {
		argv = append(argv, "-m", req.Model)
	}
	if req.Unsteered {
		argv = append(argv, "-c", "projects={"+adapter.JSONQuote(req.Dir)+`={trust_level="untrusted"}}`)
	}
	if len(c.MCP) > 0 && !req.Question {
		argv = append(argv, "-c", c.server(req), "-c", toolsAtOnce)
	}
	if schema != "" {
		argv = append(argv, "--output-schema", schema)
	}
	if req.Session != "" {
		argv = append(argv, "resume", req.Session)
	}
	return append(argv, "-")
}

// asking has codex ask the provider at an address, with the key in a variable.
func asking(argv []string, base, key string) []string {
	at := max(slices.Index(argv, "exec"), 1)
	return slices.Insert(slices.Clone(argv), at, "-c", `model_provider="relay"`, "-c",
		`model_providers.relay={name="relay",base_url="`+base+`",env_key="`+key+`",wire_api="responses"}`)
}

// toolsAtOnce has the model see the tools of relay's server at once: those of other servers it has to search for.
const toolsAtOnce = `features.code_mode.direct_only_tool_namespaces=["mcp__` + adapter.ServerName + `"]`

// server names the MCP server for the CLI, which takes it beside those of the user's configuration. Of the environment the server would
// have next to nothing: it is given all variables of the agent.
func (c *Runner) server(req runners.Request) string {
	return "mcp_servers." + adapter.ServerName + "={command=" + adapter.JSONQuote(c.MCP[0]) + ",args=" + adapter.JSONQuote(c.MCP[1:]) +
		",env_vars=" + adapter.JSONQuote(adapter.Variables(req, c.Env)) + `,default_tools_approval_mode="approve"}`
}

// schemaFile writes the schema of the answer beside the transcript, and returns its path: "" when none is asked for.
func schemaFile(req runners.Request) (string, error) {
	schema := strictSchema(req.Schema)
	if schema == nil {
		return "", nil
	}
	path := filepath.Join(filepath.Dir(req.Transcript), "schema.json")
	if req.Ended {
		return path, nil
	}
	return path, os.WriteFile(path, schema, 0o600)
}
