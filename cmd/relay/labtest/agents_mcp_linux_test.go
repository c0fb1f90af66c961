package labtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// reports is what a model does that does the task and says so by relay's MCP server, and nowhere else.
func reports() []modelserver.Step {
	args := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	topic := args("topic", "Who is greeted?", "summary", "Nobody has said.", "status", "exploring")
	topic["positions"] = []any{}
	return []modelserver.Step{
		helloTask[0],
		{Tool: "mark_state", With: args("entry_id", "none", "new_status", "done")},
		{Tool: "append_discussion", With: topic},
		{Tool: "report_progress", With: args("message", "hello.txt is written")},
		{Tool: "report_result", With: args("status", "done", "summary", "No result.")},
		{Tool: "report_result", With: args("status", "success", "summary", "Reported by MCP.", "learning", "Say hello first")},
		{Tool: "report_result", With: args("status", "failure", "summary", "A second one.")},
		{Say: "I am done."},
		{Say: "I am done.", When: "You MUST call the StructuredOutput tool"}, // so claude, once
	}
}

// TestRealAgentsServed has real CLIs use relay's MCP server beside one of the user's: its tools are listed and called, what is refused is
// told and writes nothing, an entry is on disk, and the result is the attempt's. Without the server the same task ends the same way.
func TestRealAgentsServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "codex-scripting"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("with the server", func(t *testing.T) {
				t.Parallel()
				c := cliNamed(t, name)
				c.mcp = true
				agentServed(t, c)
			})
			t.Run("without it", func(t *testing.T) {
				t.Parallel()
				agentUnserved(t, cliNamed(t, name))
			})
		})
	}
}

func agentServed(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.usersServer(c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, reports()...)
	r := l.work(terminal.OK)
	r.says(t, "T1 completed")
	if strings.Contains(r.stderr.String(), "left behind") {
		t.Errorf("the server outlives its agent: %s", r.stderr.String())
	}
	list := l.done("")
	if len(list) != 1 || list[0].Receipt.Summary != "Reported by MCP." || list[0].Receipt.ResultFrom != "" {
		t.Errorf("attempts %+v, want one with the result that was reported", list)
	}
	answers, others := []string{"write", "mark_state", "append_discussion", "report_progress", "report_result", "report_result", "report_result", "say"}, "tool_search"
	if c.name == "claude" {
		answers, others = append(answers, "say"), "mcp__mine__status"
	}
	l.answered(c.name, answers...)
	tools := l.model.Tools(c.name)
	for _, want := range []string{"mcp__relay__report_result", "mcp__relay__status", others} { // codex has those of the user behind its search
		if !slices.Contains(tools, want) && (!c.form || want != others) {
			t.Errorf("%s was not offered, but %v", want, tools)
		}
	}
	if got := l.read(l.inHome("mine")); got != "started\n" {
		t.Errorf("the user's own server was started %q", got)
	}
	transcript := l.run("show", "T1", "--log")
	for _, want := range []string{
		"the input of mark_state is invalid: new_status: value must be one of", `_who-is-greeted`,
		`not success, failure or question`, "a result was reported for this attempt already",
	} {
		if !strings.Contains(transcript.stdout.String(), want) {
			t.Errorf("the agent was not told %q", want)
		}
	}
	if said := l.run("show", "T1").stdout.String(); !strings.Contains(said, "it said: hello.txt is written") || !strings.Contains(said, "Say hello first") {
		t.Errorf("relay show says %s", said)
	}
	replay := l.run("discuss", "replay", "who-is").stdout.String()
	if !strings.Contains(replay, fmt.Sprintf("Z %s T1/1: exploring", c.name)) {
		t.Errorf("the discussion says %s", replay)
	}
	if got := l.git("show", "--stat", "--format=", "relay/20260101-agents"); strings.Contains(got, "mcp") || strings.Contains(got, ".ledger") {
		t.Errorf("the attempt has changed %s", got)
	}
}

func agentUnserved(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, helloTask[0], modelserver.Step{Say: "I am done."})
	l.work(terminal.OK).says(t, "T1 completed")
	if list := l.done(""); len(list) != 1 || list[0].Receipt.ResultFrom != "checks" {
		t.Errorf("attempts %+v, want one, decided by the checks", list)
	}
	for _, tool := range l.model.Tools(c.name) {
		if strings.HasPrefix(tool, "mcp__") {
			t.Errorf("%s is offered", tool)
		}
	}
}

// usersServer configures an MCP server that is the user's own.
func (l *agentLab) usersServer(c agentCLI) {
	l.t.Helper()
	started := "echo started >> " + l.inHome("mine") + "; exec relay mcp"
	files := map[string]string{}
	if c.files != nil {
		maps.Copy(files, c.files(l.model.URL(c.name)))
	}
	if c.name == "claude" {
		files[".claude.json"] = fmt.Sprintf(`{"mcpServers":{"mine":{"command":"sh","args":["-c",%q]}}}`, started)
	} else {
		files[".codex/config.toml"] += fmt.Sprintf("[mcp_servers.mine]\ncommand = \"sh\"\nargs = [\"-c\", %q]\n", started)
	}
	for path, text := range files {
		l.write(l.inHome(path), text)
	}
}
