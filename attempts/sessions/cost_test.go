package sessions

import (
	"encoding/json"
	"testing"
)

// FuzzCostMetadata fails when metadata is read in another way than by a parser, or what relay writes is not read the fast way.
func FuzzCostMetadata(f *testing.F) {
	id := "b"
	for _, m := range []Metadata{
		{Version: 3, Type: 2},
		{Version: 3, Tokens: &Tokens{Input: 12, Output: 3}, Relay: Origin{Run: "r", Task: "T1", Attempt: 2, Round: 1, Reviewer: "strict", Offset: 9, CostUSD: 0.25}},
		{BubbleID: &id, CreatedAt: "2026-01-02T03:04:05Z", IsAgentic: true, Relay: Origin{Task: `a "quoted" {task}`, Offset: 1, CostUSD: 1e-7}},
		{Tokens: &Tokens{Input: 1}, Todos: json.RawMessage(`[{"tokenCount":{"inputTokens":5},"relay":{"offset":1}}]`), Relay: Origin{Run: "r"}},
	} {
		text, err := m.JSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "{", `{"relay":{"task":"T1","cost_usd":2}}`, `{"_v":3,"relay":{"task":1,"offset":2}}`, `{"_v":3,"x":{"y":1,"relay":{"task":"T1","offset":1}}}`,
		`{"_v":3,"relay":{"task":"T1","offset":1,"task":"T2"}}`, `{"_v":3,"relay":{"offset":1,"cost_usd":1,"run":"r"}}`, `{"_v":3,"relay":{"offset":1,"cost_usd":0x1}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return // that has cost something, or nothing
		}
		var c costs
		for range 2 {
			got, ok := c.written([]byte(text))
			var want costMetadata
			if _ = json.Unmarshal([]byte(text), &want); ok && got != want {
				t.Errorf("%s: got %+v, want %+v", text, got, want)
			}
		}
	})
}
