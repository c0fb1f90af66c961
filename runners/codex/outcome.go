package codex

import (
	"cmp"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// Answer implements [adapter.StreamReader]. The answer in the form of the schema is the whole last message: codex does not tell it apart.
func (s *reader) Answer() (final, text string, structured []byte) {
	if text := strings.TrimSpace(s.lastMessage); s.agent.Req.Schema != nil && strings.HasPrefix(text, "{") {
		structured = []byte(text)
	}
	return runners.CleanText(s.lastMessage, runners.MaxFinal), s.lastMessage, structured
}

// Outcome implements [adapter.StreamReader]. Success needs both turn.completed and exit status 0.
func (s *reader) Outcome(e adapter.ProcessEnd, r *runners.Report, badResult error) (runners.Outcome, string) {
	r.Model = cmp.Or(r.Model, s.agent.Req.Model)
	switch o, detail, ok := e.Stopped(s.Final()); {
	case ok && s.retry != "" && (o == runners.SilenceLimit || o == runners.Network):
		return adapter.GaveUp(s.blamed(r, s.retry))
	case ok && e.Unanswered(s.agent.Answered, s.agent.Tools.Running() > 0):
		return adapter.NoAnswer(detail)
	case ok:
		return o, detail
	case s.failed != "":
		return s.blamed(r, s.failed)
	case !s.done && s.retry != "":
		return adapter.GaveUp(s.blamed(r, s.retry))
	case !s.done && s.fault != "":
		return s.blamed(r, s.fault)
	case !s.done:
		return adapter.Unfinished(s.agent.Req, r.Exit, s.agent.Begun, s.torn)
	case e.Failed():
		return adapter.EndedBadly(adapter.ExitDetail(e.Exit, s.agent.Req.Stderr))
	}
	return s.claimed(r, badResult)
}

// claimed returns the outcome of a turn that ended well. A sandbox that does not work on this machine, as in a
// container, fails every step: who asked for a verdict has none then, and an agent that gave up is not at fault.
func (s *reader) claimed(r *runners.Report, badResult error) (runners.Outcome, string) {
	const none = "none of its commands and changes worked: if its sandbox cannot work on this machine, set permission: danger-full-access"
	o, detail := adapter.ClaimOutcome(s.agent.Req, r, badResult)
	switch {
	case s.agent.Req.Question && s.steps > 0 && s.vain == s.steps:
		return runners.PermissionDenied, none
	case s.agent.Req.Question:
	case (o == runners.NoResult || o == runners.Failed) && s.steps > 1 && s.vain == s.steps:
		return runners.PermissionDenied, none
	case o == runners.NoResult && s.lastMessage == "":
		return o, "its model said nothing: it had nothing to say, or refused"
	}
	return o, detail
}

// blamed returns the outcome of a fault in the CLI's words. An unknown fault before the first answer is the
// provider's.
func (s *reader) blamed(r *runners.Report, fault string) (runners.Outcome, string) {
	o, detail := classifyFault(fault)
	switch {
	case o == runners.Quota, o == runners.RateLimited:
		r.ResetAt = resetTime(fault, s.printed())
	case o == runners.Failed && !s.agent.Answered:
		o = runners.Provider
	}
	return o, detail
}

// printed returns when the CLI said what is read now: the clock time that it names is of that day.
func (s *reader) printed() time.Time {
	now := s.agent.Now()
	if info, err := os.Stat(s.agent.Req.Transcript); s.agent.Req.Ended && err == nil && info.ModTime().Before(now) {
		return info.ModTime().In(now.Location())
	}
	return now
}

// faultPrefixes are the beginnings of the messages with which codex itself ends a turn. Only those are looked at, never
// what its agent says or reads.
var faultPrefixes = []struct {
	begins  string
	outcome runners.Outcome
}{
	{"You've hit your usage limit", runners.Quota},
	{"Quota exceeded.", runners.Auth}, // no credit
	{"Your workspace is out of credits", runners.Auth},
	{"You hit your spend cap", runners.Auth},
	{"To use Codex with your ChatGPT plan", runners.Auth},
	{"Missing environment variable", runners.Auth},
	{"Your access token could not be refreshed", runners.Auth},
	{"Your authentication session could not be refreshed", runners.Auth},
	{"Rate limit reached", runners.RateLimited},
	{"Selected model is at capacity", runners.Overloaded},
	{"Flex capacity unavailable", runners.Overloaded},
	{"Policy-restricted capacity is unavailable", runners.Overloaded},
	{"We're currently experiencing high demand", runners.Provider}, // its words for any status 500
	{"Connection failed", runners.Network},
	{"request timed out", runners.Network},
	{"idle timeout", runners.Network},
	{"Error while reading the server response", runners.Truncated},
	{"Transport error", runners.Truncated},
	{"stream closed before", runners.Truncated},
	{"Incomplete response returned, reason: content_filter", runners.Refused},
	{"Incomplete response returned", runners.Failed}, // its answer was longer than an answer may be
	{"This request has been flagged", runners.Refused},
	{"This request was blocked", runners.Refused},
	{"This content was flagged", runners.Refused},
	{"Invalid prompt", runners.Refused},
	{"invalid prompt", runners.Refused},
	{"Codex ran out of room in the model's context window", runners.ContextExhausted},
}

// noModelPattern matches what providers say of a model that is not there, or not for this account.
var noModelPattern = pattern.New(`^(?:model: |The (?:requested )?model ['"\x60]|The '[^']*' model is not supported)`)

// classifyFault maps a message to an outcome, and to the part of it that is for people.
func classifyFault(message string) (runners.Outcome, string) {
	if strings.HasPrefix(message, "{") {
		if o, detail, ok := bodyFault(message); ok {
			return o, detail
		}
	}
	rest, broken := strings.CutPrefix(message, "stream disconnected before completion: ")
	for _, f := range faultPrefixes {
		if strings.HasPrefix(rest, f.begins) {
			return f.outcome, message
		}
	}
	if noModelPattern.MatchString(rest) {
		return runners.NoModel, message
	}
	for _, before := range []string{"unexpected status ", "exceeded retry limit, last status: "} {
		if tail, ok := strings.CutPrefix(rest, before); ok {
			if status, err := strconv.Atoi(tail[:min(3, len(tail))]); err == nil {
				if status == 404 && !strings.Contains(tail, "model") { // the address is wrong
					return runners.Auth, message
				}
				return adapter.Blame(status, ""), message
			}
		}
	}
	if broken { // by an error that the provider sent
		return runners.Provider, message
	}
	return runners.Failed, message
}

// outcomeByCode are the words a provider has for its errors.
var outcomeByCode = map[string]runners.Outcome{
	"model_not_found": runners.NoModel, "insufficient_quota": runners.Auth, "invalid_api_key": runners.Auth,
	"context_length_exceeded": runners.ContextExhausted, "invalid_prompt": runners.Refused,
	"rate_limit_exceeded": runners.RateLimited, "server_error": runners.Provider, "server_is_overloaded": runners.Overloaded,
}

// bodyFault reads a refused request's answer, which codex passes on as it came.
func bodyFault(message string) (runners.Outcome, string, bool) {
	var body struct {
		Detail string `json:"detail"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(message), &body) // as far as it goes
	detail := cmp.Or(body.Error.Message, body.Detail)
	if detail == "" {
		return "", "", false
	}
	if o, ok := outcomeByCode[body.Error.Code]; ok {
		return o, detail, true
	}
	o, _ := classifyFault(strings.TrimLeft(detail, "{"))
	return o, detail, true
}

const maxFault = 4 << 10

// cleanFault brings a message of the CLI's to the form that faultPrefixes has.
func cleanFault(message string) string {
	message = strings.ReplaceAll(runners.OneLine(message, maxFault), "’", "'")
	return cmp.Or(message, "it does not say why")
}
