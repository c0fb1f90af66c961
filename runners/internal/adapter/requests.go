package adapter

import (
	"time"

	"relay/runners"
)

// Requests counts what an agent has used of its model, request by request. It estimates what the CLI does not report: each request
// reads the conversation so far, of which all but what is new comes from the provider's cache.
type Requests struct {
	Base        int64         // tokens of what the CLI itself says before the prompt, about
	Reported    runners.Usage // of the requests whose tokens are known
	last        runners.Usage // of the last of them
	AnyReported bool          // there is one
	Pending     bool          // one is under way whose tokens are not known
	Broken      int64         // requests that broke off, of which the CLI reports nothing

	stopped time.Time     // when the agent was asked to stop: a request that it begins after that is hardly made any more
	chars   int64         // of the conversation so far
	read    int64         // tokens of it that were read before
	guess   runners.Usage // what the requests come to by that
}

// CharsPerToken is how many characters a token has, about.
const CharsPerToken = 4

// Ask records that the model is asked.
func (q *Requests) Ask() { q.Pending = q.Pending || q.stopped.IsZero() }

// AskAt records that the model was asked at a time, as read from a file that may be read later.
func (q *Requests) AskAt(at time.Time) {
	q.Pending = q.Pending || q.stopped.IsZero() || at.Before(q.stopped)
}

// Answer records that the model has written so many characters. If the CLI reports no tokens the request is counted then: one
// that was refused costs nothing.
func (q *Requests) Answer(chars int) {
	if q.Pending {
		q.guess = q.guess.Plus(q.next())
		q.read = q.context()
	}
	q.Pending = false
	q.guess.OutputTokens += int64(chars) / CharsPerToken
}

func (q *Requests) context() int64 { return q.Base + q.chars/CharsPerToken }

// next returns what a request reads now, about.
func (q *Requests) next() runners.Usage {
	return runners.Usage{InputTokens: q.context(), CachedTokens: q.read}
}

// Report counts what one request has used.
func (q *Requests) Report(u runners.Usage) {
	q.Reported = q.Reported.Plus(u)
	q.last, q.AnyReported, q.Pending = u, true, false
}

// SoFar returns what the requests have used whose tokens are known. When the CLI reports none, it is an estimate.
func (q *Requests) SoFar(reports bool) runners.Usage {
	if q.AnyReported || reports {
		return q.Reported
	}
	u := q.guess
	u.Estimated = u != runners.Usage{}
	return u
}

// Total returns what the requests have used by the end of an agent that was cut off. A request under way has read its
// conversation whether or not its answer came; it is counted as one like the last.
func (q *Requests) Total(reports bool) runners.Usage {
	u := q.SoFar(reports)
	missing := q.Broken
	if q.Pending {
		missing++
	}
	if missing == 0 {
		return u
	}
	one := q.last
	if !q.AnyReported {
		one = q.next()
	}
	u.InputTokens += missing * one.InputTokens
	u.CachedTokens += missing * one.CachedTokens
	u.CostUSD += float64(missing) * one.CostUSD
	u.Estimated = true
	return u
}
