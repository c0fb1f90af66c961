package codex

import (
	"testing"

	"relay/runners"
)

func TestCodexFault(t *testing.T) {
	t.Parallel()
	const cut = "stream disconnected before completion: "
	for message, want := range map[string]runners.Outcome{
		"You’ve hit your usage limit. Try again later.":                                                       runners.Quota,
		"You've hit your usage limit for gpt-6. Switch to another model now, or try again later":              runners.Quota,
		"Quota exceeded. Check your plan and billing details.":                                                runners.Auth,
		"Your workspace is out of credits. Add credits to continue.":                                          runners.Auth,
		"You hit your spend cap set in your workspace. Increase your spend cap to continue.":                  runners.Auth,
		"To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus":              runners.Auth,
		"Missing environment variable: `K`.":                                                                  runners.Auth,
		"Your access token could not be refreshed. Please log out and sign in again.":                         runners.Auth,
		"Your authentication session could not be refreshed automatically. Please log out and sign in again.": runners.Auth,
		"model: gpt-5.4": runners.NoModel,
		"The requested model 'gpt-9' does not exist.":                                 runners.NoModel,
		"The model `gpt-9` does not exist or you do not have access to it.":           runners.NoModel,
		"Rate limit reached for gpt-6 on tokens per min. Please try again in 6s.":     runners.RateLimited,
		"exceeded retry limit, last status: 429 Too Many Requests":                    runners.RateLimited,
		"exceeded retry limit, last status: 503 Service Unavailable":                  runners.Overloaded,
		"Selected model is at capacity. Please try a different model.":                runners.Overloaded,
		"Flex capacity unavailable.":                                                  runners.Overloaded,
		"Policy-restricted capacity is unavailable. Please try again later.":          runners.Overloaded,
		"We’re currently experiencing high demand, which may cause temporary errors.": runners.Provider,
		"Connection failed: error sending request":                                    runners.Network,
		"request timed out": runners.Network,
		"unexpected status 504 Gateway Timeout: x, url: y":                              runners.Network,
		cut + "idle timeout waiting for SSE":                                            runners.Network,
		"Error while reading the server response: error decoding response body":         runners.Truncated,
		cut + "Transport error: network error: error decoding response body":            runners.Truncated,
		cut + "stream closed before response.completed":                                 runners.Truncated,
		cut + "The server had an error processing your request.":                        runners.Provider,
		"unexpected status 502 Bad Gateway: x, url: y":                                  runners.Provider,
		"Incomplete response returned, reason: max_output_tokens":                       runners.Failed,
		"Incomplete response returned, reason: content_filter":                          runners.Refused,
		"This request has been flagged for possible cybersecurity risk.":                runners.Refused,
		"This request was blocked due to a misalignment policy violation.":              runners.Refused,
		"This content was flagged for possible biological risk.":                        runners.Refused,
		"Invalid prompt: we've limited access to this content for safety reasons.":      runners.Refused,
		cut + "invalid prompt: x":                                                       runners.Refused,
		"Codex ran out of room in the model's context window. Start a new thread or so": runners.ContextExhausted,
		"unexpected status 401 Unauthorized: no key, url: y":                            runners.Auth,
		"unexpected status 404 Not Found: no such page, url: y":                         runners.Auth,
		"unexpected status 404 Not Found: no such model, url: y":                        runners.NoModel,
		"unexpected status": runners.Failed,
		"{not json":         runners.Failed,
		`{"error":{}}`:      runners.Failed,
		"The tests say: You've hit your usage limit": runners.Failed,
	} {
		if got, _ := classifyFault(cleanFault(message)); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
	if got, want := cleanFault(" \n"), "it does not say why"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
