package runners

import (
	"cmp"
	"fmt"
	"time"
)

// maxReset is later than any window a provider has; a time beyond is not believed.
const maxReset = 31 * 24 * time.Hour

// blame maps a provider's fault, as an HTTP status (0: there was no answer) and the CLI's word for it, to an outcome. No
// credit and a model the key may not use are Auth: like a refused login they stay as they are until a person changes
// something, so that waiting or another attempt with this runner is in vain.
func blame(status int, name string) Outcome {
	switch {
	case status >= 401 && status <= 404,
		name == "authentication_failed", name == "billing_error", name == "model_not_found":
		return Auth
	case status == 429, name == "rate_limit":
		return RateLimited
	case status == 503, status == 529, name == "overloaded":
		return Overloaded
	case status == 413:
		return ContextExhausted
	case status == 408, status == 504, status == 0 && name != "invalid_request" && name != "max_output_tokens":
		return Network
	case status >= 500:
		return Provider
	}
	return Failed
}

func providerFault(status int, name string) string {
	switch {
	case status == 0:
		return cmp.Or(name, "no answer")
	case name == "":
		return fmt.Sprintf("status %d", status)
	}
	return fmt.Sprintf("%d %s", status, name)
}
