// Package mcptest is a client of the Model Context Protocol for tests of relay as a program.
package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Session starts a server as a child process, and talks to it. The caller closes it.
func Session(ctx context.Context, server *exec.Cmd) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "mcptest", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
}

// Run is a program that starts relay mcp and asks it: "tools" prints what it says of itself and its tools, a line each with "reads"
// behind those that change nothing, and "call NAME JSON…" the answers of tools, one after the other. The text of an error
// begins with "refused: ". It returns the exit code: 1 when the protocol fails.
func Run(ctx context.Context, args []string, out io.Writer) int {
	flags := max(0, slices.IndexFunc(args, func(arg string) bool { return arg == "call" || arg == "tools" })) // of relay mcp
	if err := Ask(ctx, exec.Command("relay", slices.Concat([]string{"mcp"}, args[:flags])...), args[flags:], out); err != nil {
		fmt.Fprintln(out, "mcp:", err)
		return 1
	}
	return 0
}

// Ask is Run with a server that has not been started yet. It fails when the protocol does.
func Ask(ctx context.Context, server *exec.Cmd, args []string, out io.Writer) error {
	s, err := Session(ctx, server)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(args) == 1 && args[0] == "tools" {
		return tools(ctx, s, out)
	}
	if len(args) < 3 || args[0] != "call" || len(args)%2 == 0 {
		return fmt.Errorf("it does not know %q", args)
	}
	for at := 1; at < len(args); at += 2 {
		if err := call(ctx, s, out, args[at], args[at+1]); err != nil {
			return err
		}
	}
	return nil
}

func tools(ctx context.Context, s *mcp.ClientSession, out io.Writer) error {
	fmt.Fprintln(out, s.InitializeResult().Instructions)
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		note := ""
		if t.Annotations != nil && t.Annotations.ReadOnlyHint {
			note = " reads"
		}
		fmt.Fprintf(out, "%s%s: %s\n", t.Name, note, t.Description)
	}
	return nil
}

func call(ctx context.Context, s *mcp.ClientSession, out io.Writer, tool, arguments string) error {
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return err
	}
	if r.IsError {
		fmt.Fprint(out, "refused: ")
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			fmt.Fprintln(out, t.Text)
		}
	}
	return nil
}
