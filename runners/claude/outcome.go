package claude

import (
	"cmp"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// Answer implements [adapter.StreamReader].
func (s *reader) Answer() (final, text string, structured []byte) {
	final = s.lastMessage
	if s.Final() {
		final, structured = s.result.Result, s.result.Structured
	}
	final = runners.CleanText(final, runners.MaxFinal)
	return final, final, structured
}

// Outcome implements [adapter.StreamReader]. Success needs both the terminal event and exit status 0: the CLI ends with 0 when it is
// interrupted, and calls a provider's error a "success".
func (s *reader) Outcome(e adapter.ProcessEnd, r *runners.Report, badResult error) (runners.Outcome, string) {
	switch o, detail, ok := e.Stopped(s.Final()); {
	case ok && s.retry != nil && (o == runners.SilenceLimit || o == runners.Network):
		return s.retryOutcome(r)
	case ok && e.Unanswered(s.agent.Answered, s.agent.Tools.Running() > 0):
		return adapter.NoAnswer(detail)
	case ok:
		return o, detail
	case s.stoppedBy(r):
		return r.Outcome, r.Detail
	case !s.Final() && s.retry != nil:
		return s.retryOutcome(r)
	case !s.Final():
		return adapter.Unfinished(s.agent.Req, r.Exit, s.agent.Begun, s.torn)
	case s.result.IsError || s.subtype != "success":
		return s.failure(r)
	case e.Failed():
		return adapter.EndedBadly(adapter.ExitDetail(e.Exit, s.agent.Req.Stderr))
	}
	return claimed(&s.agent, r, badResult)
}

// ownWords begin what the CLI itself says in place of an answer, also as plain text and with exit status 0.
var ownWords = map[string]runners.Outcome{
	"Prompt is too long": runners.ContextExhausted, "There's an issue with the selected model": runners.NoModel,
	"Reached maximum number of turns": runners.TurnsSpent, "Error: Reached max turns": runners.TurnsSpent,
}

// stoppedBy fills in the outcome if the last that the CLI said are such words.
func (s *reader) stoppedBy(r *runners.Report) bool {
	if r.Result != nil {
		return false
	}
	said := strings.ReplaceAll(s.plain, "’", "'")
	if s.Final() {
		said = cmp.Or(r.FinalText, strings.Join(s.result.Errors, "; "))
	}
	for words, o := range ownWords {
		if strings.HasPrefix(said, words) {
			r.Outcome, r.Detail = o, said
			return true
		}
	}
	return false
}

// claimed returns the outcome of an agent that ended well. One that did not do its task, and never got a tool it
// called, is not at fault; a single call that was denied does not excuse it.
func claimed(agent *adapter.Stream, r *runners.Report, badResult error) (runners.Outcome, string) {
	o, detail := adapter.ClaimOutcome(agent.Req, r, badResult)
	if !agent.Req.Question && (o == runners.Failed || o == runners.NoResult) && agent.Tools.Withheld() {
		o = runners.PermissionDenied
	}
	return o, detail
}

// retryOutcome blames the provider's fault that the CLI was still waiting out when it ended.
func (s *reader) retryOutcome(r *runners.Report) (runners.Outcome, string) {
	status, name := s.retry.ErrorStatus, adapter.JSONName(s.retry.Error)
	return adapter.GaveUp(s.limited(r, adapter.Blame(status, name)), adapter.ProviderFault(status, name))
}

// failure returns the outcome of a terminal event that reports an error.
func (s *reader) failure(r *runners.Report) (runners.Outcome, string) {
	res := s.result
	detail := cmp.Or(res.Result, strings.Join(res.Errors, "; "), s.subtype)
	switch {
	case res.StopReason == "refusal":
		return runners.Refused, "the model refused: " + detail
	case res.TerminalReason == "prompt_too_long":
		return runners.ContextExhausted, detail
	case s.subtype == "error_max_turns":
		return runners.TurnsSpent, detail
	case strings.HasPrefix(res.TerminalReason, "aborted"):
		return runners.Killed, "it was interrupted: " + detail
	case res.APIErrorStatus != 0 || s.apiError != "" || res.TerminalReason == "api_error": // of the provider
	case s.agent.Begun:
		return runners.Failed, detail
	case s.agent.Req.Session != "": // the session is gone
		return runners.NoSession, "cannot resume: " + detail
	default:
		return runners.CannotStart, detail
	}
	if res.APIErrorStatus == 0 && strings.HasPrefix(res.Result, "API Error: Connection dropped") { // in an answer
		return runners.Truncated, detail
	}
	return s.limited(r, adapter.Blame(res.APIErrorStatus, s.apiError)), detail
}

// limited turns a refused request into a usage limit when the CLI told one, with the time it ends.
func (s *reader) limited(r *runners.Report, o runners.Outcome) runners.Outcome {
	if o != runners.RateLimited || s.limit == nil {
		return o
	}
	at := time.Unix(s.limit.ResetsAt, 0).UTC()
	if s.limit.ResetsAt <= 0 || at.Sub(s.agent.Now()) > adapter.MaxReset {
		return o
	}
	r.ResetAt = at
	return runners.Quota
}

// Usage returns what this run has used. total_cost_usd and modelUsage grow over a resumed session, so that a CLI that
// does not tell this run's models apart (2.1.197) overstates the cost of a resumed run; usage is this run's in any
// case, but after a stop for budget it lacks the last message.
func (s *reader) Usage() runners.Usage {
	if s.result == nil {
		return s.agent.Asked.Reported
	}
	reported := s.result.usage()
	if s.Final() && s.subtype == "success" && !s.result.IsError {
		return reported
	}
	u := reported.AtLeast(s.agent.Asked.Reported) // after an error, or a stop for budget, it lacks a message or all of them
	u.Priced = u == reported && reported.Priced
	return u
}

// Used implements [adapter.StreamReader].
func (s *reader) Used(e adapter.ProcessEnd) runners.Usage {
	if s.result == nil && s.retry == nil && e.CutOff() {
		u := s.agent.Asked.Total(true)
		u.Estimated = u.Estimated || s.counted.open != ""
		return u
	}
	return s.Usage()
}

// usage returns what a result says of this run's usage.
func (res *resultEvent) usage() runners.Usage {
	if res.ThisRun != nil {
		u := runners.Usage{Priced: true}
		for _, m := range res.ThisRun {
			u.InputTokens += m.Input + m.CacheRead + m.CacheCreate
			u.CachedTokens += m.CacheRead
			u.CacheWrites += m.CacheCreate
			u.OutputTokens += m.Output
			u.CostUSD += max(0, m.CostUSD)
		}
		return u
	}
	var u runners.Usage
	if res.Usage != nil {
		u = res.Usage.usage()
	}
	if res.CostUSD != nil {
		u.CostUSD, u.Priced = max(0, *res.CostUSD), true
	}
	return u
}
