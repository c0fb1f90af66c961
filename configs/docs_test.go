package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecipes fails when a configuration that the documentation shows is none, or leaves out who is to run.
func TestRecipes(t *testing.T) {
	t.Parallel()
	blocks := yamlBlocks(t, filepath.Join("..", "docs", "agents.md"))
	if len(blocks) < 7 {
		t.Fatalf("found %d recipes", len(blocks))
	}
	for _, block := range blocks {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SharedFile), []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Sources{Dir: dir})
		if err != nil || len(c.Warnings) > 0 {
			t.Errorf("%v %v in:\n%s", err, c, block)
			continue
		}
		name := c.Relay.Runners[0]
		if !strings.Contains(block, "runners:") { // it is about a reviewer
			name = c.Relay.Review.Provider
		}
		agent := c.Relay.Agents[name]
		named := strings.Contains(strings.Join(agent.Argv, " "), "{prompt_file}")
		if agent.Type != "command" || len(agent.Argv) < 2 || named != (agent.Prompt == "file") {
			t.Errorf("%+v in:\n%s", agent, block)
		}
		if c.Relay.Silence > c.Relay.Timeout {
			t.Errorf("silence after the time is over in:\n%s", block)
		}
	}
}

// yamlBlocks are the fenced blocks of YAML in a file.
func yamlBlocks(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, part := range strings.Split(string(data), "\n```yaml\n")[1:] {
		block, _, closed := strings.Cut(part, "\n```\n")
		if !closed {
			t.Fatalf("no end of:\n%s", part)
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// TestSettingsAreDocumented fails when a setting is not in docs/configuration.md.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name := f.key[strings.LastIndexByte(f.key, '.')+1:]
		if !strings.Contains(string(data), "`"+name+"`") && !strings.Contains(string(data), "`"+f.key+"`") && !strings.Contains(string(data), "."+name+"`") {
			t.Errorf("%s is not in docs/configuration.md", f.key)
		}
	}
}
