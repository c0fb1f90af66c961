package adapter

import (
	"cmp"
	"time"
)

// Options configure the runner of a CLI. Each CLI uses some of the fields.
type Options struct {
	Name       string   // "": that of the CLI
	Program    string   // "": that of the CLI, looked up in PATH
	Permission string   // what the agent may do unasked, in the words of its CLI
	Args       []string // between Program and the adapter's own arguments: the CLI behind a launcher such as npx, or flags
	Model      string   // for requests that name none
	Env        []string // added to the request's environment, and stronger than the adapter's own settings
	MCP        []string // claude, codex: command line of an MCP server that an agent at work gets beside the user's own; nil: none
	// Git are settings (user.name=Ada) for the git of gemini's shell, from which the CLI hides the user's global
	// configuration: without a name it refuses to commit. They are weaker than git -c and GIT_AUTHOR_*, and stronger
	// than a repository's own.
	Git []string
	// Now is time.Now when nil. Reset times count from it, and one in the far future is not believed; its location is the one codex
	// tells them in.
	Now func() time.Time
}

// For returns the options with the defaults of a CLI.
func (o Options) For(cli string) Options {
	o.Name, o.Program = cmp.Or(o.Name, cli), cmp.Or(o.Program, cli)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
