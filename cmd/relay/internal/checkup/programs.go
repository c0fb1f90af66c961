package checkup

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/runners/process"
	"relay/runners/version"
)

// versionPatience is how long a program may take to tell its version. Some load all of themselves first: on a machine
// with ten times more to do than it can, gemini took 13 seconds.
const versionPatience = 20 * time.Second

// programs asks the programs of agents for their versions, each once.
type programs struct {
	guard    func() (*process.Guardian, error) // starts one
	guardian *process.Guardian
	dir      string // for what they print
	answers  map[string]programAnswer
}

type programAnswer struct {
	version string
	err     error
}

// version asks a program, which a guardian starts: one that never ends does not outlive relay check. Argv is the program
// and its first arguments.
func (p *programs) version(ctx context.Context, argv, env []string) (string, error) {
	key := strings.Join(argv, "\x00")
	if cached, ok := p.answers[key]; ok {
		return cached.version, cached.err
	}
	var answer programAnswer
	answer.version, answer.err = p.ask(ctx, argv, env)
	if p.answers == nil {
		p.answers = map[string]programAnswer{}
	}
	p.answers[key] = answer
	return answer.version, answer.err
}

func (p *programs) ask(ctx context.Context, argv, env []string) (string, error) {
	if err := p.start(); err != nil {
		return "", err
	}
	dir := filepath.Join(p.dir, strconv.Itoa(len(p.answers)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return version.Of(ctx, p.guardian, version.Request{Argv: argv, Dir: dir, Env: env, Wall: versionPatience})
}

// start starts the guardian, unless it is there.
func (p *programs) start() (err error) {
	if p.guardian != nil {
		return nil
	}
	if p.guardian, err = p.guard(); err != nil {
		return err
	}
	p.dir, err = os.MkdirTemp("", "relay-check-")
	return err
}

func (p *programs) close() {
	if p.guardian != nil {
		_ = p.guardian.Close() // what the programs said is known, whatever became of it
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}
