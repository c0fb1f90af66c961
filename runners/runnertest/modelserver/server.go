// Package modelserver is a scripted model on loopback. It speaks what agent CLIs speak to their providers: Anthropic
// Messages, OpenAI Responses and Chat Completions, and Gemini, as streams and plain. A real CLI that is given its
// address and any key does what a script says. It is for tests alone.
//
// Which step of a script comes next is read from the conversation in the request, so that a session that another
// process resumes goes on where it was. Only faults are counted.
package modelserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Server is the provider of any number of clients, each with a script and an address of its own.
type Server struct {
	http    *httptest.Server
	mu      sync.Mutex
	clients map[string]*client
	serial  atomic.Int64
}

// client is what one client has been told to be answered, and has asked.
type client struct {
	script []Step
	met    []int // times each step's fault was met
	asked  []string
	served Usage
	failed []string
	tools  []string // that the last request with any offered
}

// New starts a server, which ends with the test.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{clients: map[string]*client{}}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.http.CloseClientConnections() // some wait for an answer that never comes
		s.http.Close()
	})
	return s
}

// Play says what the model does for a client from now on. Each step answers one turn of a prompt; the last one repeats.
func (s *Server) Play(name string, script ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client(name)
	c.script, c.met = script, make([]int, len(script))
}

// URL is where a client reaches the server: a prefix of the paths of all APIs, without a slash at the end.
func (s *Server) URL(name string) string { return s.http.URL + "/" + name }

// Asked is what a client has been answered so far, one word for each time it asked its model to do something:
// "write", "shell", "say", "claim", the name of a tool of MCP, or that of a fault.
func (s *Server) Asked(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.client(name).asked)
}

// Tools are those that a client has offered its model, a group's with its name in front.
func (s *Server) Tools(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.client(name).tools)
}

// Served is what a provider would charge a client for by now.
func (s *Server) Served(name string) Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client(name).served
}

// Unknown are requests of a client that this server does not know, as METHOD path.
func (s *Server) Unknown(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.client(name).failed)
}

func (s *Server) client(name string) *client {
	if s.clients[name] == nil {
		s.clients[name] = &client{}
	}
	return s.clients[name]
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	x := exchange{w: w, gone: r.Context().Done()}
	switch {
	case r.Method == http.MethodHead:
		return
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		x.json(http.StatusOK, object{"input_tokens": tokensIn, "totalTokens": tokensIn})
		return
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		x.json(http.StatusOK, object{"object": "list", "data": []object{}, "models": []object{}, "has_more": false})
		return
	}
	for _, d := range dialects {
		if r.Method == http.MethodPost && strings.HasSuffix(path, d.ending) {
			x.dialect = d
			if x.ask, err = d.read(body); err != nil {
				x.json(http.StatusBadRequest, object{"error": object{"message": err.Error()}})
				return
			}
			x.ask.id, x.ask.body = s.serial.Add(1), string(body)
			x.ask.stream = x.ask.stream || strings.HasSuffix(path, ":streamGenerateContent")
			x.give(s.next(name, x.ask))
			return
		}
	}
	s.mu.Lock()
	s.client(name).failed = append(s.client(name).failed, r.Method+" /"+path)
	s.mu.Unlock()
	x.json(http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "no such path"}})
}

// next is the step that answers a request. What is asked without tools is asked beside the work, for a title for
// example: it meets the fault the script begins with, which it does not use up, and nothing else.
func (s *Server) next(name string, a ask) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client(name)
	if len(a.tools) > 0 {
		c.tools = nil
	}
	for _, t := range a.tools {
		c.tools = append(c.tools, strings.TrimPrefix(t.namespace+"__"+t.name, "__"))
	}
	step := c.step(a)
	charge := step.charge()
	c.served.In += charge.In
	c.served.Cached += charge.Cached
	c.served.Out += charge.Out
	return step
}

func (c *client) step(a ask) Step {
	at := slices.IndexFunc(c.script, func(step Step) bool { return step.When != "" && strings.Contains(a.body, step.When) })
	if at < 0 {
		at = c.at(a.turn)
	}
	if len(a.tools) == 0 {
		if first := c.at(0); first >= 0 && c.script[first].Fault != "" {
			return c.script[first]
		}
		return Step{Say: "A task"}
	}
	step := Step{Say: "Done."}
	if at >= 0 {
		step = c.script[at]
		c.met[at]++
	}
	c.asked = append(c.asked, step.name())
	return step
}

// at is the index of the step for a turn, or -1. A fault of limited times stands before a turn and is none itself.
func (c *client) at(turn int) int {
	last := -1
	for i, step := range c.script {
		passing := step.Fault != "" && step.Times > 0
		switch {
		case step.When != "":
			continue
		case passing && (turn != 0 || c.met[i] >= step.Times):
			continue
		case turn == 0:
			return i
		}
		turn--
		last = i
	}
	return last
}

func (x *exchange) json(status int, v object) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_ = json.NewEncoder(x.w).Encode(v)
}
