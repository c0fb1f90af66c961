package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/runners/internal/adapter"

	"gopkg.in/yaml.v3"
)

// Script is what the scripted agent does: for each task a list of sessions, the first for the first attempt; the last
// one serves all later attempts. Sessions of "*" serve the tasks that have none. What is asked about an attempt has
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

// step is one thing to do. Its arguments stay YAML until it is carried out, but have been checked.
type step struct {
	name string
	args *yaml.Node
	line int
}

const (
	maxScript    = 1 << 20
	maxFloodLine = 64 << 20
)

// stepArgs says for every step what its argument looks like.
var stepArgs = map[string]func(*yaml.Node) error{
	"expect": isText, "reject": isText, "delete": isText, "commit": isText, "print": isText, "stderr": isText,
	"fail":  isText,
	"write": fieldsOf("path", "text"), "append": fieldsOf("path", "text"), "edit": fieldsOf("path", "old", "new"),
	"flood": isFlood, "run": isArgv, "daemon": isArgv, "stray": isArgv,
	"sleep": isDuration, "hang": oneOf("polite", "stubborn"), "exit": isStatus,
	"signal": oneOf("KILL", "TERM", "INT", "SEGV", "ABRT", "HUP"),
	"claim":  isClaim, "fence": isClaim,
}

// Parse reads a script; the error names every mistake with its place.
func Parse(name string, src []byte) (*Script, error) {
	if len(src) > maxScript {
		return nil, fmt.Errorf("%s: script has %d bytes, more than %d", name, len(src), maxScript)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := scriptParser{file: name, script: &Script{sessions: map[string][][]step{}}}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: script is empty", name)
	}
	for key, value := range p.mapping(doc.Content[0]) {
		if key.Value != "sessions" {
			p.fault(key, "unknown key %q; a script has the key sessions", key.Value)
			continue
		}
		for task, list := range p.mapping(value) {
			p.sessions(task, list)
		}
	}
	return p.script, errors.Join(p.faults...)
}

type scriptParser struct {
	file   string
	script *Script
	faults []error
}

func (p *scriptParser) fault(at *yaml.Node, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("%s:%d:%d: %s", p.file, at.Line, at.Column, fmt.Sprintf(format, args...)))
}

// mapping yields the keys and values of a mapping; anything else is a fault, and so is a key given twice.
func (p *scriptParser) mapping(n *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			p.fault(n, "a mapping is wanted here")
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if seen[key.Value] {
				p.fault(key, "%q is given twice", key.Value)
			}
			seen[key.Value] = true
			if !yield(key, n.Content[i+1]) {
				return
			}
		}
	}
}

func (p *scriptParser) sessions(task, list *yaml.Node) {
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		p.fault(list, "task %s needs a list of sessions, each a list of steps", task.Value)
		return
	}
	for _, session := range list.Content {
		if session.Kind != yaml.SequenceNode {
			p.fault(session, "a session is a list of steps (- - write: …)")
			continue
		}
		steps := []step{}
		for _, n := range session.Content {
			for key, args := range p.mapping(n) {
				steps = append(steps, p.step(key, args))
			}
		}
		p.script.sessions[task.Value] = append(p.script.sessions[task.Value], steps)
	}
}

func (p *scriptParser) step(key, args *yaml.Node) step {
	check, ok := stepArgs[key.Value]
	if !ok {
		p.fault(key, "unknown step %q", key.Value)
	} else if err := check(args); err != nil {
		p.fault(args, "%s: %v", key.Value, err)
	}
	return step{name: key.Value, args: args, line: key.Line}
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

func isText(n *yaml.Node) error { return wanted(n.Kind == yaml.ScalarNode, "a text") }

func isArgv(n *yaml.Node) error {
	var argv []string
	return wanted(n.Decode(&argv) == nil && len(argv) > 0, "a list of arguments")
}

func isStatus(n *yaml.Node) error {
	var code int
	return wanted(n.Decode(&code) == nil && code >= 0 && code <= 255, "an exit status from 0 to 255")
}

func isDuration(n *yaml.Node) error {
	if _, err := time.ParseDuration(n.Value); err != nil {
		return errors.New("a duration is wanted, such as 200ms")
	}
	return nil
}

func isClaim(n *yaml.Node) error {
	return wanted(n.Kind == yaml.MappingNode || n.Kind == yaml.ScalarNode, "a mapping or a text")
}

func isFlood(n *yaml.Node) error {
	if err := fieldsOf("bytes", "line", "to")(n); err != nil {
		return err
	}
	var f flood
	return wanted(n.Decode(&f) == nil && f.Bytes > 0 && f.Line >= 0 && f.Line <= maxFloodLine, "a number of bytes")
}

func oneOf(words ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		return wanted(slices.Contains(words, n.Value), "one of "+strings.Join(words, ", "))
	}
}

func fieldsOf(names ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !slices.Contains(names, n.Content[i].Value) || isText(n.Content[i+1]) != nil {
				return fmt.Errorf("%q is not one of %s", n.Content[i].Value, strings.Join(names, ", "))
			}
		}
		return wanted(n.Kind == yaml.MappingNode, "a mapping with "+strings.Join(names, ", "))
	}
}

// wanted returns an error that says what is wanted, unless it is there.
func wanted(there bool, what string) error {
	if there {
		return nil
	}
	return errors.New(what + " is wanted")
}
