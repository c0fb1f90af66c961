package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/runners/internal/adapter"

	"gopkg.in/yaml.v3"
)

// Script is what the scripted agent does: for each task a list of sessions, the first for the first attempt; the last
// one serves all later attempts. Sessions of "*" serve the tasks that have none. A question about an attempt has
// its role in the key ("T1/review", "*/review").
//
//	sessions:
//	  T1:
//	    - - expect: "T1: Add a greeting"
//	      - write: {path: hello.txt, text: "hello\n"}
//	      - commit: "T1: add a greeting"
//	      - claim: {status: success, summary: wrote hello.txt}
//
// The steps, each a mapping with one key:
//
//	expect: TEXT            reject: TEXT           the prompt holds it, holds it not; else exit status 66
//	write: {path, text}     append: {path, text}   edit: {path, old, new}    delete: PATH
//	run: [ARGV…]            a failure ends the session with its exit status
//	commit: MESSAGE         everything that changed
//	print: TEXT             stderr: TEXT           flood: {bytes, line, to: stdout|stderr}
//	sleep: DURATION         hang: polite|stubborn  the stubborn one ignores INT and TERM
//	daemon: [ARGV…]         in a session of its own, not waited for; stray: the same without relay's mark
//	claim: {…} or TEXT      written to RELAY_RESULT; fence: the same as a fenced block on stdout
//	exit: STATUS            fail: MESSAGE (exit status 1)        signal: KILL|TERM|…
type Script struct {
	sessions map[string][][]step
}

// step is one thing to do. Its argument is decoded when it is carried out; Parse has checked it.
type step struct {
	name string
	args *yaml.Node
	line int
}

const maxScript = 1 << 20

// stepArgs has for every step what decodes its argument.
var stepArgs = map[string]func(*yaml.Node) error{
	"expect": as[string], "reject": as[string], "delete": as[string], "commit": as[string], "print": as[string], "stderr": as[string],
	"fail":  as[string],
	"write": fieldsOf("path", "text"), "append": fieldsOf("path", "text"), "edit": fieldsOf("path", "old", "new"),
	"flood": as[flood], "run": as[[]string], "daemon": as[[]string], "stray": as[[]string],
	"sleep": as[time.Duration], "hang": oneOf("polite", "stubborn"), "exit": as[uint8],
	"signal": oneOf("KILL", "TERM", "INT", "SEGV", "ABRT", "HUP"),
	"claim":  as[any], "fence": as[any],
}

// ParseScript reads a script. The error names every mistake with its line.
func ParseScript(name string, src []byte) (*Script, error) {
	if len(src) > maxScript {
		return nil, fmt.Errorf("%s: script has %d bytes, more than %d", name, len(src), maxScript)
	}
	var doc struct {
		Sessions map[string][][]step `yaml:"sessions"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		err = errors.New("script is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Script{doc.Sessions}, nil
}

// UnmarshalYAML reads a step, and checks its argument.
func (s *step) UnmarshalYAML(n *yaml.Node) error {
	wrong := func(format string, args ...any) error {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: ", n.Line) + fmt.Sprintf(format, args...)}}
	}
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return wrong("a step is a mapping with one key")
	}
	*s = step{name: n.Content[0].Value, args: n.Content[1], line: n.Line}
	check, ok := stepArgs[s.name]
	if !ok {
		return wrong("unknown step %q", s.name)
	}
	if err := check(s.args); err != nil {
		return wrong("%s: %v", s.name, err)
	}
	return nil
}

// session finds the steps for a mark; nil when the script has none for it.
func (s *Script) session(m adapter.Mark) []step {
	suffix := ""
	if m.Role != "" {
		suffix = "/" + m.Role
	}
	list, ok := s.sessions[m.Task+suffix]
	if !ok {
		list = s.sessions["*"+suffix]
	}
	if len(list) == 0 {
		return nil
	}
	n, err := strconv.Atoi(m.Attempt)
	if err != nil || n < 1 {
		n = 1
	}
	return list[min(n, len(list))-1]
}

// as decodes an argument of a type.
func as[T any](n *yaml.Node) error {
	var v T
	return n.Decode(&v)
}

func oneOf(words ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if !slices.Contains(words, n.Value) {
			return errors.New("not one of " + strings.Join(words, ", "))
		}
		return nil
	}
}

func fieldsOf(names ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var fields map[string]string
		if err := n.Decode(&fields); err != nil {
			return err
		}
		for name := range fields {
			if !slices.Contains(names, name) {
				return fmt.Errorf("%q is not one of %s", name, strings.Join(names, ", "))
			}
		}
		return nil
	}
}
