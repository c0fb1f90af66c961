package runners

import (
	"os"
	"time"
)

// requests counts what an agent has used of its model, request by request. What nobody tells is estimated: each request
// reads the conversation so far, of which all but what is new comes from the provider's cache.
type requests struct {
	base    int64 // tokens of what the CLI itself says before the prompt, about
	told    Usage // of the requests whose tokens are known
	last    Usage // of the last of them
	any     bool  // there is one
	pending bool  // one is under way whose tokens are not known
	broken  int64 // requests that broke off, of which nobody tells anything

	stopped time.Time // when the agent was asked to stop: a request that it begins after that is hardly made any more
	chars   int64     // of the conversation so far
	read    int64     // tokens of it that were read before
	guess   Usage     // what the requests come to by that
}

const charsPerToken = 4

// prompt begins the conversation.
func (q *requests) prompt(path string) {
	if info, err := os.Stat(path); err == nil {
		q.chars += info.Size()
	}
}

// grows notes how much longer the conversation has become.
func (q *requests) grows(chars int) { q.chars += int64(chars) }

// asks notes that the model is asked.
func (q *requests) asks() { q.pending = q.pending || q.stopped.IsZero() }

// asksAt notes that the model was asked at a time, as a file tells it that may be read later.
func (q *requests) asksAt(at time.Time) {
	q.pending = q.pending || q.stopped.IsZero() || at.Before(q.stopped)
}

// answers notes that the model has written so many characters. Whom nobody tells the tokens counts the request then: one
// that was refused costs nothing.
func (q *requests) answers(chars int) {
	if q.pending {
		q.guess = q.guess.Plus(q.next())
		q.read = q.context()
	}
	q.pending = false
	q.guess.OutputTokens += int64(chars) / charsPerToken
}

func (q *requests) context() int64 { return q.base + q.chars/charsPerToken }

// next is what a request reads now, about.
func (q *requests) next() Usage { return Usage{InputTokens: q.context(), CachedTokens: q.read} }

// tells takes in what one request has used.
func (q *requests) tells(u Usage) {
	q.told = q.told.Plus(u)
	q.last, q.any, q.pending = u, true, false
}

// sofar is what the requests have used whose tokens are known. When nobody tells any, it is estimated.
func (q *requests) sofar(tells bool) Usage {
	if q.any || tells {
		return q.told
	}
	return q.estimated()
}

func (q *requests) estimated() Usage {
	u := q.guess
	u.Estimated = u != Usage{}
	return u
}

// all is what the requests have used by the end of an agent that was cut off. A request under way has read its
// conversation whether or not its answer came; one like the last is what it is counted as.
func (q *requests) all(tells bool) Usage {
	u := q.sofar(tells)
	missing := q.broken
	if q.pending {
		missing++
	}
	if missing == 0 {
		return u
	}
	one := q.last
	if !q.any {
		one = q.next()
	}
	u.InputTokens += missing * one.InputTokens
	u.CachedTokens += missing * one.CachedTokens
	u.CostUSD += float64(missing) * one.CostUSD
	u.Estimated = true
	return u
}
