// Package mcpserver offers relay to agents and people as a server of the Model Context Protocol.
//
// The tools that read give the answers of relay's own commands, and those for discussions are the five actions of the discussion ledger.
// An agent that has the token of its attempt can report its progress and its result, too. The commands have their own packages.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// Options say what a server offers, and to whom.
type Options struct {
	In      io.ReadCloser
	Out     io.WriteCloser // gets messages of the protocol, and nothing else
	Version string

	Run     func(ctx context.Context, args ...string) (answer string, err error)                        // a command of relay
	Discuss func(ctx context.Context, action string, input []byte) (answer, warnings string, err error) // an action on discussions

	Redact func(text string) string // takes secrets out
	Lookup func(name string) string // a variable of the environment
	Now    func() time.Time
}

// maxMessage bounds one message of a client, in bytes: a result of [runners.MaxResult] with every character escaped, and more.
const maxMessage = 8 << 20

const instructions = `relay runs agents over the tasks of an epic. These tools tell how the epic and its tasks stand, and record discussions.`

// Serve answers a client until it is gone, ctx is done, or the process that has started this one is gone. It fails when the client sends
// something else than a message of the protocol.
func Serve(ctx context.Context, o Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	orphaned := make(chan bool)
	go func() { orphaned <- watchParent(ctx, stop) }()
	err = s.Run(ctx, &mcp.IOTransport{Reader: o.In, Writer: o.Out, MaxLineLength: maxMessage})
	stop()
	gone := <-orphaned
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, os.ErrClosed, context.Canceled} {
		gone = gone || errors.Is(err, end)
	}
	if gone || err == nil {
		return nil
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("the client has sent something else than a message of MCP: %w", err),
		Hint: "relay mcp is started by a client of MCP, such as an agent CLI, not by hand",
	}
}

// parentCheck is how often a server looks whether its parent is there. That its input ends tells it at once, unless somebody else
// holds it open.
const parentCheck = 500 * time.Millisecond

// watchParent calls stop when another process has become the parent of this one, and returns true then. It returns false when ctx is
// done.
func watchParent(ctx context.Context, stop func()) bool {
	parent := os.Getppid()
	tick := time.NewTicker(parentCheck)
	defer tick.Stop()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	stop()
	return true
}

// server is the tools, of which one works at a time.
type server struct {
	Options

	turn chan struct{} // has room when no tool works
}

func newServer(o Options) (*mcp.Server, error) {
	s := &server{Options: o, turn: make(chan struct{}, 1)}
	m := mcp.NewServer(&mcp.Implementation{Name: "relay", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.addReaders(m)
	if err := s.addDiscussions(m); err != nil {
		return nil, err
	}
	if w, ok := s.worker(); ok {
		w.add(m)
	}
	return m, nil
}

// do calls f while no other tool works.
func (s *server) do(ctx context.Context, f func() *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		return f(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// said is an answer of some texts.
func (s *server) said(texts ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	for _, t := range texts {
		if t != "" {
			r.Content = append(r.Content, &mcp.TextContent{Text: s.Redact(t)})
		}
	}
	return r
}

// failed is an answer that says why nothing was done.
func (s *server) failed(err error) *mcp.CallToolResult {
	r := s.said(plaintext.Head(err.Error(), MaxAnswer))
	r.IsError = true
	return r
}

// done is an answer that says what was done, or with an error why not.
func (s *server) done(err error, said string) *mcp.CallToolResult {
	if err != nil {
		return s.failed(err)
	}
	return s.said(said)
}

// MaxAnswer bounds the text of one answer, in bytes.
const MaxAnswer = 32 << 10

// cut returns what of a text stands from an offset on, at most MaxAnswer bytes and no half of a character, and how to ask for what
// follows; "" when nothing does.
func cut(text string, from int) (part, more string) {
	from = min(max(from, 0), len(text))
	for from < len(text) && from > 0 && text[from]&0xC0 == 0x80 { // in the middle of a character
		from--
	}
	part = plaintext.Head(text[from:], MaxAnswer)
	if next := from + len(part); next < len(text) {
		more = fmt.Sprintf("This is not all: the answer has %d bytes. Call the tool again with \"offset\": %d for what follows.", len(text), next)
	}
	return part, more
}
