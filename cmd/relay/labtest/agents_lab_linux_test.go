package labtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/runners/process"
	"relay/runners/runnertest/modelserver"
)

// agentsVariable names the folder that .ci/agents has filled with real agent CLIs: bin/claude and so on. One that is on
// the PATH is never run: it may be somebody's, with a login.
const agentsVariable = "RELAY_AGENTS"

// agentCLI is what a real agent CLI needs, besides relay's adapter, to work with a model that is not its provider's.
type agentCLI struct {
	name  string // up to the dash that of its program and adapter
	model string // "" : its own default
	env   func(url string) []string
	files func(url string) map[string]string // in its home

	patience int    // requests that it makes itself before it gives up; 0: more than a test waits for
	starting int    // seconds in which it has asked its model, however busy the machine; 0: 25
	writes   string // its tool that writes a file, as its stream names it
	limit    string // what it tells of a usage limit: "to the second" or "to the minute" when it ends, "" : that there is one, "nothing"
	server   string // starts what stays; "" : a command that keeps the tool's output open, which some wait for
	blurred  bool   // half an answer looks like a tool at work, and the silence after it is the agent's own
	tidy     bool   // it ends itself what its tools have started
	open     bool   // its commands run without its sandbox
	mcp      bool   // it gets relay's MCP server
	key      string // where relay has its key: "proxy"
	form     bool   // another form of an API, which need only work
}

// The CLIs ask their provider again for minutes; here they are told not to, as far as they can be.
var clis = []agentCLI{
	{name: "claude", writes: "Write", patience: 3, limit: "to the second", env: func(url string) []string {
		return []string{"ANTHROPIC_BASE_URL=" + url, "CLAUDE_CODE_OAUTH_TOKEN=test-token", "CLAUDE_CODE_MAX_RETRIES=2"}
	}},
	codexWith("codex", "gpt-5.5"),
	codexWith("codex-scripting", "gpt-5.6-sol"), // its newer models have one tool, which takes JavaScript
	{name: "gemini", model: "gemini-2.5-pro", writes: "write_file", patience: 2, server: quietServer, env: func(url string) []string {
		return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=test-key"}
	}, files: func(string) map[string]string {
		return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},
"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false,"maxAttempts":2}}`}
	}},
	{name: "opencode", model: "local/model", writes: "write", starting: 120, limit: "nothing", server: quietServer, blurred: true, env: func(url string) []string {
		return []string{
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			`OPENCODE_CONFIG_CONTENT={"autoupdate":false,"share":"disabled","provider":{"local":{"npm":"@ai-sdk/openai-compatible",
"options":{"baseURL":"` + url + `/v1","apiKey":"test-key"},
"models":{"model":{"limit":{"context":200000,"output":8000},"cost":{"input":3,"output":15}}}}}}`,
		}
	}},
}

func codexWith(name, model string) agentCLI {
	return agentCLI{
		name: name, writes: "file_change", patience: 2, limit: "to the minute", tidy: true, form: name != "codex",
		env: func(string) []string { return []string{"LOCAL_KEY=test-key"} },
		files: func(url string) map[string]string {
			return map[string]string{".codex/config.toml": fmt.Sprintf(codexConfig, model, url)}
		},
	}
}

const codexConfig = `model = %q
model_provider = "local"
[analytics]
enabled = false
[model_providers.local]
name = "local"
base_url = "%s/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
`

