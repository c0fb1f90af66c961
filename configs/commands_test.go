package configs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"
)

func TestCommandPaths(t *testing.T) {
	t.Parallel()
	names := []string{"init", "work", "status", "handoff", "resume", "checkpoint", "finalize"}
	for _, test := range []struct {
		agent  string
		user   bool
		first  string
		invoke string // before its name
	}{
		{"claude", false, ".claude/commands/relay/init.md", "/relay:"},
		{"claude", true, ".claude/commands/relay/init.md", "/relay:"},
		{"gemini", false, ".gemini/commands/relay/init.toml", "/relay:"},
		{"opencode", false, ".opencode/commands/relay/init.md", "/relay/"},
		{"opencode", true, ".config/opencode/commands/relay/init.md", "/relay/"},
		{"codex", true, ".agents/skills/relay-init/SKILL.md", "$relay-"},
	} {
		files, err := Commands(test.agent, test.user)
		if err != nil {
			t.Fatal(err)
		}
		if got := files[0].Path; got != test.first {
			t.Errorf("%s, user %v: first file %s, want %s", test.agent, test.user, got, test.first)
		}
		var invoke []string
		for _, f := range files {
			if f.Invoke != "" {
				invoke = append(invoke, f.Invoke)
			}
			if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
				t.Errorf("%s leads elsewhere", f.Path)
			}
		}
		var want []string
		for _, name := range names {
			want = append(want, test.invoke+name)
		}
		if !slices.Equal(invoke, want) {
			t.Errorf("%s: got %v, want %v", test.agent, invoke, want)
		}
	}
}

func TestCommandsParse(t *testing.T) {
	t.Parallel()
	for _, agent := range CommandAgents() {
		files, err := Commands(agent, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if filepath.Base(f.Path) == "openai.yaml" {
				continue
			}
			head, body := parseCommand(t, f)
			if head["description"] == nil || head["description"] == "" {
				t.Errorf("%s has no description", f.Path)
			}
			if strings.Contains(body, "ARGUMENTS") != (agent == "claude" || agent == "opencode") || !strings.Contains(body, "relay") {
				t.Errorf("%s: %s", f.Path, body)
			}
			// Both would be run or read by gemini before the model sees the prompt.
			if strings.Contains(body, "!{") || strings.Contains(body, "@{") {
				t.Errorf("%s runs something by itself", f.Path)
			}
			if agent == "claude" && (head["allowed-tools"] != "Bash(relay:*)" || head["argument-hint"] == "") {
				t.Errorf("%s: got %v", f.Path, head)
			}
			if agent == "gemini" && strings.Count(body, "{{args}}") != 1 {
				t.Errorf("%s does not pass the arguments", f.Path)
			}
			if strings.Contains(body, "outside the sandbox") != (f.Invoke == "$relay-work") {
				t.Errorf("%s: only codex has a sandbox that relay work must leave: %s", f.Path, body)
			}
			if agent == "codex" && "$"+head["name"].(string) != f.Invoke {
				t.Errorf("%s is named %v, want %s", f.Path, head["name"], f.Invoke)
			}
		}
	}
}

// parseCommand splits a file the way its CLI does.
func parseCommand(t *testing.T, f CommandFile) (head map[string]any, body string) {
	t.Helper()
	if strings.HasSuffix(f.Path, ".toml") {
		if err := toml.Unmarshal(f.Content, &head); err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		body, _ = head["prompt"].(string)
		return head, body
	}
	rest, opened := strings.CutPrefix(string(f.Content), "---\n")
	front, body, closed := strings.Cut(rest, "\n---\n")
	if !opened || !closed {
		t.Fatalf("%s has no frontmatter", f.Path)
	}
	if err := yaml.Unmarshal([]byte(front), &head); err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	return head, body
}

func TestCodexDoesNotStartRelayUnasked(t *testing.T) {
	t.Parallel()
	files, err := Commands("codex", false)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(files); i += 2 {
		var policy struct {
			Policy struct {
				Implicit *bool `yaml:"allow_implicit_invocation"`
			}
		}
		if err := yaml.Unmarshal(files[i].Content, &policy); err != nil || policy.Policy.Implicit == nil || *policy.Policy.Implicit {
			t.Errorf("%s: %s", files[i].Path, files[i].Content)
		}
	}
}
