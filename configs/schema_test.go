package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"relay/epic"
)

// compile reads an embedded schema as JSON and as a schema.
func compile(tb testing.TB, src []byte) (map[string]any, *jsonschema.Schema) {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		tb.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	return doc.(map[string]any), schema
}

// valid checks YAML against a schema, as an editor with a YAML plugin does.
func valid(schema *jsonschema.Schema, src string) error {
	var doc any
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		return err
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return schema.Validate(plain)
}

func TestConfigSchemaAgreesWithLoad(t *testing.T) {
	t.Parallel()
	_, schema := compile(t, ConfigSchema())
	good := []string{
		string(Defaults()), "", "relay:\n", "quality_gate:\n", "other: {a: [1]}\n",
		"relay: {review: null, agents: null}", "relay: {jobs: 3.0, timeout_minutes: 0.5}",
		"relay: {review: {enabled: true, provider: repoprompt}}",
		"relay: {runners: [], env: [HOME, LC_*, 'A=b c', EMPTY=], model: us.anthropic/opus:1, dir: .agents/relay}",
		"relay: {agents: {claude: {argv: [/opt/claude], permission: acceptEdits, mcp: true, env: [A=b, HOME, LC_*], stop_signal: INT}}}",
		"relay: {agents: {s: {type: scripted, script: a/b.txt}, c: {type: command, argv: [a, ''], prompt: file, result: exit}}}",
		"quality_gate: {reviewers: [claude, codex], strictness: pedantic}",
		"relay: {isolation: worktree, landing: rebase, worktree: null, setup_timeout_minutes: 0.5}",
		"relay: {worktree: {setup: [npm ci, \"a\\nb\"], copy: [.env, 'config/**/*.{a,b}', .gitmodules.local], share: [./node_modules, a..b], dir: ''}}",
		"relay: {budget_usd: 12.5, budget_tokens: 0, epic_budget_usd: 1000000, attempt_budget_tokens: 1e3}", "relay: {prices: null}", "relay: {prices: {}}",
		"relay: {prices: {'*': {input: 1, output: 2.5}, gpt-5.1/x: {input: 0, cached_input: 0.1, output: 0}, 'a[1m]': {output: 1, input: 1}}}",
		"relay: {worktree: {dir: /tmp/x}}", "relay: {worktree: {dir: ../beside}}", "relay: {worktree: {dir: 'C:\\x'}}",
		"relay: {notify: null}", "relay: {sandbox_network: null}", "relay: {sandbox_network: {checks: none, agents: ['*.example.com', 'localhost:5432', 10.0.0.1]}}",
		"relay: {until: 07:00}", "relay: {until: 8h}", "relay: {until: 1h30m}", "relay: {until: ''}", "relay: {max_same_error: 0, disk_floor_mib: 0}",
	}
	bad := []string{
		"relay: {until: 8}", "relay: {until: 25:00}", "relay: {until: 07:60}", "relay: {until: tomorrow}", "relay: {until: -8h}", "relay: {max_uncharged_run: 0}",
		"[]", "text", "relay: 1", "relay: []", "relay: {job: 1}", "relay: {jobs: 0}", "relay: {jobs: 257}", "relay: {jobs: 1.5}",
		"relay: {jobs: '1'}", "relay: {jobs: true}", "relay: {jobs: null}", "relay: {timeout_minutes: 0}", "relay: {timeout_minutes: -1}",
		"relay: {timeout_minutes: 20000}", "relay: {isolation: worktrees}", "relay: {isolation: ''}", "relay: {runners: claude}",
		"relay: {runners: [a b]}", "relay: {runners: [claude, claude]}", "relay: {runners: [1]}", "relay: {runners: [[]]}",
		"relay: {model: 5}", "relay: {model: -x}", "relay: {model: a b}",
		"relay: {dir: /a}", "relay: {dir: '~/a'}", "relay: {dir: a/../b}", "relay: {dir: 'C:a'}", "relay: {dir: .}", "relay: {dir: ''}",
		"relay: {dir: \"a\\\\..\\\\b\"}", "relay: {env: [1A]}", "relay: {env: ['']}", "relay: {env: [RELAY_TASK=1]}",
		"relay: {review: {enable: true}}", "relay: {review: {enabled: 'true'}}", "relay: {review: {provider: 'a b'}}", "relay: {review: true}",
		"relay: {agents: []}", "relay: {agents: {a b: {}}}", "relay: {agents: {a: {type: shell}}}", "relay: {agents: {claude: {argv: claude}}}",
		"relay: {agents: {claude: {stop_signal: KILL}}}", "relay: {agents: {claude: {env: [1A]}}}", "relay: {agents: {claude: {x: 1}}}",
		"relay: {agents: {claude: {permission: a b}}}", "relay: {agents: {claude: {mcp: 1}}}", "relay: {agents: {claude: 1}}",
		"relay: {budget_usd: -1}", "relay: {budget_usd: 1000001}", "relay: {budget_usd: '5'}", "relay: {budget_tokens: 1.5}", "relay: {task_budget_tokens: -1}",
		"relay: {prices: []}", "relay: {prices: {a: 1}}", "relay: {prices: {a: {}}}", "relay: {prices: {a: {input: 1}}}", "relay: {prices: {a: {output: 1}}}",
		"relay: {prices: {a: {input: 1, output: 1, cache: 1}}}", "relay: {prices: {a: {input: -1, output: 1}}}", "relay: {prices: {a: {input: '1', output: 1}}}",
		"relay: {prices: {'a b': {input: 1, output: 1}}}", "relay: {prices: {'': {input: 1, output: 1}}}", "relay: {prices: {a: {input: 1000001, output: 1}}}",
		"relay: {sandbox_network: none}", "relay: {sandbox_network: {checks: example.com}}", "relay: {sandbox_network: {checks: [https://example.com]}}",
		"relay: {sandbox_network: {checks: ['*']}}", "relay: {sandbox_network: {agents: ['a:b']}}",
		"relay: {landing: onto}", "relay: {setup_timeout_minutes: 0}", "relay: {worktree: []}", "relay: {worktree: {setup: npm ci}}",
		"relay: {worktree: {setup: ['']}}", "relay: {worktree: {setup: [' ']}}", "relay: {worktree: {setups: []}}", "relay: {worktree: {copy: [/etc/passwd]}}",
		"relay: {worktree: {copy: ['~/x']}}", "relay: {worktree: {copy: [a/../../b]}}", "relay: {worktree: {copy: [.]}}", "relay: {worktree: {copy: ['']}}",
		"relay: {worktree: {copy: ['a\\b']}}", "relay: {worktree: {share: [.git]}}", "relay: {worktree: {share: [a/.GIT/config]}}", "relay: {worktree: {share: ['C:x']}}",
		"relay: {worktree: {dir: '~/x'}}", "relay: {worktree: {dir: .}}", "relay: {worktree: {dir: ../..}}", "relay: {worktree: {dir: .git/worktrees}}", "relay: {worktree: {dir: \"a\\nb\"}}", "relay: {worktree: {dir: [a]}}",
		"quality_gate: {strictness: Strict}", "quality_gate: {reviewer: []}", "quality_gate: {reviewers: [a, b, a]}", "quality_gate: x",
	}
	for _, src := range good {
		if err := valid(schema, src); err != nil {
			t.Errorf("the schema refuses %q: %v", src, err)
		}
		if _, err := Load(Sources{Dir: repository(t, src, "")}); err != nil {
			t.Errorf("Load refuses %q: %v", src, err)
		}
	}
	for _, src := range bad {
		if valid(schema, src) == nil {
			t.Errorf("the schema takes %q", src)
		}
		var problems epic.Problems
		if _, err := Load(Sources{Dir: repository(t, src, "")}); !errors.As(err, &problems) {
			t.Errorf("Load says %v to %q, want epic.Problems", err, src)
		}
	}
}

