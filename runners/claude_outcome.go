package runners

import (
	"cmp"
	"maps"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonscan"
	"slices"
	"strings"
	"time"
)

// report says what the stream and the process's end mean together. Success needs both the terminal event and exit
// status 0: the CLI ends with 0 when it is interrupted, and calls a provider's error a "success".
func (s *claudeStream) report(e end) Report {
	r := Report{Exit: e.exit, Session: s.session, Model: s.model, FinalText: cleantext.Clean(s.said.words(2*cleantext.MaxFinal), cleantext.MaxFinal), Usage: s.used(e)}
	var structured []byte
	if s.final() {
		r.FinalText, structured = cleantext.Clean(s.result.Result, cleantext.MaxFinal), s.result.Structured
	}
	var claimErr error
	if !s.req.Question {
		r.Result, claimErr = claim(structured, s.req.Result, r.FinalText)
	}
	switch o, detail, ok := e.stopped(s.final()); {
	case ok && s.retry != nil && (o == SilenceLimit || o == Network):
		r.Outcome, r.Detail = s.retryOutcome(&r)
	case ok && e.unanswered(s.heard, len(s.running) > 0):
		r.Outcome, r.Detail = noAnswer(detail)
	case ok:
		r.Outcome, r.Detail = o, detail
	case !s.final():
		r.Outcome, r.Detail = s.withoutResult(&r)
	case s.result.IsError || s.subtype != "success":
		r.Outcome, r.Detail = s.failure(&r)
	case e.exit.Code != 0 && !e.exit.Stopped:
		r.Outcome, r.Detail = Failed, "it reported an end, but then: "+exitDetail(e.exit, s.req.Stderr)
	default:
		r.Outcome, r.Detail = s.claimed(&r, claimErr)
	}
	r.Detail = cleantext.OneLine(joinDetail(r.Detail, s.denials(), leftBehind(e.exit)), cleantext.MaxDetail)
	return r
}

// claimed is the outcome of an agent that ended well. One that did not do its task, and never got a tool it called, is
// not at fault; a single call that was denied is no excuse.
func (s *claudeStream) claimed(r *Report, claimErr error) (Outcome, string) {
	if s.req.Question {
		return answered(r.FinalText)
	}
	o, detail := claimed(r.Result, claimErr)
	if o == Failed || o == NoResult {
		for tool, times := range s.refused() {
			if times >= s.called[tool] {
				return PermissionDenied, detail
			}
		}
	}
	return o, detail
}

// withoutResult is the outcome of a CLI that ended without its terminal event.
func (s *claudeStream) withoutResult(r *Report) (Outcome, string) {
	if s.retry != nil {
		return s.retryOutcome(r)
	}
	return unfinished(s.req, r.Exit, s.begun, s.torn)
}

// retryOutcome blames the provider's fault that the CLI was still waiting out when it ended.
func (s *claudeStream) retryOutcome(r *Report) (Outcome, string) {
	status, name := s.retry.ErrorStatus, jsonscan.Name(s.retry.Error)
	o := blame(status, name)
	if o == Failed { // it was asking again: the CLI itself did not think the request was at fault
		o = Provider
	}
	return s.limited(r, o), "gave up while its provider failed: " + providerFault(status, name)
}

// failure is the outcome of a terminal event that reports an error.
func (s *claudeStream) failure(r *Report) (Outcome, string) {
	res := s.result
	detail := cmp.Or(res.Result, strings.Join(res.Errors, "; "), s.subtype)
	switch {
	case res.StopReason == "refusal":
		return Refused, "the model refused: " + detail
	case res.TerminalReason == "prompt_too_long":
		return ContextExhausted, detail
	case strings.HasPrefix(res.TerminalReason, "aborted"):
		return Killed, "it was interrupted: " + detail
	case res.APIErrorStatus == 0 && s.apiError == "" && res.TerminalReason != "api_error":
		return s.ownFailure(detail)
	case res.APIErrorStatus == 0 && strings.HasPrefix(res.Result, "API Error: Connection dropped"): // in an answer
		return Truncated, detail
	}
	return s.limited(r, blame(res.APIErrorStatus, s.apiError)), detail
}

