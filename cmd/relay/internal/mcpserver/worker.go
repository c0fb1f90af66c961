package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/runners"
)

// worker is the server of an agent that works on a task: it knows where its attempt's result goes.
type worker struct {
	*server

	mark, result string
}

// worker returns the server with what an agent at work may do. ok is false when the environment has no result file of an attempt that
// goes on.
func (s *server) worker() (w *worker, ok bool) {
	w = &worker{s, s.Lookup("RELAY_ATTEMPT"), s.Lookup("RELAY_RESULT")}
	return w, w.mark != "" && w.result != "" && w.check() == nil
}

func (w *worker) check() error { return relayfiles.CheckResult(w.result, w.mark) }

func (w *worker) add(m *mcp.Server) {
	closed, adds := false, false
	m.AddTool(&mcp.Tool{
		Name: "report_result",
		Description: "Report the result of your task, once, when you are done. It counts as the result in your last message or your result file does, " +
			"where those are missing.",
		InputSchema: json.RawMessage(runners.ResultSchema("")),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &adds, OpenWorldHint: &closed},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return w.do(ctx, func() *mcp.CallToolResult {
			return w.done(w.report(argumentsOf(req)), "The result is reported. End your work now.")
		})
	})
	addTool(w.server, m, &mcp.Tool{
		Name: "ask_person",
		Description: "Ask a person what you cannot continue without. Then end your work: relay keeps it, and your session continues with the answer. " +
			"Decide yourself what you can decide.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &adds, OpenWorldHint: &closed},
	}, func(_ context.Context, q inquiry) *mcp.CallToolResult {
		return w.done(w.ask(q), "Your questions are reported. End your work now.")
	})
	addTool(w.server, m, &mcp.Tool{
		Name:        "report_progress",
		Description: "Say in one line how far you are, for a person who watches: relay show prints the last of them.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &adds, OpenWorldHint: &closed},
	}, func(_ context.Context, p progress) *mcp.CallToolResult { return w.done(w.say(p), "noted") })
}

var errReported = errors.New("a result was reported for this attempt already: it is the one that counts")

// report writes a result to where relay looks for it. It fails when the input is not a result, the attempt has ended, or there is a result.
func (w *worker) report(input []byte) error {
	if err := w.check(); err != nil {
		return err
	}
	if _, err := runners.ParseResult(input); err != nil {
		return err
	}
	if err := newFile(w.result, input); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return errReported
		}
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}

// inquiry is what an agent asks a person.
type inquiry struct {
	Questions []string `json:"questions" jsonschema:"what a person has to answer, with what there is to choose from"`
	Summary   string   `json:"summary" jsonschema:"how far your work is, in a few sentences"`
}

// ask reports the questions as the result of the attempt.
func (w *worker) ask(q inquiry) error {
	said := plaintext.Statement{Questions: q.Questions}
	text, err := json.Marshal(runners.Result{Status: runners.StatusQuestion, Summary: q.Summary, Statement: said})
	if err != nil {
		return err
	}
	return w.report(text)
}

// newFile makes a file with a text, at once. It fails with [fs.ErrExist] when it is there.
func newFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "result-*.part")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(path); there == nil { // a disk without hard links
		return fs.ErrExist
	}
	return os.Rename(f.Name(), path)
}

// progress is what an agent says of how far it is.
type progress struct {
	Message string `json:"message" jsonschema:"what you are doing or have done, in one line"`
	Percent int    `json:"percent,omitempty" jsonschema:"how much of the task is done, from 0 to 100"`
}

// say adds a line to what the agent has said.
func (w *worker) say(p progress) error {
	if err := w.check(); err != nil {
		return err
	}
	message := plaintext.Head(plaintext.Line(w.Redact(p.Message)), relayfiles.MaxProgress)
	switch {
	case message == "":
		return errors.New("there is no message")
	case p.Percent < 0 || p.Percent > 100:
		return fmt.Errorf("%d percent is not between 0 and 100", p.Percent)
	}
	at := w.Now().UTC().Truncate(time.Second)
	return relayfiles.AddProgress(w.result, relayfiles.Progress{At: at, Message: message, Percent: p.Percent})
}
