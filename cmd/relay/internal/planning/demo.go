package planning

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

//go:embed files
var files embed.FS

// ScratchDemo makes the repository of the demo, in a folder that must not be there yet or, with "", in a temporary one, and returns its
// path.
func ScratchDemo(ctx context.Context, dir string) (root string, err error) {
	if dir == "" {
		root, err = os.MkdirTemp("", "relay-demo-")
	} else {
		root, err = filepath.Abs(dir)
		if err == nil {
			err = os.Mkdir(root, 0o755)
		}
	}
	if err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	names := map[string]string{
		"files/plan.md": "docs/plan.md", "files/script.yml": ".agents-os/demo-script.yml", "files/agents.yml": ".agents.yml",
	}
	for from, to := range names {
		text, err := files.ReadFile(from)
		if err != nil {
			return "", err
		}
		path := filepath.Join(root, filepath.FromSlash(to))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte("# Greetings\n"), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "relay demo"},
		{"config", "user.email", "demo@relay.invalid"},
		{"add", "--all"},
		{"-c", "commit.gpgSign=false", "commit", "--quiet", "--message=Begin"},
	} {
		if _, err := git.Run(ctx, git.Call{Dir: root, Args: args, Writes: true}); err != nil {
			return "", err
		}
	}
	return root, nil
}

// CheckDemo compares the ledger with what the script must lead to, and returns the branch that has the work. It fails when they differ.
func CheckDemo(ctx context.Context, a *cli.App, code int) (branch string, err error) {
	p, err := a.Locate(ctx, nil)
	if err != nil {
		return "", err
	}
	s, err := status.Read(ctx, p, true)
	if err != nil {
		return "", err
	}
	if c := s.Counts; code != terminal.Gated || c.Completed != 3 || c.Gated != 1 {
		return "", fmt.Errorf("the night did not go as scripted: exit code %d, not %d; completed tasks: %d, not 3; gated: %d, not 1; look into %s",
			code, terminal.Gated, c.Completed, c.Gated, p.Root)
	}
	return s.Branch, nil
}