// ownFailure tells an agent that failed or used up its turns from a CLI that had nothing to go on with.
func (s *claudeStream) ownFailure(detail string) (Outcome, string) {
	switch {
	case s.begun:
		return Failed, detail
	case s.req.Session != "": // the session is gone
		return NoSession, "cannot resume: " + detail
	}
	return CannotStart, detail
}

// limited turns a refused request into a usage limit when the CLI told one, with the time it ends.
func (s *claudeStream) limited(r *Report, o Outcome) Outcome {
	if o != RateLimited || s.limit == nil {
		return o
	}
	at := time.Unix(s.limit.ResetsAt, 0).UTC()
	if s.limit.ResetsAt <= 0 || at.Sub(s.now()) > maxReset {
		return o
	}
	r.ResetAt = at
	return Quota
}

// usage is this run's part. total_cost_usd and modelUsage grow over a resumed session, so that a CLI that does not
// tell this run's models apart (2.1.197) overstates the cost of a resumed run; usage is this run's in any case, but
// after a stop for budget it lacks the last message.
func (s *claudeStream) usage() Usage {
	if s.result == nil {
		return s.counted.told
	}
	told := s.result.told()
	if s.final() && s.subtype == "success" && !s.result.IsError {
		return told
	}
	u := told.AtLeast(s.counted.told) // after an error, or a stop for budget, it lacks a message or all of them
	u.Priced = u == told && told.Priced
	return u
}

// used is usage with what a run that was cut off has used besides.
func (s *claudeStream) used(e end) Usage {
	if s.result == nil && s.retry == nil && e.cutOff() {
		u := s.counted.all(true)
		u.Estimated = u.Estimated || s.counted.open != ""
		return u
	}
	return s.usage()
}

func (s *claudeStream) counts() *requests { return &s.counted.requests }

// told is what a result says of this run's usage.
func (res *claudeResult) told() Usage {
	if res.ThisRun != nil {
		u := Usage{Priced: true}
		for _, m := range res.ThisRun {
			u.InputTokens += m.Input + m.CacheRead + m.CacheCreate
			u.CachedTokens += m.CacheRead
			u.CacheWrites += m.CacheCreate
			u.OutputTokens += m.Output
			u.CostUSD += max(0, m.CostUSD)
		}
		return u
	}
	var u Usage
	if res.Usage != nil {
		u = res.Usage.usage()
	}
	if res.CostUSD != nil {
		u.CostUSD, u.Priced = max(0, *res.CostUSD), true
	}
	return u
}

// denials names the tools the agent was not allowed to use: it ends in "success" all the same.
func (s *claudeStream) denials() string {
	refused := s.refused()
	if len(refused) == 0 {
		return ""
	}
	return "not allowed to use " + strings.Join(slices.Sorted(maps.Keys(refused)), ", ")
}

// refused counts the calls that were denied, by tool. The result repeats what was told as it happened.
func (s *claudeStream) refused() map[string]int {
	refused := maps.Clone(s.denied)
	if s.result == nil {
		return refused
	}
	listed := map[string]int{}
	for _, d := range s.result.Denials {
		count(listed, d.Tool)
	}
	for tool, times := range listed {
		if refused == nil {
			refused = map[string]int{}
		}
		refused[tool] = max(refused[tool], times)
	}
	return refused
}

const maxTools = 20 // names of tools remembered

// count counts one more call of a tool.
func count(calls map[string]int, tool string) {
	tool = cleantext.OneLine(tool, cleantext.MaxName)
	if _, known := calls[tool]; known || len(calls) < maxTools {
		calls[tool]++
	}
}
