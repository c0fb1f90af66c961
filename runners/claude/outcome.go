package claude

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonline"
	"relay/runners/internal/monitor"
)

// Report reports what the stream and the process's end mean together. Success needs both the terminal event and exit
// status 0: the CLI ends with 0 when it is interrupted, and calls a provider's error a "success".
func (s *reader) Report(e monitor.End) runners.Report {
	r := runners.Report{
		Exit: e.Exit, Session: s.session, Model: s.model,
		FinalText: cleantext.Clean(s.lastMessage, cleantext.MaxFinal), Usage: s.used(e), Tools: s.tools.List(),
	}
	var structured []byte
	if s.final() {
		r.FinalText, structured = cleantext.Clean(s.result.Result, cleantext.MaxFinal), s.result.Structured
	}
	var claimErr error
	if !s.req.Question {
		r.Result, claimErr = adapter.FindResult(structured, s.req.Result, r.FinalText)
	}
	switch o, detail, ok := e.Stopped(s.final()); {
	case ok && s.retry != nil && (o == runners.SilenceLimit || o == runners.Network):
		r.Outcome, r.Detail = s.retryOutcome(&r)
	case ok && e.Unanswered(s.answered, len(s.running) > 0):
		r.Outcome, r.Detail = adapter.NoAnswer(detail)
	case ok:
		r.Outcome, r.Detail = o, detail
	case s.stoppedBy(&r):
	case !s.final():
		r.Outcome, r.Detail = s.withoutResult(&r)
	case s.failed():
		r.Outcome, r.Detail = s.failure(&r)
	case e.Exit.Code != 0 && !e.Exit.Stopped:
		r.Outcome, r.Detail = runners.Failed, "it reported an end, but then: "+adapter.ExitDetail(e.Exit, s.req.Stderr)
	default:
		r.Outcome, r.Detail = s.claimed(&r, claimErr)
	}
	r.Detail = cleantext.OneLine(adapter.JoinDetail(r.Detail, s.denials(), adapter.LeftBehind(e.Exit)), cleantext.MaxDetail)
	return r
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
	if s.final() {
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
// called, is not at fault; a single call that was denied is no excuse.
func (s *reader) claimed(r *runners.Report, claimErr error) (runners.Outcome, string) {
	if s.req.Question {
		return adapter.AnswerOutcome(r.FinalText)
	}
	o, detail := adapter.ClaimOutcome(r.Result, claimErr)
	if o == runners.Failed || o == runners.NoResult {
		for tool, times := range s.refused() {
			if times >= s.called[tool] {
				return runners.PermissionDenied, detail
			}
		}
	}
	return o, detail
}

// withoutResult returns the outcome of a CLI that ended without its terminal event.
func (s *reader) withoutResult(r *runners.Report) (runners.Outcome, string) {
	if s.retry != nil {
		return s.retryOutcome(r)
	}
	return adapter.Unfinished(s.req, r.Exit, s.begun, s.torn)
}

// retryOutcome blames the provider's fault that the CLI was still waiting out when it ended.
func (s *reader) retryOutcome(r *runners.Report) (runners.Outcome, string) {
	status, name := s.retry.ErrorStatus, jsonline.Name(s.retry.Error)
	o := adapter.Blame(status, name)
	if o == runners.Failed { // it was asking again: the CLI itself did not think the request was at fault
		o = runners.Provider
	}
	return s.limited(r, o), "gave up while its provider failed: " + adapter.ProviderFault(status, name)
}

func (s *reader) failed() bool { return s.result.IsError || s.subtype != "success" }

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
	case res.APIErrorStatus == 0 && s.apiError == "" && res.TerminalReason != "api_error":
		return s.ownFailure(detail)
	case res.APIErrorStatus == 0 && strings.HasPrefix(res.Result, "API Error: Connection dropped"): // in an answer
		return runners.Truncated, detail
	}
	return s.limited(r, adapter.Blame(res.APIErrorStatus, s.apiError)), detail
}

// ownFailure returns the outcome of a failure that is not the provider's: of an agent that failed or used up its turns, or
// of a CLI that could not resume or start.
func (s *reader) ownFailure(detail string) (runners.Outcome, string) {
	switch {
	case s.begun:
		return runners.Failed, detail
	case s.req.Session != "": // the session is gone
		return runners.NoSession, "cannot resume: " + detail
	}
	return runners.CannotStart, detail
}

// limited turns a refused request into a usage limit when the CLI told one, with the time it ends.
func (s *reader) limited(r *runners.Report, o runners.Outcome) runners.Outcome {
	if o != runners.RateLimited || s.limit == nil {
		return o
	}
	at := time.Unix(s.limit.ResetsAt, 0).UTC()
	if s.limit.ResetsAt <= 0 || at.Sub(s.now()) > adapter.MaxReset {
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
		return s.counted.Reported
	}
	reported := s.result.usage()
	if s.final() && s.subtype == "success" && !s.result.IsError {
		return reported
	}
	u := reported.AtLeast(s.counted.Reported) // after an error, or a stop for budget, it lacks a message or all of them
	u.Priced = u == reported && reported.Priced
	return u
}

// used returns usage with what a run that was cut off has used besides.
func (s *reader) used(e monitor.End) runners.Usage {
	if s.result == nil && s.retry == nil && e.CutOff() {
		u := s.counted.Total(true)
		u.Estimated = u.Estimated || s.counted.open != ""
		return u
	}
	return s.Usage()
}

func (s *reader) Requests() *eventstream.Requests { return &s.counted.Requests }

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

// denials names the tools the agent was not allowed to use: it ends in "success" all the same.
func (s *reader) denials() string {
	refused := s.refused()
	if len(refused) == 0 {
		return ""
	}
	return "not allowed to use " + strings.Join(slices.Sorted(maps.Keys(refused)), ", ")
}

// refused counts the calls that were denied, by tool. The result repeats what was told as it happened.
func (s *reader) refused() map[string]int {
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
	if _, ok := calls[tool]; ok || len(calls) < maxTools {
		calls[tool]++
	}
}
