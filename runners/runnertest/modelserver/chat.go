package modelserver

import (
	"encoding/json"
	"fmt"
)

// readChat reads a request of OpenAI's Chat Completions.
func readChat(body []byte) (ask, error) {
	var b struct {
		Model  string
		Stream bool
		Tools  []struct {
			Function struct {
				Name   string
				Schema toolSchema `json:"parameters"`
			}
		}
		Format struct{ Type string } `json:"response_format"`
		Turns  []struct {
			Role  string
			Calls []json.RawMessage `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return ask{}, err
	}
	a := ask{model: b.Model, stream: b.Stream, schema: b.Format.Type == "json_schema"}
	for _, t := range b.Tools {
		a.tools = append(a.tools, tool{name: t.Function.Name, schema: t.Function.Schema})
	}
	for _, m := range b.Turns {
		switch {
		case m.Role == "assistant" && len(m.Calls) > 0:
			a.turn++
		case m.Role == "user":
			a.turn = 0
		}
	}
	return a, nil
}

func completion(a ask, kind string, choices []object) object {
	return object{"id": fmt.Sprintf("chatcmpl-%d", a.id), "object": kind, "created": 1767225600, "model": a.model, "choices": choices}
}

func chatUsage() object {
	return object{
		"prompt_tokens": tokensIn, "completion_tokens": tokensOut, "total_tokens": tokensIn + tokensOut,
		"prompt_tokens_details": object{"cached_tokens": tokensCached}, "completion_tokens_details": object{"reasoning_tokens": 0},
	}
}

func chatCalls(a ask, said answer) (calls []object, reason string) {
	if said.call == nil {
		return nil, "stop"
	}
	return []object{{
		"index": 0, "id": fmt.Sprintf("call_%d", a.id), "type": "function",
		"function": object{"name": said.call.tool.name, "arguments": said.call.arguments()},
	}}, "tool_calls"
}

func plainChat(a ask, said answer) object {
	message := object{"role": "assistant", "content": said.text}
	calls, reason := chatCalls(a, said)
	if calls != nil {
		message["tool_calls"] = calls
	}
	whole := completion(a, "chat.completion", []object{{"index": 0, "message": message, "finish_reason": reason}})
	whole["usage"] = chatUsage()
	return whole
}

func chatEvents(a ask, said answer) []event {
	var events []event
	add := func(delta object, reason any) {
		events = append(events, event{data: completion(a, "chat.completion.chunk",
			[]object{{"index": 0, "delta": delta, "finish_reason": reason}})})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, part := range halves(said.text) {
		add(object{"content": part}, nil)
	}
	calls, reason := chatCalls(a, said)
	if calls != nil {
		add(object{"tool_calls": calls}, nil)
	}
	add(object{}, reason)
	last := completion(a, "chat.completion.chunk", []object{})
	last["usage"] = chatUsage()
	return append(events, event{data: last})
}
