package runners

// The fields that matter of the events that come often.
var (
	opencodeEventFields  = []string{"type", "timestamp", "sessionID", "part"}
	opencodePartFields   = []string{"text", "synthetic", "tool", "state", "reason", "tokens", "cost"}
	opencodeStateFields  = []string{"status", "input", "title", "error"}
	opencodeTokensFields = []string{"input", "output", "reasoning", "cache"}
	opencodeCacheFields  = []string{"read", "write"}
)

// read reads an event with what is needed of it. ok is false when it has to be decoded in full, as a fault has.
func (ev *opencodeEvent) read(line []byte) (ok bool) {
	s := scan{text: line}
	for f := (fields{names: opencodeEventFields}); f.next(&s); {
		switch f.name {
		case "type":
			ev.Type = s.string()
		case "timestamp":
			ev.Timestamp = s.int()
		case "sessionID":
			ev.SessionID = s.string()
		case "part":
			ev.Part.read(&s)
		}
	}
	return s.done() && string(ev.Type.word()) != "error"
}

func (p *opencodePart) read(s *scan) {
	for f := (fields{names: opencodePartFields}); f.next(s); {
		switch f.name {
		case "text":
			p.Text = s.string()
		case "synthetic":
			p.Synthetic = s.bool()
		case "tool":
			p.Tool = s.string()
		case "state":
			p.State.read(s)
		case "reason":
			p.Reason = s.string()
		case "tokens":
			p.Tokens.read(s)
		case "cost":
			p.Cost = s.float()
		}
	}
}

func (o *opencodeState) read(s *scan) {
	for f := (fields{names: opencodeStateFields}); f.next(s); {
		switch f.name {
		case "status":
			o.Status = s.string()
		case "input":
			o.Input = s.value()
		case "title":
			o.Title = s.string()
		case "error":
			o.Error = s.string()
		}
	}
}

func (t *opencodeTokens) read(s *scan) {
	for f := (fields{names: opencodeTokensFields}); f.next(s); {
		switch f.name {
		case "input":
			t.Input = s.int()
		case "output":
			t.Output = s.int()
		case "reasoning":
			t.Reasoning = s.int()
		case "cache":
			t.Cache.read(s)
		}
	}
}

func (c *opencodeCache) read(s *scan) {
	for f := (fields{names: opencodeCacheFields}); f.next(s); {
		switch f.name {
		case "read":
			c.Read = s.int()
		case "write":
			c.Write = s.int()
		}
	}
}
