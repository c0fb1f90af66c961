package configs

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relay/epic/plaintext"
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

// TestNotificationRecipes fails when a receiver that the documentation shows is none.
func TestNotificationRecipes(t *testing.T) {
	t.Parallel()
	blocks := yamlBlocks(t, filepath.Join("..", "docs", "notifications.md"))
	if len(blocks) < 6 {
		t.Fatalf("found %d recipes", len(blocks))
	}
	for _, block := range blocks {
		c, err := Load(Sources{Dir: repository(t, "", block)})
		if err != nil || len(c.Warnings) > 0 || len(c.Relay.Notify) != 1 {
			t.Errorf("%v in:\n%s", err, block)
			continue
		}
		for _, r := range c.Relay.Notify {
			body, err := plaintext.Notification{Event: "gated", Text: `a "b" <c>`, Command: "relay show T1"}.Render(r.Template)
			if err != nil || strings.HasPrefix(r.Template, "{\"") && !json.Valid(body) {
				t.Errorf("%v: %s in:\n%s", err, body, block)
			}
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

var update = flag.Bool("update", false, "write the settings and defaults of the schema into docs/configuration.md")

// The tables of docs/configuration.md name every setting, no other one, and the defaults as they are built in.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "configuration.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d := &settingsDoc{config: c, seen: map[string]bool{}}
	rows := strings.Split(string(data), "\n")
	for i, row := range rows {
		rows[i] = d.row(t, row)
	}
	var missing []string
	for _, f := range fields {
		section, _, named := named(f.key)
		if !d.seen[f.key] && !named {
			value, _ := c.Lookup(f.key)
			missing = append(missing, "| `"+f.key+"` | "+documented(value)+" | |")
			t.Errorf("%s is in no table of docs/configuration.md", f.key)
		}
		if name := strings.TrimPrefix(f.key, section+".*."); named && !strings.Contains(string(data), "`"+name+"`") {
			t.Errorf("%s of an entry of %s is not in docs/configuration.md", name, section)
		}
	}
	if want := strings.Join(append(rows, missing...), "\n"); *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// settingsDoc compares the tables of the documentation with the built-in configuration.
type settingsDoc struct {
	config *Config
	prefix string // of names in the table at hand
	table  bool   // a table of settings is at hand
	seen   map[string]bool
}

var quoted = regexp.MustCompile("`([^`]+)`")

// row compares one line of the documentation, and returns it with the defaults as they are.
func (d *settingsDoc) row(t *testing.T, row string) string {
	t.Helper()
	cells := strings.Split(row, "|")
	switch {
	case len(cells) < 4:
		d.table = false
		return row
	case strings.HasPrefix(cells[1], " setting"):
		d.table, d.prefix = true, ""
		if strings.Contains(cells[1], "under `relay`") {
			d.prefix = "relay."
		}
		return row
	case !d.table, strings.HasPrefix(cells[1], "---"), strings.Contains(cells[1], ".NAME"):
		return row
	}
	var defaults []string
	folder := ""
	for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
		key := d.prefix + name[1]
		if short, ok := strings.CutPrefix(name[1], "."); ok {
			key = folder + short
		}
		folder = key[:strings.LastIndexByte(key, '.')+1]
		d.seen[key] = true
		if key == "relay.prices" { // a map, of which the documentation says where it comes from
			return row
		}
		value, ok := d.config.Lookup(key)
		if !ok {
			t.Errorf("docs/configuration.md names %s, which is no setting", key)
		}
		defaults = append(defaults, documented(value))
	}
	if one := slices.Compact(slices.Clone(defaults)); len(one) == 1 {
		defaults = one
	}
	got, want := strings.TrimSpace(cells[2]), strings.Join(defaults, ", ")
	if got == want || want == "none" && got != "" && !strings.ContainsAny(got, "`0123456789") { // or it says what none means
		return row
	}
	t.Errorf("docs/configuration.md has the default %q for %s, and it is %q: go test ./configs -update", got, strings.TrimSpace(cells[1]), want)
	cells[2] = " " + want + " "
	return strings.Join(cells, "|")
}

// documented returns a default as the documentation writes it.
func documented(v Value) string {
	text := v.String()
	switch v.Value.(type) {
	case string:
		if text != `""` {
			return "`" + text + "`"
		}
	case []string:
		if text != "[]" {
			return "`" + text + "`"
		}
	case int, float64:
		if text != "0" {
			return text
		}
	default:
		return text
	}
	return "none"
}
