package gemini

import (
	"cmp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// Answer implements [adapter.StreamReader].
func (s *reader) Answer() (final, text string, structured []byte) {
	final = runners.CleanTextEnd(s.recentText.Last(runners.MaxFinal), runners.MaxFinal)
	return final, final, nil
}

// Outcome implements [adapter.StreamReader]. Success needs both a result that says so and exit status 0: the CLI ends with 0 when it is
// interrupted, and after an answer that it could not use.
func (s *reader) Outcome(e adapter.ProcessEnd, r *runners.Report, badResult error) (runners.Outcome, string) {
	r.Model = mainModel(s.result, s.agent.Model)
	switch o, detail, ok := e.Stopped(s.Final()); {
	case ok && s.agent.Begun && s.agent.Tools.Running() == 0 && (o == runners.SilenceLimit || o == runners.Network):
		return s.unanswered(detail)
	case ok:
		return o, detail
	case !s.Final():
		return withoutResult(&s.agent, e.Exit)
	case s.result.Error != nil:
		return s.failure(r)
	case s.result.Status != "success":
		// Most often the model sent nothing, or a tool call that is none: what the agent did until then is not to blame.
		return cmp.Or(outcomeByUselessAnswer[s.fault], runners.Provider), cmp.Or(s.fault, "it reported an error, and not which")
	case e.Failed():
		return adapter.EndedBadly(exited(e.Exit, s.agent.Req))
	}
	return s.finished(r, badResult)
}

// finished returns the outcome of a run that the CLI calls a success. It does so too when it gives up in the middle,
// after a tool's answer, because it repeats itself or because the next request would be too long; the latter it does not
// tell, nor that an answer is empty, or cut off by an error in its stream or by the end of its body.
func (s *reader) finished(r *runners.Report, badResult error) (runners.Outcome, string) {
	o, detail := adapter.ClaimOutcome(s.agent.Req, r, badResult)
	switch {
	case o == runners.Claimed, o == runners.BadResult:
	case !s.agent.Req.Question && !s.wrote && !s.looped && !s.asking && (s.mode == geminiDefault || s.mode == geminiPlan):
		return runners.PermissionDenied, adapter.JoinDetail(detail, "approval mode "+s.mode+" gives it no tool to edit a file or run a command with")
	case r.Result == nil && (s.looped || s.asking || brokenOff(r.FinalText)):
		return s.brokeOff(r)
	}
	return o, detail
}

// brokeOff returns the outcome of a run that was over in the middle, though the CLI calls it a success.
func (s *reader) brokeOff(r *runners.Report) (runners.Outcome, string) {
	// As the context grows from one request to the next, the last one has had at most about twice the average.
	next := 2*s.Usage().InputTokens/int64(max(s.turns, 1)) + s.shown/4
	switch {
	case s.looped:
		return runners.Failed, "its own loop detection stopped it: it did the same again and again"
	case s.asking && next > halfContext:
		return runners.ContextExhausted, "it stopped in the middle without a word, as it does when the next request is too long for its model"
	}
	r.EndedWell = true
	if s.asking {
		return runners.Provider, "its model's last answer was empty"
	}
	return runners.Truncated, "its last answer breaks off in the middle of a sentence"
}

// halfContext is half of what the context of its models holds, in tokens.
const halfContext = 500_000

// brokenOff reports whether a text ends in the middle of a sentence.
func brokenOff(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return unicode.IsLetter(last) || unicode.IsDigit(last) || last == ',' || last == '('
}

// outcomeByUselessAnswer are the CLI's own words for answers it could not use, after asking for others.
var outcomeByUselessAnswer = map[string]runners.Outcome{
	"The model response was blocked due to safety settings.":                                                              runners.Refused,
	"The model response was blocked due to recitation/copyright filters.":                                                 runners.Refused,
	"The model response was blocked due to other policy settings.":                                                        runners.Refused,
	"Model response was truncated because it exceeded the token limit. Try using /compress to free up context space.":     runners.Failed,
	"Model stream ended without a finish reason.":                                                                         runners.Truncated,
	"The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again.": runners.Provider,
}

// withoutResult returns the outcome of a CLI that ended without its terminal event.
func withoutResult(agent *adapter.Stream, exit process.Exit) (runners.Outcome, string) {
	signalled := exit.Signal != "" || exit.Code < 0 || exit.Code >= 128 && exit.Code < 144
	switch {
	case signalled || exit.Code == 0 && agent.Begun:
		return killed(agent, exit)
	case exit.Code == 0:
		return runners.NoResult, "it ended without a final message"
	case agent.Begun:
		return runners.Failed, "it ended without a final message: " + exited(exit, agent.Req)
	case agent.Req.Session != "" && exit.Code == exitNoInput: // the session is gone
		return runners.NoSession, "cannot resume: " + exited(exit, agent.Req)
	}
	return cmp.Or(outcomeByExit[exit.Code], runners.CannotStart), exited(exit, agent.Req)
}

// killed returns the outcome of a CLI that something ended: most signals it takes for a wish, and ends with exit status
// 0. The agent is not to blame before it has said anything; later it may have been a command of its own.
func killed(agent *adapter.Stream, exit process.Exit) (runners.Outcome, string) {
	if o, detail, ok := retried(agent); ok {
		return o, detail
	}
	how := exited(exit, agent.Req)
	if exit.Code == 0 {
		how = "without an error, as when it is asked to end"
	}
	if !agent.Answered {
		return runners.Provider, "it ended before the model said anything: " + how
	}
	return runners.Killed, "it ended in the middle: " + how
}

// exitNoInput is the exit status for a prompt or session that cannot be taken.
const exitNoInput = 42

// outcomeByExit are the exit statuses that the CLI has a meaning of its own for.
var outcomeByExit = map[int]runners.Outcome{
	41:          runners.Auth,
	exitNoInput: runners.CannotStart,
	44:          runners.CannotStart, // sandbox
	52:          runners.CannotStart, // settings
	53:          runners.TurnsSpent,
	54:          runners.Provider,    // a tool had no room on the disk: the work is not at fault
	55:          runners.CannotStart, // the folder is not trusted
	130:         runners.Killed,
}

// failure returns the outcome of a result that reports an error.
func (s *reader) failure(r *runners.Report) (runners.Outcome, string) {
	f := parseFault(s.result.Error.Message)
	if o, ok := outcomeByExit[r.Exit.Code]; ok {
		if o == runners.CannotStart { // it had begun: what it was asked to do is at fault, and not how it is set up
			o = runners.Failed
		}
		return o, f.text
	}
	status := cmp.Or(f.status, httpStatus(r.Exit.Code))
	class := errorClass(stderrEnd(s.agent.Req), s.result.Error.Message)
	switch {
	case class == "ModelNotFoundError":
		return runners.NoModel, "no such model: " + f.text
	case status == 429:
		return f.limited(r, class, s.printed()), adapter.ProviderFault(status, f.text)
	case status == 0:
		return f.broken(), "the request failed: " + f.text
	}
	return f.blame(status), adapter.ProviderFault(status, f.text)
}

// printed returns when the CLI printed the result: the times in it count from there, whenever relay reads it.
func (s *reader) printed() time.Time {
	now := s.agent.Now()
	if at, err := time.Parse(time.RFC3339, s.result.Time); err == nil && at.Before(now) {
		return at
	}
	return now
}

// unanswered returns the outcome of a run that was stopped with no tool at work: it waited for the model.
func (s *reader) unanswered(limit string) (runners.Outcome, string) {
	if !s.asking {
		return runners.Truncated, "the answer stopped in the middle: " + limit
	}
	if o, detail, ok := retried(&s.agent); ok {
		return o, detail
	}
	return runners.Network, strings.Replace(limit, adapter.ErrSilence.Error(), adapter.ErrNoAnswer.Error(), 1)
}
