package opencode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Answer implements [adapter.StreamReader].
func (s *reader) Answer() (final, text string, structured []byte) {
	final = runners.CleanTextEnd(s.lastText.Last(runners.MaxFinal), runners.MaxFinal)
	return final, final, nil
}

// Outcome implements [adapter.StreamReader]. No event ends the stream: success is status 0 after a last step that ended with "stop".
func (s *reader) Outcome(e adapter.ProcessEnd, r *runners.Report, badResult error) (runners.Outcome, string) {
	r.Model = s.agent.Req.Model
	switch o, detail, ok := e.Stopped(s.Final()); {
	case ok && s.providerSilent(e):
		o, detail = adapter.NoAnswer(detail)
		return o, adapter.JoinDetail(detail, readLog(s.agent.Req).failure())
	case ok && s.agent.Answered:
		return o, detail
	case ok:
		return o, adapter.JoinDetail(detail, readLog(s.agent.Req).failure())
	case s.fault != nil:
		return s.failure(r)
	case s.reason != reasonStop:
		return s.withoutStop(r)
	case e.Failed() && !(s.recovered && e.Exit.Code == 1):
		return adapter.EndedBadly(adapter.ExitDetail(e.Exit, s.agent.Req.Stderr))
	}
	return adapter.ClaimOutcome(s.agent.Req, r, badResult)
}

// providerSilent reports whether a limit passed while only the model's answer was missing. It waits out whatever its
// provider tells it to, an hour and more, without a word.
func (s *reader) providerSilent(e adapter.ProcessEnd) bool {
	return errors.Is(e.Cause, adapter.ErrSilence) && (!s.agent.Answered || s.asks) || errors.Is(e.Cause, adapter.ErrWall) && !s.agent.Answered
}

// withoutStop returns the outcome of a session that ended otherwise than with an answer or a fault that it told.
func (s *reader) withoutStop(r *runners.Report) (runners.Outcome, string) {
	exit := r.Exit
	switch {
	case s.reason == "length": // told, so that the next attempt writes less at a time
		return runners.Failed, "its answer was cut off at the model's limit of output"
	case s.reason == "content-filter":
		return runners.Refused, "the provider's content filter blocked the answer"
	case !s.agent.Answered:
		return unanswered(s.agent.Req, exit)
	case exit.Signal != "" && !exit.Stopped:
		return runners.Killed, "it ended without a final message: " + adapter.ExitDetail(exit, s.agent.Req.Stderr)
	case exit.Code != 0:
		return runners.Failed, "it ended without a final message: " + adapter.ExitDetail(exit, s.agent.Req.Stderr)
	case s.rejected:
		return runners.PermissionDenied, "opencode ended the session when it would have had to ask"
	case s.reason == reasonToolCalls:
		return runners.NoResult, "it ended without a final message"
	case s.reason == "":
		return runners.Truncated, "its output broke off, though it ended with exit status 0"
	}
	return runners.Failed, "its last answer ended with " + s.reason
}

// unanswered returns the outcome of a program that ended before the model had said anything: the agent has done
// nothing, and the log is opencode's own.
func unanswered(req runners.Request, exit process.Exit) (runners.Outcome, string) {
	log, detail := readLog(req), adapter.ExitDetail(exit, req.Stderr)
	switch {
	case exit.Code == 0 && exit.Signal == "":
		return runners.NoResult, "it ended without a final message"
	case exit.Signal != "":
		return runners.Provider, "it died before the model answered: " + detail
	case log.databaseBusy():
		return runners.Provider, "its database was in use: " + detail
	case req.Session != "": // the session is gone
		return runners.NoSession, "cannot resume: " + detail
	case strings.Contains(string(log), "--auto "): // the end of its help, which is all it says
		return runners.CannotStart, "it refuses its arguments: relay gives those of opencode 1.18"
	}
	return runners.CannotStart, detail
}

