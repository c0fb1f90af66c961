package runners

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"relay/runners/process"
)

// ClaudeOptions configure Claude Code.
type ClaudeOptions struct {
	Name    string // "" : "claude"
	Program string // "" : "claude", looked up in PATH
	// Permissions are the flags that say what the agent may do unasked; nil: --dangerously-skip-permissions.
	Permissions []string
	Args        []string // further flags, such as --max-turns or --fallback-model
	Model       string   // for requests that name none
	Env         []string // added to the request's environment, and stronger than the adapter's own settings
	// MaxRetries is how often the CLI itself asks again after a provider's fault, about 2^n seconds in all; 0: 6.
	MaxRetries int
	Now        func() time.Time // nil: time.Now; a reset time in the far future is not believed
}

// Claude runs Claude Code in print mode, and reads its stream of events (claude 2.1, --output-format stream-json).
type Claude struct {
	sup process.Supervisor
	ClaudeOptions
}

// NewClaude returns the runner for Claude Code.
func NewClaude(sup process.Supervisor, o ClaudeOptions) *Claude {
	if o.Name == "" {
		o.Name = "claude"
	}
	if o.Program == "" {
		o.Program = "claude"
	}
	if o.Permissions == nil {
		o.Permissions = []string{"--dangerously-skip-permissions"}
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = 6
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Claude{sup: sup, ClaudeOptions: o}
}

// Name is the runner's name in configuration and ledger.
func (c *Claude) Name() string { return c.ClaudeOptions.Name }

// Run runs one session, or one more turn of the session that req names.
func (c *Claude) Run(ctx context.Context, req Request) (Report, error) {
	if req.Model == "" {
		req.Model = c.Model
	}
	if err := req.clearResult(); err != nil {
		return Report{}, err
	}
	s := &claudeStream{req: req, now: c.Now}
	w := watch{
		sup: c.sup, cmd: req.command(c.argv(req), c.settings(), c.Env), limits: req.Limits,
		read: s.line, mood: s.mood,
	}
	e, err := w.run(ctx)
	if err != nil {
		if w.cannotStart(err) {
			return startFault(err), nil
		}
		return Report{}, err
	}
	return s.report(e), w.compact()
}

// maxSchemaArg keeps the schema below what Linux takes as one argument (128 KiB).
const maxSchemaArg = 100 << 10

func (c *Claude) argv(req Request) []string {
	argv := []string{c.Program, "-p", "--output-format", "stream-json", "--verbose"}
	argv = append(argv, c.Permissions...)
	if req.Model != "" {
		argv = append(argv, "--model", req.Model)
	}
	if n := len(req.Schema); n > 0 && n <= maxSchemaArg {
		argv = append(argv, "--json-schema", string(req.Schema))
	}
	if req.Session != "" {
		argv = append(argv, "--resume", req.Session)
	} else {
		argv = append(argv, "--session-id", uuid.NewString())
	}
	return append(argv, c.Args...)
}

// settings keep the CLI quiet and short of breath: it would retry for three minutes on its own, and relay knows better
// what to do next.
func (c *Claude) settings() []string {
	env := []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_RETRIES=" + strconv.Itoa(c.MaxRetries),
	}
	if os.Geteuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // as root it refuses to skip permissions without
	}
	return env
}
