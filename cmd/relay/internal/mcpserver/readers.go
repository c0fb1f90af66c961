package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay/attempts/discussion"
	"relay/epic/plaintext"
)

// Questions that tools which read can be asked.
type (
	statusQuestion struct {
		Offset int `json:"offset,omitempty" jsonschema:"byte from which the answer goes on, as the end of an earlier one has said"`
	}
	taskQuestion struct {
		Task   string `json:"task,omitempty" jsonschema:"id of the task; of an attempt's agent its own, unless it is given"`
		Offset int    `json:"offset,omitempty" jsonschema:"byte from which the answer goes on, as the end of an earlier one has said"`
	}
	attemptQuestion struct {
		Task    string `json:"task,omitempty" jsonschema:"id of the task; of an attempt's agent its own, unless it is given"`
		Attempt int    `json:"attempt,omitempty" jsonschema:"number of the attempt"`
		Offset  int    `json:"offset,omitempty" jsonschema:"byte from which the answer goes on, as the end of an earlier one has said"`
	}
	searchQuestion struct {
		Words  []string `json:"words" jsonschema:"words that all have to be there; one that ends in * stands for all that begin so"`
		Last   int      `json:"last,omitempty" jsonschema:"how many to answer with, the newest; 20 unless it is given"`
		Offset int      `json:"offset,omitempty" jsonschema:"byte from which the answer goes on, as the end of an earlier one has said"`
	}
)

func (q statusQuestion) about() (task string, offset int)  { return "", q.Offset }
func (q taskQuestion) about() (task string, offset int)    { return q.Task, q.Offset }
func (q attemptQuestion) about() (task string, offset int) { return q.Task, q.Offset }
func (q searchQuestion) about() (task string, offset int)  { return "", q.Offset }

// addReaders adds the tools that change nothing.
func (s *server) addReaders(m *mcp.Server) {
	addReader(s, m, "status", "How the epic stands: its tasks, the run, what needs a person. JSON, as relay status --json has it.",
		func(ctx context.Context, _ string, _ statusQuestion) (string, error) {
			return s.Run(ctx, "status", "--json", "--short")
		})
	addReader(s, m, "task", "A task: what is asked, its files, criteria and checks, its gate, and how each of its attempts has ended. JSON.",
		func(ctx context.Context, task string, _ taskQuestion) (string, error) { return s.task(ctx, task) })
	addReader(s, m, "receipts", "The attempts of a task with their receipts: what was claimed, checked, reviewed and kept. JSON; one attempt if it is named.",
		func(ctx context.Context, task string, q attemptQuestion) (string, error) {
			fields, err := s.show(ctx, task, q.Attempt)
			if err != nil {
				return "", err
			}
			return indented(fields["attempts"])
		})
	addReader(s, m, "brief", "The brief that a task's next attempt would be given now, or the brief of an attempt. Markdown.",
		func(ctx context.Context, task string, q attemptQuestion) (string, error) {
			return s.Run(ctx, append([]string{"show", "--brief"}, named(task, q.Attempt)...)...)
		})
	addReader(s, m, "sessions_search", "Messages and tool results of agents' sessions that hold all of some words, the newest first. JSON.",
		func(ctx context.Context, _ string, q searchQuestion) (string, error) {
			args := []string{"sessions", "search", "--json"}
			if q.Last != 0 {
				args = append(args, "--last="+strconv.Itoa(q.Last))
			}
			return s.Run(ctx, append(append(args, "--"), q.Words...)...)
		})
}

// addReader adds a tool that changes nothing: it answers with what find finds about a task, from an offset on.
func addReader[Q interface {
	about() (task string, offset int)
}](
	s *server, m *mcp.Server, name, description string, find func(ctx context.Context, task string, q Q) (string, error),
) {
	closed := false
	addTool(s, m, &mcp.Tool{
		Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}, func(ctx context.Context, q Q) *mcp.CallToolResult {
		task, offset := q.about()
		found, err := find(ctx, cmp.Or(task, s.Lookup("RELAY_TASK")), q)
		if err != nil {
			return s.failed(err)
		}
		return s.said(cut(s.Redact(found), offset))
	})
}

