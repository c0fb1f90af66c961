package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// readGemini reads a request of Gemini; whether it is to be streamed, and the model, stand in its path.
func readGemini(body []byte) (ask, error) {
	var b struct {
		Tools []struct {
			Functions []struct {
				Name       string
				JSONSchema *toolSchema `json:"parametersJsonSchema"`
				Schema     *toolSchema `json:"parameters"`
			} `json:"functionDeclarations"`
		}
		Config struct {
			MIME string `json:"responseMimeType"`
		} `json:"generationConfig"`
		Turns []struct {
			Role  string
			Parts []struct {
				Call     json.RawMessage `json:"functionCall"`
				Response json.RawMessage `json:"functionResponse"`
			}
		} `json:"contents"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return ask{}, err
	}
	a := ask{schema: b.Config.MIME == "application/json"}
	for _, group := range b.Tools {
		for _, f := range group.Functions {
			a.tools = append(a.tools, tool{name: f.Name, schema: *cmp.Or(f.JSONSchema, f.Schema, &toolSchema{})})
		}
	}
	for _, m := range b.Turns {
		var called, answered bool
		for _, p := range m.Parts {
			called = called || p.Call != nil
			answered = answered || p.Response != nil
		}
		switch {
		case m.Role == "model" && called:
			a.turn++
		case m.Role == "user" && !answered:
			a.turn = 0
		}
	}
	return a, nil
}

func candidate(a ask, part object, reason string) object {
	c := object{"index": 0, "content": object{"role": "model", "parts": []object{part}}}
	if reason != "" {
		c["finishReason"] = reason
	}
	return object{
		"candidates": []object{c}, "responseId": fmt.Sprintf("response-%d", a.id),
		"usageMetadata": object{
			"promptTokenCount": tokensIn, "cachedContentTokenCount": tokensCached,
			"candidatesTokenCount": tokensOut, "totalTokenCount": tokensIn + tokensOut,
		},
	}
}

func geminiParts(a ask, said answer) []object {
	var parts []object
	if said.text != "" {
		for _, part := range halves(said.text) {
			parts = append(parts, object{"text": part})
		}
	}
	if c := said.call; c != nil {
		parts = append(parts, object{"functionCall": object{"name": c.tool.name, "args": c.args, "id": fmt.Sprintf("call_%d", a.id)}})
	}
	return parts
}

func plainGemini(a ask, said answer) object {
	whole := candidate(a, object{}, "STOP")
	whole["candidates"].([]object)[0]["content"].(object)["parts"] = geminiParts(a, said)
	return whole
}

func geminiEvents(a ask, said answer) []event {
	var events []event
	for _, part := range geminiParts(a, said) {
		events = append(events, event{data: candidate(a, part, "")})
	}
	return append(events, event{data: candidate(a, object{"text": ""}, "STOP")})
}

func refuseGemini(s Step, _ time.Time) refusal {
	r := refusal{header: map[string]string{}}
	word, text := "INTERNAL", ""
	var details []object
	quota := func(id string) object {
		return object{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{
			"quotaMetric": "generativelanguage.googleapis.com/generate_requests", "quotaId": id, "quotaValue": "10",
		}}}
	}
	switch s.Fault {
	case Throttled:
		r.status, word, text = 429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."
		details = []object{
			quota("GenerateRequestsPerMinutePerProjectPerModel"),
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds(s.Reset) + "s"},
		}
	case UsedUp: // it does not say until when
		r.status, word, text = 429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."
		details = []object{quota("GenerateRequestsPerDayPerProjectPerModel")}
	case Overloaded, Unavailable:
		r.status, word, text = 503, "UNAVAILABLE", "The model is overloaded. Please try again later."
	case Unauthorized:
		r.status, word, text = 401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."
		details = []object{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}}
	default: // the others begin as an answer does
	}
	r.body = object{"error": object{"code": r.status, "message": text, "status": word, "details": details}}
	return r
}
