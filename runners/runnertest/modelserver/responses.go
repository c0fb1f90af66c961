package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// item is one of the things that an input of OpenAI's Responses is made of.
type item struct {
	Type, Role string
	Tools      []struct {
		Name  string
		Tools []responseTool
	}
}

type responseTool struct {
	Type, Name string
	Schema     toolSchema     `json:"parameters"`
	Tools      []responseTool // of a group of them
}

// readResponses reads a request of OpenAI's Responses. Codex has two forms of it: for older models the tools are the
// request's, for newer ones they travel in the input, in groups.
func readResponses(body []byte) (ask, error) {
	var b struct {
		Model  string
		Stream bool
		Tools  []responseTool
		Text   struct{ Format struct{ Type string } }
		Input  json.RawMessage
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return ask{}, err
	}
	a := ask{model: b.Model, stream: b.Stream, schema: b.Text.Format.Type == "json_schema"}
	for _, t := range b.Tools {
		a.offered(t, "")
	}
	var items []item
	_ = json.Unmarshal(b.Input, &items) // it may be a mere string
	for _, i := range items {
		switch i.Type {
		case "additional_tools":
			for _, group := range i.Tools {
				for _, t := range group.Tools {
					a.offered(t, group.Name)
				}
			}
		case "function_call", "custom_tool_call":
			a.turn++
		case "message", "":
			if i.Role == "user" {
				a.turn = 0
			}
		}
	}
	return a, nil
}

func (a *ask) offered(t responseTool, group string) {
	if t.Type == "namespace" {
		for _, inner := range t.Tools {
			a.offered(inner, t.Name)
		}
		return
	}
	a.tools = append(a.tools, tool{name: cmp.Or(t.Name, t.Type), namespace: group, freeform: t.Type == "custom", schema: t.Schema})
}

// items are what a response is made of.
func items(a ask, said answer) []object {
	var list []object
	if said.text != "" {
		list = append(list, object{
			"type": "message", "id": fmt.Sprintf("msg_%d", a.id), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": said.text, "annotations": []any{}}},
		})
	}
	c := said.call
	if c == nil {
		return list
	}
	i := object{
		"type": "function_call", "id": fmt.Sprintf("fc_%d", a.id),
		"call_id": fmt.Sprintf("call_%d", a.id), "name": c.tool.name, "status": "completed",
	}
	if c.args != nil {
		i["arguments"] = c.arguments()
	} else {
		i["type"], i["input"] = "custom_tool_call", c.input
	}
	if c.tool.namespace != "" {
		i["namespace"] = c.tool.namespace
	}
	return append(list, i)
}

func response(a ask) object {
	return object{
		"id": fmt.Sprintf("resp_%d", a.id), "object": "response", "created_at": 1767225600, "status": "in_progress",
		"model": a.model, "output": []object{}, "usage": nil, "error": nil, "incomplete_details": nil,
	}
}

func plainResponse(a ask, said answer) object {
	r := response(a)
	r["status"], r["output"] = "completed", items(a, said)
	r["usage"] = object{
		"input_tokens": tokensIn, "input_tokens_details": object{"cached_tokens": tokensCached},
		"output_tokens": tokensOut, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": tokensIn + tokensOut,
	}
	return r
}

func responseEvents(a ask, said answer) []event {
	var events []event
	add := func(kind string, data object) {
		data["type"], data["sequence_number"] = kind, len(events)
		events = append(events, event{kind, data})
	}
	add("response.created", object{"response": response(a)})
	for n, i := range items(a, said) {
		start := maps.Clone(i)
		start["status"] = "in_progress"
		var parts []string
		var delta string
		switch i["type"] {
		case "message":
			start["content"] = []object{}
			parts, delta = halves(said.text), "response.output_text.delta"
		case "function_call":
			start["arguments"] = ""
			parts, delta = halves(said.call.arguments()), "response.function_call_arguments.delta"
		}
		add("response.output_item.added", object{"output_index": n, "item": start})
		for _, part := range parts {
			add(delta, object{"item_id": i["id"], "output_index": n, "content_index": 0, "delta": part})
		}
		add("response.output_item.done", object{"output_index": n, "item": i})
	}
	add("response.completed", object{"response": plainResponse(a, said)})
	return events
}

// refuseOpenAI is an error of Responses and of Chat Completions.
func refuseOpenAI(s Step, now time.Time) refusal {
	r := refusal{header: map[string]string{}}
	kind, code, text := "server_error", "server_error", ""
	reset := now.Add(s.Reset).Unix()
	more := object{}
	switch s.Fault {
	case Throttled:
		r.status, kind, code, text = 429, "requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again later."
		r.header["retry-after"] = seconds(s.Reset)
	case UsedUp:
		r.status, kind, code, text = 429, "usage_limit_reached", "usage_limit_reached", "The usage limit has been reached"
		more = object{"plan_type": "plus", "resets_at": reset, "resets_in_seconds": int(s.Reset / time.Second)}
		r.header["retry-after"] = seconds(s.Reset)
		r.header["x-codex-primary-used-percent"] = "100"
		r.header["x-codex-primary-window-minutes"] = "300"
		r.header["x-codex-primary-reset-at"] = strconv.FormatInt(reset, 10)
	case Overloaded:
		r.status, code, text = 529, "server_is_overloaded", "Overloaded"
	case Unavailable:
		r.status, code, text = 503, "server_is_overloaded", "The model is overloaded."
	case Unauthorized:
		r.status, kind, code, text = 401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."
	default: // the others begin as an answer does
	}
	e := object{"type": kind, "code": code, "message": text, "param": nil}
	maps.Copy(e, more)
	r.body = object{"error": e}
	return r
}