// The fields, the defaults and the schema are three texts about the same settings.
func TestSchemaAndFieldsAreTheSame(t *testing.T) {
	t.Parallel()
	doc, _ := compile(t, ConfigSchema())
	c := load(t, Sources{})
	known := map[string]bool{}
	for _, f := range fields {
		node := doc
		for word := range strings.SplitSeq(f.key, ".") {
			if word == "*" {
				node, _ = node["additionalProperties"].(map[string]any)
				continue
			}
			properties, _ := node["properties"].(map[string]any)
			node, _ = properties[word].(map[string]any)
		}
		if node == nil {
			t.Errorf("%s is not in the schema", f.key)
			continue
		}
		known[f.key] = true
		compareField(t, f, node)
		if v, ok := c.Lookup(f.key); ok && !reflect.DeepEqual(normal(t, v.Value), normal(t, node["default"])) {
			t.Errorf("%s: default %v in the schema, want %v", f.key, node["default"], v.Value)
		}
	}
	for _, key := range leaves(doc, "") {
		if !known[key] {
			t.Errorf("%s is in the schema, but no setting", key)
		}
	}
}

func compareField(t *testing.T, f field, node map[string]any) {
	t.Helper()
	if node["description"] == "" || node["description"] == nil {
		t.Errorf("%s has no description", f.key)
	}
	if f.kind == integer || f.kind == span || f.kind == decimal {
		got := normal(t, []any{node["minimum"], node["maximum"]})
		if want := normal(t, []any{f.min, f.max}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: from %v in the schema, want %v", f.key, got, want)
		}
	}
	if f.words != nil && !reflect.DeepEqual(normal(t, node["enum"]), normal(t, f.words)) {
		t.Errorf("%s: one of %v in the schema, want %v", f.key, node["enum"], f.words)
	}
	if f.fallback != "" && node["default"] != f.fallback {
		t.Errorf("%s: default %v in the schema, want %q", f.key, node["default"], f.fallback)
	}
}

