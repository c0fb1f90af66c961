package adapter

import (
	"cmp"
	"fmt"
	"time"

	"relay/runners"
)

// MaxReset is later than any window a provider has; a time beyond is not believed.
const MaxReset = 31 * 24 * time.Hour

// Blame maps a provider's fault, as an HTTP status (0: there was no answer) and the CLI's word for it, to an outcome. No
// credit is Auth: like a refused login and a model that is not there it stays until a person changes something, so that
// waiting or another attempt with this runner is in vain.
func Blame(status int, name string) runners.Outcome {
	switch {
	case status == 404, name == "model_not_found":
		return runners.NoModel
	case status >= 401 && status <= 403, name == "authentication_failed", name == "billing_error":
		return runners.Auth
	case status == 429, name == "rate_limit":
		return runners.RateLimited
	case status == 503, status == 529, name == "overloaded":
		return runners.Overloaded
	case status == 413:
		return runners.ContextExhausted
	case status == 408, status == 504, status == 0 && name != "invalid_request" && name != "max_output_tokens":
		return runners.Network
	case status >= 500:
		return runners.Provider
	}
	return runners.Failed
}

// GaveUp returns the outcome of a CLI that was waiting out a fault of its provider when it ended. It was asking again: it did not think
// itself that the request was at fault.
func GaveUp(o runners.Outcome, detail string) (runners.Outcome, string) {
	if o == runners.Failed {
		o = runners.Provider
	}
	return o, "gave up while its provider failed: " + detail
}

// ProviderFault describes a fault by its HTTP status (0: there was no answer) and its name.
func ProviderFault(status int, name string) string {
	switch {
	case status == 0:
		return cmp.Or(name, "no answer")
	case name == "":
		return fmt.Sprintf("status %d", status)
	}
	return fmt.Sprintf("%d %s", status, name)
}
