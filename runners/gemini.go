package runners

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"relay/runners/process"
)

// GeminiOptions configure Gemini CLI.
type GeminiOptions struct {
	Name    string // "" : "gemini"
	Program string // "" : "gemini", looked up in PATH
	// Permission is the approval mode: default, auto_edit, yolo or plan; "": yolo. Without a person to ask, the CLI
	// offers the model no tool that the mode would ask about: only yolo has a shell, to run tests and to commit with.
	Permission string
	Args       []string // between Program and the adapter's own arguments: the CLI behind a launcher, or flags
	Model      string   // for requests that name none
	Env        []string // added to the request's environment, and stronger than the adapter's own settings
	// Git are settings (user.name=Ada) for the git of the agent's shell, from which the CLI hides the user's global
	// configuration: without a name it refuses to commit. They are weaker than git -c and GIT_AUTHOR_*, and stronger
	// than a repository's own.
	Git []string
	Now func() time.Time // nil: time.Now; for errors that say in how long to come back, and not when that was
}

// Gemini runs Gemini CLI without a terminal, and reads its stream of events (gemini 0.61, -o stream-json).
type Gemini struct {
	sup process.Supervisor
	GeminiOptions
}

// NewGemini returns the runner for Gemini CLI.
func NewGemini(sup process.Supervisor, o GeminiOptions) *Gemini {
	o.Name = cmp.Or(o.Name, "gemini")
	o.Program = cmp.Or(o.Program, "gemini")
	o.Permission = cmp.Or(o.Permission, geminiYolo)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Gemini{sup: sup, GeminiOptions: o}
}

// Name is the runner's name in configuration and ledger.
func (g *Gemini) Name() string { return g.GeminiOptions.Name }

const (
	geminiYolo     = "yolo"
	geminiAutoEdit = "auto_edit"
	geminiPlan     = "plan"
	geminiDefault  = "default"
)

// Tested are the versions of Gemini CLI that this adapter was tested on.
func (g *Gemini) Tested() Versions { return Versions{Oldest: "0.61.0", Newest: "0.61.0"} }

// Mode says in one line what the agent may do unasked.
func (g *Gemini) Mode() string {
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
func (g *Gemini) Run(ctx context.Context, req Request) (Report, error) {
	req.Model = cmp.Or(req.Model, g.Model)
	if err := clearResult(req); err != nil {
		return Report{}, err
	}
	stdin, err := g.stdin(req)
	if err != nil {
		return Report{}, err
	}
	env := mergeEnv(geminiSettings, GitSettings(req.Env, g.Git...), g.Env)
	s := &geminiStream{req: req, now: g.Now, mode: g.Permission, asked: requests{base: geminiBase}}
	s.asked.prompt(req.Prompt)
	if req.Unsteered {
		env = mergeEnv(env, []string{"GEMINI_CLI_TRUST_WORKSPACE=false"})
	}
	cmd := command(req, g.argv(req), env)
	s.file = sessionLog{find: func() string { return geminiLog(cmd.Env, s.session) }, line: s.record}
	cmd.Stdin = stdin
	return drive(ctx, g.sup, req, cmd, s)
}

func (g *Gemini) argv(req Request) []string {
	argv := slices.Concat([]string{g.Program}, g.Args, []string{"-o", "stream-json", "--approval-mode", g.Permission, "--skip-trust"})
	if req.Model != "" {
		argv = append(argv, "-m", req.Model)
	}
	if id := geminiSession(req.Session, ""); id != "" {
		argv = append(argv, "--resume", id)
	} else {
		argv = append(argv, "--session-id", uuid.NewString())
	}
	return argv
}

// geminiSettings keep the CLI one process that asks nobody: it would start itself again with another memory limit, and
// open a browser when its login has run out. The rest of what it does by default only its settings files can change,
// and those are the user's.
var geminiSettings = []string{"GEMINI_CLI_NO_RELAUNCH=true", "NO_BROWSER=true"}

// geminiSession takes a session id for what it is in --resume: anything but a UUID means another session there
// ("latest", a number).
func geminiSession(id, otherwise string) string {
	if len(id) == 36 && uuid.Validate(id) == nil {
		return id
	}
	return otherwise
}