// addTool adds a tool that answers a question of the type Q. A list in its input cannot be null: clients that read the type of an argument
// expect one.
func addTool[Q any](s *server, m *mcp.Server, t *mcp.Tool, answer func(ctx context.Context, q Q) *mcp.CallToolResult) {
	lists := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[[]string](): {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}
	schema, err := jsonschema.For[Q](&jsonschema.ForOptions{TypeSchemas: lists})
	if err != nil { // the type is not one of a tool
		panic(err)
	}
	t.InputSchema = schema
	mcp.AddTool(m, t, func(ctx context.Context, _ *mcp.CallToolRequest, q Q) (*mcp.CallToolResult, any, error) {
		r, err := s.do(ctx, func() *mcp.CallToolResult { return answer(ctx, q) })
		return r, nil, err
	})
}

// named are the arguments that name a task, and an attempt unless that is 0. They are no flags, whatever they hold.
func named(task string, attempt int) []string {
	if attempt == 0 {
		return []string{"--", task}
	}
	return []string{"--attempt=" + strconv.Itoa(attempt), "--", task}
}

// errNoTask means that a question is about no task.
var errNoTask = errors.New("error: no task is named\nhint: call the tool with \"task\": an id that the tool status lists")

// show returns what relay show --json prints of a task, by key.
func (s *server) show(ctx context.Context, task string, attempt int) (fields map[string]json.RawMessage, err error) {
	if task == "" {
		return nil, errNoTask
	}
	text, err := s.Run(ctx, append([]string{"show", "--json"}, named(task, attempt)...)...)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal([]byte(text), &fields)
}

// task returns a task without the receipts of its attempts.
func (s *server) task(ctx context.Context, task string) (string, error) {
	fields, err := s.show(ctx, task, 0)
	if err != nil {
		return "", err
	}
	var attempts []map[string]json.RawMessage
	if err := json.Unmarshal(fields["attempts"], &attempts); err != nil {
		return "", err
	}
	for _, a := range attempts {
		delete(a, "receipt")
	}
	if fields["attempts"], err = json.Marshal(attempts); err != nil {
		return "", err
	}
	return indented(fields)
}

func indented(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return string(text), err
}

// addDiscussions adds the five actions of the discussion ledger. They check their input themselves, by the schemas of their tools.
func (s *server) addDiscussions(m *mcp.Server) error {
	actions, err := discussion.Actions()
	if err != nil {
		return err
	}
	for _, a := range actions {
		closed, adds := false, false
		reads := a.Name == discussion.ActionOpen || a.Name == discussion.ActionReplay
		m.AddTool(&mcp.Tool{
			Name: a.Name, Description: a.Description, InputSchema: a.Input, OutputSchema: a.Output,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads, DestructiveHint: &adds, OpenWorldHint: &closed},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.do(ctx, func() *mcp.CallToolResult { return s.discuss(ctx, a.Name, argumentsOf(req)) })
		})
	}
	return nil
}

func (s *server) discuss(ctx context.Context, action string, input []byte) *mcp.CallToolResult {
	text, warnings, err := s.Discuss(ctx, action, input)
	if err != nil {
		return s.failed(err)
	}
	text = s.Redact(text)
	answer := json.RawMessage(text)
	note := ""
	if len(text) > MaxAnswer {
		answer, note = shortened(text)
	}
	r := s.said(string(answer), warnings, note)
	r.StructuredContent = answer
	return r
}

// shortened returns an answer without what makes it longer than MaxAnswer, and a note that says so.
func shortened(text string) (answer json.RawMessage, note string) {
	var open discussion.Answer
	_ = json.Unmarshal([]byte(text), &open) // relay has written it
	for share := 1.0; ; share *= 0.8 {
		kept := open
		kept.Narrative = plaintext.Head(open.Narrative, int(share*float64(len(open.Narrative))))
		kept.Threads = open.Threads[len(open.Threads)-int(share*float64(len(open.Threads))):] // the oldest stand first
		if answer, err := json.Marshal(kept); err != nil || len(answer) <= MaxAnswer {
			return answer, "This is not all. relay discuss open and relay discuss replay print the rest."
		}
	}
}

// argumentsOf returns the arguments of a call, as they came.
func argumentsOf(req *mcp.CallToolRequest) []byte {
	if len(req.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return req.Params.Arguments
}
