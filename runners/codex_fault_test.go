package runners

import "testing"

func TestCodexFault(t *testing.T) {
	t.Parallel()
	const cut = "stream disconnected before completion: "
	for message, want := range map[string]Outcome{
		"You’ve hit your usage limit. Try again later.":                                                       Quota,
		"You've hit your usage limit for gpt-6. Switch to another model now, or try again later":              Quota,
		"Quota exceeded. Check your plan and billing details.":                                                Auth,
		"Your workspace is out of credits. Add credits to continue.":                                          Auth,
		"You hit your spend cap set in your workspace. Increase your spend cap to continue.":                  Auth,
		"To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus":              Auth,
		"Missing environment variable: `K`.":                                                                  Auth,
		"Your access token could not be refreshed. Please log out and sign in again.":                         Auth,
		"Your authentication session could not be refreshed automatically. Please log out and sign in again.": Auth,
		"model: gpt-5.4": Auth,
		"The requested model 'gpt-9' does not exist.":                                 Auth,
		"The model `gpt-9` does not exist or you do not have access to it.":           Auth,
		"Rate limit reached for gpt-6 on tokens per min. Please try again in 6s.":     RateLimited,
		"exceeded retry limit, last status: 429 Too Many Requests":                    RateLimited,
		"exceeded retry limit, last status: 503 Service Unavailable":                  Overloaded,
		"Selected model is at capacity. Please try a different model.":                Overloaded,
		"Flex capacity unavailable.":                                                  Overloaded,
		"Policy-restricted capacity is unavailable. Please try again later.":          Overloaded,
		"We’re currently experiencing high demand, which may cause temporary errors.": Provider,
		"Connection failed: error sending request":                                    Network,
		"request timed out": Network,
		"unexpected status 504 Gateway Timeout: x, url: y":                              Network,
		cut + "idle timeout waiting for SSE":                                            Network,
		"Error while reading the server response: error decoding response body":         Truncated,
		cut + "Transport error: network error: error decoding response body":            Truncated,
		cut + "stream closed before response.completed":                                 Truncated,
		cut + "The server had an error processing your request.":                        Provider,
		"unexpected status 502 Bad Gateway: x, url: y":                                  Provider,
		"Incomplete response returned, reason: max_output_tokens":                       Failed,
		"Incomplete response returned, reason: content_filter":                          Refused,
		"This request has been flagged for possible cybersecurity risk.":                Refused,
		"This request was blocked due to a misalignment policy violation.":              Refused,
		"This content was flagged for possible biological risk.":                        Refused,
		"Invalid prompt: we've limited access to this content for safety reasons.":      Refused,
		cut + "invalid prompt: x":                                                       Refused,
		"Codex ran out of room in the model's context window. Start a new thread or so": ContextExhausted,
		"unexpected status 401 Unauthorized: no key, url: y":                            Auth,
		"unexpected status 404 Not Found: no such page, url: y":                         Auth,
		"unexpected status": Failed,
		"{not json":         Failed,
		`{"error":{}}`:      Failed,
		"The tests say: You've hit your usage limit": Failed,
	} {
		if got, _ := codexFault(cleanFault(message)); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
	if got, want := cleanFault(" \n"), "it does not say why"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
