package configs

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// CommandFile is one file of a slash command, ready to be written.
type CommandFile struct {
	Path    string // with slashes, relative to the repository or to the home folder
	Content []byte
	Invoke  string // what the user types, such as /relay:init; "" for a file that only belongs to another
}

//go:embed commands/*.md
var commandBodies embed.FS

// command holds what the agents' files say about a slash command besides its body.
type command struct {
	name, description, hint string
}

var commands = []command{
	{"init", "Make a relay epic from a blueprint", "BLUEPRINT.md"},
	{"work", "Run the pending tasks of the relay epic", "[TASK...] [--jobs N]"},
	{"status", "Show how the relay epic stands", "[--verbose]"},
	{"handoff", "Record where this session stops, with relay", "[--to AGENT]"},
	{"resume", "Go on where another session has stopped, with relay", "[--dry-run]"},
	{"checkpoint", "Record where this session stands, with relay", "[WHAT TO STRESS]"},
	{"finalize", "Record what came of work that is complete, with relay", "[BEAD]"},
}

// codexSandbox tells codex what its sandbox keeps relay from.
const codexSandbox = `
In your sandbox nothing can write .git or reach a network: there relay cannot take its lock, and its agents cannot reach
their models. Ask for approval to run ` + "`relay check` and `relay work`" + ` outside the sandbox. When that is refused, or you
may not ask, give the user the line to type in a terminal of its own.
`

// argumentsMark stands in a body where the agent's own placeholder for the user's words goes.
const argumentsMark = "ARGUMENTS"

// CommandAgents lists the agents that [Commands] knows.
func CommandAgents() []string { return []string{"claude", "codex", "gemini", "opencode"} }

// Commands returns the files that give an agent CLI the slash commands: init, work, status, handoff,
// resume, checkpoint and finalize.
//
//	claude    .claude/commands/relay/init.md          /relay:init
//	gemini    .gemini/commands/relay/init.toml        /relay:init
//	opencode  .opencode/commands/relay/init.md        /relay/init   (user: .config/opencode)
//	codex     .agents/skills/relay-init/SKILL.md      $relay-init   (it has skills instead of commands since 0.117)
//
// Seen to work with claude 2.1.329, gemini 0.61.0, opencode 1.18.33 and codex 0.169.0.
func Commands(agent string, user bool) ([]CommandFile, error) {
	var files []CommandFile
	for _, c := range commands {
		body, err := commandBodies.ReadFile(path.Join("commands", c.name+".md"))
		if err != nil {
			return nil, fmt.Errorf("read the command %s: %w", c.name, err)
		}
		files = append(files, c.files(agent, user, string(body))...)
	}
	return files, nil
}

// files renders one command for one agent.
func (c command) files(agent string, user bool, body string) []CommandFile {
	fill := func(placeholder string) string { return strings.Replace(body, argumentsMark, placeholder, 1) }
	switch agent {
	case "claude":
		head := fmt.Sprintf("---\ndescription: %s\nargument-hint: %q\nallowed-tools: Bash(relay:*)\n---\n\n", c.description, c.hint)
		return []CommandFile{{".claude/commands/relay/" + c.name + ".md", []byte(head + fill("$ARGUMENTS")), "/relay:" + c.name}}
	case "gemini":
		// A literal string: gemini's own {{args}} is filled in after TOML has been read.
		content := fmt.Sprintf("description = %q\nprompt = '''\n%s'''\n", c.description, fill("{{args}}"))
		return []CommandFile{{".gemini/commands/relay/" + c.name + ".toml", []byte(content), "/relay:" + c.name}}
	case "opencode":
		dir := ".opencode"
		if user {
			dir = ".config/opencode"
		}
		head := fmt.Sprintf("---\ndescription: %s\n---\n\n", c.description)
		return []CommandFile{{dir + "/commands/relay/" + c.name + ".md", []byte(head + fill("$ARGUMENTS")), "/relay/" + c.name}}
	default: // codex
		dir := ".agents/skills/relay-" + c.name
		head := fmt.Sprintf("---\nname: relay-%s\ndescription: %s. Only when the user asks for relay by name.\n---\n\n", c.name, c.description)
		if c.name == "work" {
			body += codexSandbox
		}
		// Without this codex may take the skill up unasked, and relay work costs money.
		policy := "policy:\n  allow_implicit_invocation: false\n"
		return []CommandFile{
			{dir + "/SKILL.md", []byte(head + fill("what the user wrote after $relay-"+c.name)), "$relay-" + c.name},
			{dir + "/agents/openai.yaml", []byte(policy), ""},
		}
	}
}
