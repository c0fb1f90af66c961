package modelserver

import (
	"encoding/json"
	"strings"
)

// tool is a tool as the client offers it.
type tool struct {
	name      string
	namespace string // OpenAI Responses: the group it came in
	freeform  bool   // its input is text, and no arguments
	schema    toolSchema
}

type toolSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// writers are the clients' tools that write a file: claude's, gemini's, opencode's.
var writers = []struct{ name, path, text string }{
	{"Write", "file_path", "content"},
	{"write_file", "file_path", "content"},
	{"write", "filePath", "content"},
}

// shells are the clients' tools that run a command: claude's, gemini's, opencode's, codex's.
var shells = []struct{ name, command string }{
	{"Bash", "command"},
	{"run_shell_command", "command"},
	{"bash", "command"},
	{"exec_command", "cmd"},
}

func (a ask) tool(name string) (tool, bool) {
	for _, t := range a.tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// write is a call that writes a file, or nil when the client offers no tool for it.
func (a ask) write(path, text string) *call {
	for _, w := range writers {
		if t, ok := a.tool(w.name); ok {
			return &call{tool: t, args: t.filled(object{w.path: path, w.text: text})}
		}
	}
	patch := "*** Begin Patch\n*** Add File: " + path + "\n+" +
		strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n*** End Patch"
	if t, ok := a.tool("apply_patch"); ok && t.freeform {
		return &call{tool: t, input: patch}
	}
	if t, ok := a.scripting(); ok {
		return &call{tool: t, input: "text(await tools.apply_patch(" + encode(patch) + "));"}
	}
	return a.shell("printf '%s' " + quote(text) + " > " + quote(path))
}

// shell is a call that runs a command, or nil when the client offers no tool for it.
func (a ask) shell(command string) *call {
	if t, ok := a.scripting(); ok {
		return &call{tool: t, input: "text(await tools.exec_command({cmd: " + encode(command) + "}));"}
	}
	for _, s := range shells {
		t, ok := a.tool(s.name)
		if !ok {
			continue
		}
		args := object{s.command: command}
		if t.schema.Properties["description"] != nil {
			args["description"] = "run a command"
		}
		if t.schema.Properties["yield_time_ms"] != nil { // codex goes on without the command after that time
			args["yield_time_ms"] = 30_000
		}
		return &call{tool: t, args: t.filled(args)}
	}
	return nil
}

// server is how the names of tools begin that an MCP server of that name has: relay's.
const server = "mcp__relay"

// served is a call of a tool that the client has of an MCP server, or nil when it offers none of that name: codex has them in a group.
func (a ask) served(name string, args object) *call {
	if args == nil {
		args = object{}
	}
	for _, t := range a.tools {
		if t.name == server+"__"+name || t.namespace == server && t.name == name {
			return &call{tool: t, args: args}
		}
	}
	return nil
}

// scripting is the one tool of codex's newer models, which takes JavaScript that calls the others.
func (a ask) scripting() (tool, bool) {
	t, ok := a.tool("exec")
	return t, ok && t.freeform && t.namespace != ""
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// filled adds what the tool requires besides, as empty as its type allows.
func (t tool) filled(args object) object {
	for _, name := range t.schema.Required {
		if _, ok := args[name]; ok {
			continue
		}
		var p struct{ Type string }
		_ = json.Unmarshal(t.schema.Properties[name], &p)
		switch p.Type {
		case "boolean":
			args[name] = false
		case "number", "integer":
			args[name] = 1
		case "array":
			args[name] = []any{}
		case "object":
			args[name] = object{}
		default:
			args[name] = "-"
		}
	}
	return args
}
