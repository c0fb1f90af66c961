// Package gemini runs Gemini CLI and reads its stream of events, its stderr and the file of its session.
package gemini

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Options configure Gemini CLI. Permission is the approval mode: default, auto_edit, yolo or plan; "": yolo. Without a person to ask,
// the CLI offers the model no tool that the mode would ask about: only yolo has a shell, to run tests and to commit with.
type Options = adapter.Options

// Runner runs Gemini CLI without a terminal, and reads its stream of events (gemini 0.61, -o stream-json).
type Runner struct {
	sup process.Supervisor
	Options
}

// New returns the runner for Gemini CLI.
func New(sup process.Supervisor, o Options) *Runner {
	o.Permission = cmp.Or(o.Permission, geminiYolo)
	return &Runner{sup: sup, Options: o.For("gemini")}
}

// CLI describes Gemini CLI.
func CLI() adapter.CLI {
	return adapter.CLI{
		New:          func(sup process.Supervisor, o Options) (runners.Runner, error) { return New(sup, o), nil },
		Conversation: Conversation, OwnSettings: OwnSettings,
		OwnSessions: runners.OwnSessions{
			Folder: home,
			Names:  []string{"tmp/*/chats/session-*.json*"},
			Reader: func(path string) runners.MessageReader {
				root := adapter.ReadSettings(filepath.Dir(filepath.Dir(path)), ".project_root")
				return adapter.Conversation[ownLine]((&ownSpeech{dir: strings.TrimSpace(string(root)), said: map[string]bool{}}).line)
			},
		},
		Begins: adapter.Begins(func(ev *outputEvent) bool { return ev.Type.String() == "init" && ev.SessionID != "" }),
		Facts: runners.Facts{
			Login:      ", then /auth",
			Variables:  []string{"GEMINI_*", "GOOGLE_*"},
			Steering:   []string{".gemini", "GEMINI.md", "GEMINI.*.md"},
			NewSession: true, Parts: true, HidesGit: true, PricedAs: "gemini",
		},
	}
}

// Name returns the runner's name in configuration and ledger.
func (g *Runner) Name() string { return g.Options.Name }

const (
	geminiYolo     = "yolo"
	geminiAutoEdit = "auto_edit"
	geminiPlan     = "plan"
	geminiDefault  = "default"
)

// Tested returns the versions of Gemini CLI that this adapter was tested on.
func (g *Runner) Tested() command.VersionRange {
	return command.VersionRange{Oldest: "0.61.0", Newest: "0.61.0"}
}

// Mode returns text that says what the agent may do unasked.
func (g *Runner) Mode() string {
	mode := "--approval-mode " + g.Permission
	switch g.Permission {
	case geminiYolo:
		return mode + ": edits files and runs commands, everything unasked"
	case geminiAutoEdit:
		return mode + ": edits files, but has no shell: it cannot run tests or commit"
	case geminiPlan, geminiDefault:
		return mode + ": reads only: it can neither edit a file nor run a command"
	}
	return mode
}

// Run runs one session, or one more turn of the session that req names.
func (g *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	req.Model = cmp.Or(req.Model, g.Model)
	stdin, err := g.stdin(req)
	if err != nil {
		return runners.Report{}, err
	}
	env := adapter.MergeEnv(quietEnv, runners.GitSettings(req.Env, g.Git...), g.Env)
	s := &reader{agent: adapter.Stream{Req: req, Now: g.Now, Asked: adapter.Requests{Base: baseTokens}}, mode: g.Permission}
	if req.Unsteered {
		env = adapter.MergeEnv(env, []string{"GEMINI_CLI_TRUST_WORKSPACE=false"})
	}
	cmd := adapter.Command(req, g.argv(req), env)
	s.agent.File = adapter.SessionLog{
		Find: func() string { return sessionFile(cmd.Env, s.agent.Session) },
		Line: func(line []byte) { s.kept.record(line, &s.agent.Asked) },
	}
	cmd.Stdin = stdin
	return s.agent.Run(ctx, g.sup, cmd, s)
}

func (g *Runner) argv(req runners.Request) []string {
	argv := slices.Concat([]string{g.Program}, g.Args, []string{"-o", "stream-json", "--approval-mode", g.Permission, "--skip-trust"})
	if req.Model != "" {
		argv = append(argv, "-m", req.Model)
	}
	if id := validSession(req.Session, ""); id != "" {
		return append(argv, "--resume", id)
	}
	return append(argv, "--session-id", cmp.Or(req.NewSession, uuid.NewString()))
}

// quietEnv keep the CLI one process that asks no questions: it would start itself again with another memory limit, and
// open a browser when its login has run out. The rest of what it does by default only its settings files can change,
// and those are the user's.
var quietEnv = []string{"GEMINI_CLI_NO_RELAUNCH=true", "NO_BROWSER=true"}

// validSession returns id if it is a UUID, else otherwise: in --resume anything else means another session ("latest", a
// number).
func validSession(id, otherwise string) string {
	if len(id) == 36 && uuid.Validate(id) == nil {
		return id
	}
	return otherwise
}