// failure returns the outcome of a session that ended with a fault.
func (s *reader) failure(r *runners.Report) (runners.Outcome, string) {
	f := s.fault
	detail := cmp.Or(runners.OneLine(f.Data.Message, runners.MaxDetail),
		runners.OneLine(f.Name, runners.MaxName), "an error without a name")
	switch f.Name {
	case "ContextOverflowError":
		return runners.ContextExhausted, detail
	case "ContentFilterError":
		return runners.Refused, detail
	case "ProviderAuthError":
		return runners.Auth, detail
	case "MessageOutputLengthError":
		return runners.Failed, "its answer was cut off at the model's limit of output"
	case "MessageAbortedError":
		return runners.Failed, "its session was aborted: " + detail
	case "APIError":
		if f.Data.StatusCode != 0 {
			detail = fmt.Sprintf("status %d: %s", f.Data.StatusCode, detail)
		}
		return s.refused(r), detail
	}
	if problem := parseErrorBody(f.Data.Message); problem.Message != "" { // an error within a stream comes as its JSON
		return classifyFault(0, problem), runners.OneLine(problem.Message, runners.MaxDetail)
	}
	if stderrLog(detail).databaseBusy() {
		return runners.Provider, "its database was in use: " + detail
	}
	if !s.agent.Answered { // all it says of a model that it does not know
		detail += " A model that it does not know ends so: opencode models lists those it knows."
	}
	return runners.Provider, adapter.JoinDetail(detail, readLog(s.agent.Req).failure())
}

// refused returns the outcome of a request that the provider refused, with the time to come back when it said one.
func (s *reader) refused(r *runners.Report) runners.Outcome {
	d := s.fault.Data
	problem := parseErrorBody(d.Body)
	o := classifyFault(d.StatusCode, problem)
	if o != runners.RateLimited && o != runners.Quota && o != runners.Overloaded {
		return o
	}
	unified := d.Headers["anthropic-ratelimit-unified-status"] == "rejected"
	if o == runners.RateLimited && unified {
		o = runners.Quota
	}
	at := resetTime(d.Headers, problem, s.faultAt)
	if at.After(s.faultAt) && at.Sub(s.agent.Now()) <= adapter.MaxReset {
		r.ResetAt = at.UTC()
	}
	return o
}

// resetTime reads when to come back; the zero time when the provider does not say.
func resetTime(headers map[string]string, problem providerError, from time.Time) time.Time {
	epoch, _ := strconv.ParseInt(headers["anthropic-ratelimit-unified-reset"], 10, 64)
	if epoch = max(epoch, problem.ResetsAt); epoch > 0 {
		return time.Unix(epoch, 0)
	}
	const longest = float64(adapter.MaxReset / time.Second)
	after := headers["retry-after"]
	if ms, err := strconv.ParseFloat(headers["retry-after-ms"], 64); err == nil && ms > 0 && ms/1000 <= longest {
		return from.Add(time.Duration(ms * float64(time.Millisecond)))
	}
	if secs, err := strconv.ParseFloat(after, 64); err == nil && secs > 0 && secs <= longest {
		return from.Add(time.Duration(secs * float64(time.Second)))
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return time.Time{}
	}
	return at
}

// classifyFault maps a provider's refusal, as an HTTP status (0: none) and its words, to an outcome; see blame.
func classifyFault(status int, problem providerError) runners.Outcome {
	words := []string{problem.Type, adapter.JSONName(problem.Code)}
	says := func(any ...string) bool {
		return slices.ContainsFunc(any, func(w string) bool { return slices.Contains(words, w) })
	}
	switch {
	case status == 404, says("model_not_found"):
		return runners.NoModel
	case status == 401, status == 402, status == 403,
		says("insufficient_quota", "billing_error", "authentication_error", "invalid_api_key"):
		return runners.Auth
	case says("usage_limit_reached"):
		return runners.Quota
	case status == 429, says("rate_limit_error", "rate_limit_exceeded"):
		return runners.RateLimited
	case status == 413, says("context_length_exceeded"):
		return runners.ContextExhausted
	case status == 503, status == 529, says("overloaded_error", "server_is_overloaded"):
		return runners.Overloaded
	case status == 408, status >= 500, says("server_error", "api_error"):
		return runners.Provider
	case status == 0 && problem.Message == "":
		return runners.Network
	}
	return runners.Failed
}

// parseErrorBody reads the body of an error; what cannot be read says nothing.
func parseErrorBody(text string) providerError {
	var body errorBody
	_ = json.Unmarshal([]byte(text), &body)
	if body.Error.Type == "" && body.Error.Message == "" {
		return body.providerError
	}
	return body.Error
}