// normal makes values from YAML, JSON and Go comparable.
func normal(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// leaves lists the dotted keys of all values in a schema.
func leaves(node map[string]any, path string) []string {
	var keys []string
	if properties, ok := node["properties"].(map[string]any); ok {
		for word, child := range properties {
			keys = append(keys, leaves(child.(map[string]any), strings.TrimPrefix(path+"."+word, "."))...)
		}
		return keys
	}
	if child, ok := node["additionalProperties"].(map[string]any); ok {
		return leaves(child, path+".*")
	}
	return []string{path}
}

func TestEpicSchema(t *testing.T) {
	t.Parallel()
	_, schema := compile(t, EpicSchema())
	for _, name := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", "epic", name, "*.yml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s examples: %v", name, err)
		}
		slices.Sort(files)
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, example := range strings.Split(string(src), "\n---\n") {
				if err := valid(schema, example); (err == nil) != (name == "good") {
					t.Errorf("%s, example %d: %v", path, i+1, err)
				}
			}
		}
	}
}

// What Load takes, the schema takes: whoever writes a file with the schema's help never meets a stranger error.
func FuzzLoad(f *testing.F) {
	f.Add(Defaults())
	f.Add([]byte("relay: {runners: [claude], agents: {x: {type: command, argv: [a]}}}"))
	f.Add([]byte("relay:\n  jobs: 0x10\n  model: &a x\nquality_gate: {strictness: strict}\n---\n"))
	_, schema := compile(f, ConfigSchema())
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "agents.yml")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(Sources{UserFile: path})
		var problems epic.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("got %T: %v", err, err)
		}
		if err == nil {
			agree(t, schema, src)
		}
	})
}

// agree checks relay's own sections; what stands elsewhere may be anything, even what JSON cannot say.
func agree(t *testing.T, schema *jsonschema.Schema, src []byte) {
	t.Helper()
	var doc struct {
		Relay       any `yaml:"relay" json:"relay"`
		QualityGate any `yaml:"quality_gate" json:"quality_gate"`
	}
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return
	}
	data, err := yaml.Marshal(doc)
	if err != nil {
		return
	}
	if err := valid(schema, string(data)); err != nil {
		t.Errorf("Load takes what the schema refuses: %v", err)
	}
}
