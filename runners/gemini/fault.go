package gemini

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// cliFault is what the CLI says of the error that it gave up on.
type cliFault struct {
	status int           // HTTP status; 0: not told here
	text   string        // for people
	word   string        // Google's name of the status: FAILED_PRECONDITION, …
	reason string        // API_KEY_INVALID, …
	wait   time.Duration // after which it may be tried again; 0: not told
}

// zeroLimitPattern is a limit of nothing at all: the model is not in the user's plan, and waiting is in vain.
var zeroLimitPattern = pattern.New(`limit: 0(?:[^\d.]|\.\D|\.?$)`)

// parseFault takes an error message apart: "[API Error: …]" around a text, or around the answer of Google's API,
// which may hold another one as its message.
func parseFault(message string) cliFault {
	f := cliFault{text: message}
	if inner, ok := strings.CutPrefix(message, "[API Error: "); ok {
		if i := strings.LastIndexByte(inner, ']'); i >= 0 { // what follows is advice for a person at a terminal
			inner = inner[:i]
		}
		f.text = inner
	}
	for range 3 {
		from := strings.IndexByte(f.text, '{')
		var refusal apiRefusal
		if from < 0 || json.Unmarshal([]byte(f.text[from:]), &refusal) != nil || refusal.Error.Message == "" {
			break
		}
		f.take(refusal)
	}
	if f.wait == 0 {
		f.wait = retryDelay(resetAfterPattern.FindStringSubmatch(f.text))
	}
	return f
}

func (f *cliFault) take(r apiRefusal) {
	f.text, f.word = r.Error.Message, r.Error.Status
	if code, err := r.Error.Code.Int64(); err == nil && code >= 400 && code < 600 {
		f.status = int(code)
	}
	for _, d := range r.Error.Details {
		if d.Reason != "" {
			f.reason = d.Reason
		}
		if d.Delay != "" {
			f.wait = retryDelay([]string{"", d.Delay})
		}
	}
}

// resetAfterPattern finds in the text of an error after what time its limit is over: "Your quota will reset after 2h46m3s."
var resetAfterPattern = pattern.New(`(?:reset after|retry in|retry after) ((?:\d+(?:\.\d+)?(?:h|ms|m|s))+)`)

// retryDelay reads the time in a match; one that no limit lasts for is not believed.
func retryDelay(match []string) time.Duration {
	if len(match) < 2 {
		return 0
	}
	d, err := time.ParseDuration(match[1])
	if err != nil || d < 0 || d > adapter.MaxReset {
		return 0
	}
	return d
}

// httpStatus returns the HTTP status that the CLI gives as its exit status, of which Unix keeps eight bits: 400 to 511,
// and what gateways say, 520 to 530. Lower ones are the CLI's own. 0: none.
func httpStatus(exit int) int {
	switch {
	case exit >= 400 && exit < 600:
		return exit
	case exit >= 144 && exit <= 255:
		return exit + 256
	case exit >= 8 && exit <= 18:
		return exit + 512
	}
	return 0
}

// blame maps the provider's answer to an outcome. Auth stands for faults that stay until a person acts: no credit, a
// key that is none, and a failed precondition (billing, a country that is not served).
func (f cliFault) blame(status int) runners.Outcome {
	switch {
	case status == 400 && (f.reason == "API_KEY_INVALID" || f.word == "FAILED_PRECONDITION"):
		return runners.Auth
	case status == 400 && f.containsAny("exceeds the maximum number of tokens", "prompt is too long", "payload size exceeds"):
		return runners.ContextExhausted
	case status == 408, status == 499:
		return runners.Provider
	}
	return adapter.Blame(status, "")
}

// broken returns the outcome of an error that came with no answer of the provider: Node's words for a connection that
// could not be made, or that broke, which the CLI does not make again.
func (f cliFault) broken() runners.Outcome {
	switch {
	case f.text == "terminated", f.containsAny("Incomplete JSON segment", "Premature close"):
		return runners.Truncated
	case f.containsAny("is not valid JSON"): // a gateway's page instead of an answer
		return runners.Provider
	case f.containsAny("fetch failed", "ECONNRESET", "ECONNREFUSED", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "socket hang up"):
		return runners.Network
	}
	return runners.Failed
}

// limited returns the outcome of a request that a usage limit or a rate limit has refused at a time. The CLI waits out what
// passes within five minutes by itself.
func (f cliFault) limited(r *runners.Report, class string, at time.Time) runners.Outcome {
	if f.wait > 0 {
		r.ResetAt = at.Add(f.wait).UTC().Truncate(time.Second)
	}
	switch {
	case zeroLimitPattern.MatchString(f.text):
		r.ResetAt = time.Time{}
		return runners.Auth
	case f.crowded() && f.wait == 0:
		return runners.Overloaded
	case class == "TerminalQuotaError", strings.HasPrefix(f.text, "You have exhausted your daily quota"), f.wait > longestWait:
		return runners.Quota
	}
	r.ResetAt = time.Time{} // it was passed more than once already
	return runners.RateLimited
}

// longestWait is the longest time that the CLI waits when its provider asks it to.
const longestWait = 5 * time.Minute

// crowded means that it is not the user's own limit: the model has no room for anybody.
func (f cliFault) crowded() bool {
	return f.reason == "MODEL_CAPACITY_EXHAUSTED" || f.reason == "MODEL_CAPACITY_EXCEEDED" ||
		f.containsAny("No capacity available", "exhausted your capacity", "capacity exceeded", "MODEL_CAPACITY_EXHAUSTED")
}

func (f cliFault) containsAny(any ...string) bool {
	return slices.ContainsFunc(any, func(words string) bool { return strings.Contains(f.text, words) })
}
