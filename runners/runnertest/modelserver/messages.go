package modelserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// readMessages reads a request of Anthropic's Messages.
func readMessages(body []byte) (ask, error) {
	var b struct {
		Model  string
		Stream bool
		Tools  []struct {
			Name   string
			Schema toolSchema `json:"input_schema"`
		}
		Output struct{ Format struct{ Type string } } `json:"output_config"`
		Turns  []struct {
			Role    string
			Content json.RawMessage
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return ask{}, err
	}
	a := ask{model: b.Model, stream: b.Stream, schema: b.Output.Format.Type == "json_schema"}
	for _, t := range b.Tools {
		a.tools = append(a.tools, tool{name: t.Name, schema: t.Schema})
	}
	for _, m := range b.Turns {
		switch {
		case m.Role == "assistant" && holds(m.Content, "tool_use"):
			a.turn++
		case m.Role == "user" && !holds(m.Content, "tool_result"):
			a.turn = 0
		}
	}
	return a, nil
}

// holds says whether a message has a block of a type; a message that is a mere string has none.
func holds(content json.RawMessage, kind string) bool {
	var blocks []struct{ Type string }
	_ = json.Unmarshal(content, &blocks)
	for _, b := range blocks {
		if b.Type == kind {
			return true
		}
	}
	return false
}

func plainMessage(a ask, said answer) object {
	content, stop := []object{}, "end_turn"
	if said.text != "" {
		content = append(content, object{"type": "text", "text": said.text})
	}
	if c := said.call; c != nil {
		content, stop = append(content, object{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%d", a.id), "name": c.tool.name, "input": c.args,
		}), "tool_use"
	}
	m := message(a)
	m["content"], m["stop_reason"] = content, stop
	return m
}

func message(a ask) object {
	return object{
		"id": fmt.Sprintf("msg_%d", a.id), "type": "message", "role": "assistant", "model": a.model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": tokensIn - tokensCached, "cache_read_input_tokens": tokensCached,
			"cache_creation_input_tokens": 0, "output_tokens": tokensOut,
		},
	}
}

func messageEvents(a ask, said answer) []event {
	var events []event
	add := func(kind string, data object) {
		data["type"] = kind
		events = append(events, event{kind, data})
	}
	whole, begun := plainMessage(a, said), message(a)
	begun["usage"].(object)["output_tokens"] = 1 // what the whole answer has is told at its end
	add("message_start", object{"message": begun})
	for i, block := range whole["content"].([]object) {
		start := object{"type": "text", "text": ""}
		parts, kind, key := halves(said.text), "text_delta", "text"
		if block["type"] == "tool_use" {
			start = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			parts, kind, key = halves(said.call.arguments()), "input_json_delta", "partial_json"
		}
		add("content_block_start", object{"index": i, "content_block": start})
		for _, part := range parts {
			add("content_block_delta", object{"index": i, "delta": object{"type": kind, key: part}})
		}
		add("content_block_stop", object{"index": i})
	}
	add("message_delta", object{
		"delta": object{"stop_reason": whole["stop_reason"], "stop_sequence": nil},
		"usage": object{"output_tokens": tokensOut},
	})
	add("message_stop", object{})
	return events
}

func refuseMessages(s Step, now time.Time) refusal {
	r := refusal{header: map[string]string{}}
	kind, text := "api_error", ""
	reset := now.Add(s.Reset)
	switch s.Fault {
	case Throttled:
		r.status, kind, text = 429, "rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."
		r.header["retry-after"] = seconds(s.Reset)
		r.header["anthropic-ratelimit-requests-remaining"] = "0"
		r.header["anthropic-ratelimit-requests-reset"] = reset.UTC().Format(time.RFC3339)
	case UsedUp:
		r.status, kind, text = 429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later."
		r.header["retry-after"] = seconds(s.Reset)
		for _, window := range []string{"", "5h-"} {
			r.header["anthropic-ratelimit-unified-"+window+"status"] = "rejected"
			r.header["anthropic-ratelimit-unified-"+window+"reset"] = strconv.FormatInt(reset.Unix(), 10)
		}
		r.header["anthropic-ratelimit-unified-representative-claim"] = "five_hour"
	case Overloaded:
		r.status, kind, text = 529, "overloaded_error", "Overloaded"
	case Unavailable:
		r.status, kind, text = 503, "overloaded_error", "The model is overloaded."
	case Unauthorized:
		r.status, kind, text = 401, "authentication_error", "invalid x-api-key"
	default: // the others begin as an answer does
	}
	r.body = object{"type": "error", "error": object{"type": kind, "message": text}}
	return r
}

// seconds is a time as the header retry-after has it: whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(d.Round(time.Second)/time.Second)))
}
