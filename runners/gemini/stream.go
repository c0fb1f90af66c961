package gemini

import (
	"slices"
	"time"

	"relay/epic/plaintext"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	agent adapter.Stream
	mode  string

	turns      int            // answers of the model
	shown      int64          // bytes of the last line with a tool's answer
	asking     bool           // it waits for the model: nothing came since the prompt, or since the last tool's answer
	recentText adapter.Ending // the end of what the agent said since the last tool's answer
	looped     bool           // stopped by the CLI's own loop detection
	fault      string         // the CLI's last error message
	wrote      bool           // used a tool that changes something
	result     *outputEvent
	resumed    bool        // it went on working after the result
	denied     *int        // of the last tool a policy refused
	kept       keptAnswers // in the session's file
}

// statusError is the status of a tool or of a run that failed.
const statusError = "error"

const baseTokens = 12_000 // tokens of its own instructions and tools, about

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, _ := adapter.ReadJSON[outputEvent](line)
	if ev == nil {
		return
	}
	switch ev.Type.String() {
	case "init":
		s.kept.since, _ = time.Parse(time.RFC3339, ev.Time)
		s.agent.Start(validSession(ev.SessionID, s.agent.Session), ev.Model)
	case "message":
		if ev.Role.String() != "assistant" {
			s.modelAsked()
			return
		}
		s.modelWrote(len(ev.Content))
		s.recentText.Add(ev.Content.String())
		s.agent.Tell(&adapter.Action{Kind: runners.EventText, Text: ev.Content})
	case "tool_use":
		s.modelWrote(len(ev.Input))
		s.wrote = s.wrote || slices.Contains([]string{"write_file", "replace", "run_shell_command"}, ev.Tool.String())
		s.agent.Tools.Begin(ev.ToolID, ev.Tool)
		s.agent.Tell(&adapter.Action{Kind: runners.EventTool, Name: ev.Tool, Input: ev.Input})
	case "tool_result":
		if ev.Error == nil {
			s.shown = int64(len(line))
		}
		s.toolResult(ev)
	case "error":
		s.looped = s.looped || ev.Severity == "warning" && ev.Message == "Loop detected, stopping execution"
		if ev.Severity == "error" {
			s.fault = plaintext.Head(ev.Message, runners.MaxString)
		}
	case "result":
		s.result, s.resumed = ev, false
		s.agent.TellText(runners.EventResult, s.recentText.Head())
	}
}

// toolResult handles a tool's result. Text before it is not the final message.
func (s *reader) toolResult(ev *outputEvent) {
	denied := s.agent.Tools.End(ev.ToolID, ev.Status == statusError)
	if denied != nil && ev.Error != nil && ev.Error.Type == "policy_violation" {
		if s.denied != nil {
			*s.denied = 0
		}
		s.denied, *denied = denied, 1
	}
	if s.asking = s.agent.Tools.Running() == 0; s.asking {
		s.modelAsked()
	}
	s.recentText = s.recentText[:0]
}

// modelAsked records that the model is asked.
func (s *reader) modelAsked() {
	s.asking = true
	s.agent.Ask()
}

// modelWrote records that the model has written so many characters.
func (s *reader) modelWrote(chars int) {
	if s.asking || !s.agent.Answered {
		s.turns++
	}
	s.agent.Answered, s.asking, s.resumed = true, false, s.result != nil
	s.agent.Write(chars)
}

// Final implements [adapter.StreamReader].
func (s *reader) Final() bool { return s.result != nil && !s.resumed }

// Usage returns what the result says was used or, before there is one, the session's file.
func (s *reader) Usage() runners.Usage {
	if s.result == nil || s.result.Stats == nil {
		return s.agent.Asked.SoFar(s.agent.File.Expected())
	}
	reported := s.result.Stats.usage()
	if s.result.Error == nil && s.result.Status == "success" {
		return reported
	}
	return reported.AtLeast(s.agent.Asked.Reported)
}

// Used implements [adapter.StreamReader]. A request that was refused costs nothing.
func (s *reader) Used(e adapter.ProcessEnd) runners.Usage {
	if s.result != nil || !e.CutOff() {
		return s.Usage()
	}
	if _, _, refused := retried(&s.agent); refused {
		s.agent.Asked.Pending = false
	}
	return s.agent.Asked.Total(s.agent.File.Found())
}

// mainModel returns the model that did most of the work by a result: the model asked for may be a name for several ("auto").
func mainModel(result *outputEvent, model string) string {
	if result == nil || result.Stats == nil {
		return model
	}
	most := int64(0)
	for name, stats := range result.Stats.Models {
		if stats.Total > most || stats.Total == most && most > 0 && name < model {
			most, model = stats.Total, runners.OneLine(name, runners.MaxName)
		}
	}
	return model
}
