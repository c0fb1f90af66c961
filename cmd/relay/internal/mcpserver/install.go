package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/orchestrator/text"
)

// AddCommand returns the command by which an agent CLI itself adds relay to the servers that a person has configured: for one repository,
// or for the user in every one. It fails for a CLI that has no such command, or not for that.
func AddCommand(agent string, user bool) ([]string, error) {
	scope := "project"
	if user {
		scope = "user"
	}
	switch {
	case agent == "claude":
		return []string{"claude", "mcp", "add", "--scope", scope, "relay", "--", "relay", "mcp"}, nil
	case agent == "gemini":
		return []string{"gemini", "mcp", "add", "--scope", scope, "relay", "relay", "mcp"}, nil
	case agent == "codex" && user:
		return []string{"codex", "mcp", "add", "relay", "--", "relay", "mcp"}, nil
	case agent == "codex":
		return nil, &exit.UsageError{Message: "codex knows MCP servers of the user alone", Hint: "relay commands install codex --user --mcp"}
	}
	return nil, &exit.UsageError{
		Message: agent + " has no command that adds an MCP server", Hint: "add relay to its configuration by hand: a local server whose command is relay mcp",
	}
}

// addTime is how long a CLI may take to write its configuration.
const addTime = time.Minute

// Add runs such a command in a folder, and returns what it printed.
func Add(ctx context.Context, argv []string, dir string, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, addTime)
	defer cancel()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "", &exit.Hinted{Err: fmt.Errorf("%s is not on your PATH", argv[0]), Hint: "once it is: " + strings.Join(argv, " ")}
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...) //nolint:forbidigo // a person's own program, of no run
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	out, err := cmd.CombinedOutput()
	printed := strings.TrimSpace(string(out))
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return printed, &exit.Hinted{
			Err:  fmt.Errorf("%s: %w: %s", strings.Join(argv[:3], " "), err, text.Line(printed, 300)),
			Hint: "type it yourself: " + strings.Join(argv, " "),
		}
	}
	return printed, nil
}