func cliNamed(t *testing.T, name string) agentCLI {
	t.Helper()
	for _, c := range clis {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("there is no CLI %s here", name)
	return agentCLI{}
}

const quietServer = "tail -f /dev/null > /dev/null 2>&1 & echo it is up"

// installed is the path of a CLI, or the reason to skip the test.
func installed(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(agentsVariable)
	if folder == "" {
		t.Skip(agentsVariable + " names no folder of agent CLIs; .ci/agents fills one")
	}
	path := filepath.Join(folder, "bin", name)
	if _, err := exec.LookPath(path); err != nil {
		t.Skipf("%v; .ci/agents %s installs it", err, name)
	}
	return path
}

// agentLab is a lab whose agents are real CLIs that ask a scripted model. They know nothing of the machine but its
// programs: relay and they have the lab's home, a key that is none, and an address on loopback.
type agentLab struct {
	*lab
	model *modelserver.Server
}

const agentPlan = `version: 2
id: 20260101-agents
title: Real agents
tasks:
  T1: {title: Write hello.txt, checks: ["grep -qx hello hello.txt"]}
`

const agentSettings = `relay:
  runners: %s
  first_answer_minutes: %v
  silence_minutes: %v
  stop_grace_seconds: 20
  linger_seconds: 5
  backoff_seconds: 0.1
  backoff_max_seconds: 1
  agents: %s
`

// newAgentLab makes a lab in which the first of the CLIs works, and the others take over. They wait so many minutes for a
// first answer, and half as long again for the rest of one.
func newAgentLab(t *testing.T, firstAnswer float64, used ...agentCLI) *agentLab {
	t.Helper()
	l := &agentLab{model: modelserver.New(t)}
	names, agents := []string{}, map[string]any{}
	for _, c := range used {
		names = append(names, c.name)
		program, _, _ := strings.Cut(c.name, "-")
		agent := map[string]any{"type": program, "argv": []string{"env", installed(t, program)}, "env": c.env(l.model.URL(c.name))}
		if c.model != "" {
			agent["model"] = c.model
		}
		if c.key != "" {
			agent["key"] = c.key
		}
		if c.mcp {
			agent["mcp"] = true
		}
		if program == "codex" && (c.open || !namespaces()) {
			agent["permission"] = "danger-full-access"
		}
		agents[c.name] = agent
		t.Cleanup(func() {
			t.Logf("%s was answered: %s; asked in vain for: %s", c.name,
				strings.Join(l.model.Asked(c.name), ", "), strings.Join(l.model.Unknown(c.name), ", "))
		})
	}
	l.lab = newLab(t, agentPlan, "")
	l.settings(fmt.Sprintf(agentSettings, yamlText(t, names), firstAnswer, 1.5*firstAnswer, yamlText(t, agents)))
	for _, c := range used {
		if c.files == nil {
			continue
		}
		for path, text := range c.files(l.model.URL(c.name)) {
			l.write(l.inHome(path), text)
		}
	}
	// Some are node programs. What else they find on the machine's PATH is git and what shells run.
	l.env = append(l.env, "PATH="+filepath.Join(os.Getenv(agentsVariable), "bin")+":"+os.Getenv("PATH"))
	if *wall != "" {
		l.walled(*wall)
	}
	return l
}

// walled has the CLIs run in a sandbox.
func (l *agentLab) walled(kind string) {
	l.t.Helper()
	l.env = append(l.env, "RELAY_SANDBOX=require", "RELAY_SANDBOX_WRITE="+os.Getenv(agentsVariable)) // they may be below /tmp
	if kind == "Landlock" {                                                                          // a bubblewrap that does not start
		l.write(l.inHome("bin/bwrap"), "#!/bin/sh\nexit 1\n")
		if err := os.Chmod(l.inHome("bin/bwrap"), 0o755); err != nil {
			l.t.Fatal(err)
		}
		l.env = append(l.env, "PATH="+l.inHome("bin")+":"+filepath.Join(os.Getenv(agentsVariable), "bin")+":"+os.Getenv("PATH"))
	}
}

// namespaces says whether this machine lets an ordinary user have them: codex makes its sandbox of them.
func namespaces() bool {
	return exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").Run() == nil
}

func yamlText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// done wants that T1 is completed, and that each attempt before its last had an outcome and cost it nothing.
func (l *agentLab) done(before string) []ledgerAttempt {
	l.t.Helper()
	f := l.ledger()
	list := f.Attempts["T1"]
	if f.TaskStatus["T1"] != "completed" || len(list) == 0 {
		l.t.Fatalf("T1 is %s after %+v", f.TaskStatus["T1"], list)
	}
	for _, a := range list[:len(list)-1] {
		if a.Charged || a.Outcome != before {
			l.t.Errorf("attempt %+v, want it uncharged, with outcome %q", a, before)
		}
	}
	if last := list[len(list)-1]; last.Result != "success" {
		l.t.Errorf("the last attempt is %+v, want a success", last)
	}
	l.quiet()
	l.clean()
	return list
}

// answered wants what a CLI was answered in all.
func (l *agentLab) answered(name string, want ...string) {
	l.t.Helper()
	if got := l.model.Asked(name); !slices.Equal(got, want) {
		l.t.Errorf("%s was answered %v, want %v", name, got, want)
	}
}

// ending is how an attempt's process ended.
func (l *agentLab) ending(a ledgerAttempt) process.Exit {
	l.t.Helper()
	exit, err := process.ReadExit(l.path(filepath.Join(".agents-os/relay/runs", a.Run, "T1", fmt.Sprint(a.ID), "end.json")))
	if err != nil {
		l.t.Fatal(err)
	}
	return exit
}
