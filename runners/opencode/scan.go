package opencode

import "relay/runners/internal/jsonscan"

// The fields that matter of the events that come often.
var (
	opencodeEventFields  = []string{"type", "timestamp", "sessionID", "part"}
	opencodePartFields   = []string{"text", "synthetic", "tool", "state", "reason", "tokens", "cost"}
	opencodeStateFields  = []string{"status", "input", "title", "error"}
	opencodeTokensFields = []string{"input", "output", "reasoning", "cache"}
	opencodeCacheFields  = []string{"read", "write"}
)

// read reads an event with what is needed of it. ok is false when it has to be decoded in full, as a fault has.
func (ev *outputEvent) read(line []byte) (ok bool) {
	s := jsonscan.New(line)
	for f := (jsonscan.Fields{Names: opencodeEventFields}); f.Next(&s); {
		switch f.Name {
		case "type":
			ev.Type = s.Text()
		case "timestamp":
			ev.Timestamp = s.Int()
		case "sessionID":
			ev.SessionID = s.Text()
		case "part":
			ev.Part.read(&s)
		}
	}
	return s.Done() && string(ev.Type.Word()) != "error"
}

func (p *messagePart) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: opencodePartFields}); f.Next(s); {
		switch f.Name {
		case "text":
			p.Text = s.Text()
		case "synthetic":
			p.Synthetic = s.Bool()
		case "tool":
			p.Tool = s.Text()
		case "state":
			p.State.read(s)
		case "reason":
			p.Reason = s.Text()
		case "tokens":
			p.Tokens.read(s)
		case "cost":
			p.Cost = s.Float()
		}
	}
}

func (o *toolState) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: opencodeStateFields}); f.Next(s); {
		switch f.Name {
		case "status":
			o.Status = s.Text()
		case "input":
			o.Input = s.Value()
		case "title":
			o.Title = s.Text()
		case "error":
			o.Error = s.Text()
		}
	}
}

func (t *tokenUsage) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: opencodeTokensFields}); f.Next(s); {
		switch f.Name {
		case "input":
			t.Input = s.Int()
		case "output":
			t.Output = s.Int()
		case "reasoning":
			t.Reasoning = s.Int()
		case "cache":
			t.Cache.read(s)
		}
	}
}

func (c *cacheTokens) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: opencodeCacheFields}); f.Next(s); {
		switch f.Name {
		case "read":
			c.Read = s.Int()
		case "write":
			c.Write = s.Int()
		}
	}
}
