package attempts

import "time"

// Request is what a person has asked of a run that is on. Where that changes a gate, the event is the gate's own, with the request
// beside it; any other has type [TypeRequested].
type Request struct {
	What   RequestKind `json:"what"`
	By     string      `json:"by"` // [Person]
	Reason string      `json:"reason,omitempty"`
}

// Person is who may ask something of a run.
const Person = "person"

// RequestKind names what can be asked of a run that is on.
type RequestKind string

// Requests to a run.
const (
	RequestGate     RequestKind = "gate"     // keep a task from being tried; its running attempt goes on
	RequestUngate   RequestKind = "ungate"   // try a gated task again
	RequestApprove  RequestKind = "approve"  // take a completed task with what relay could not judge of it
	RequestRetry    RequestKind = "retry"    // the same for one that was stopped, or that waits for a runner: at once
	RequestStop     RequestKind = "stop"     // end a task's running attempt, and do not try it again in this run; without a task: end the run
	RequestPause    RequestKind = "pause"    // start nothing new
	RequestContinue RequestKind = "continue" // the pause is over
)

// request folds what was asked of the run.
func (l *Ledger) request(e *Event) {
	switch e.Request.What {
	case RequestPause:
		l.Paused = e.At
	case RequestContinue:
		l.Paused = time.Time{}
	case RequestStop:
		if e.Task != "" {
			if l.Held == nil {
				l.Held = map[string]time.Time{}
			}
			l.Held[e.Task] = e.At
		}
	case RequestRetry:
		delete(l.Held, e.Task)
	default: // the gate says the rest
	}
}

// forgetRequests drops what was asked of a run that is over. One that ends to begin again with another plan goes on with it.
func (l *Ledger) forgetRequests() {
	if !l.GoesOn() {
		l.Paused, l.Held = time.Time{}, nil
	}
}

// GoesOn reports whether the newest run has ended to begin again with another plan: what was asked of it holds for the next one.
func (l *Ledger) GoesOn() bool {
	return l.Status.State == "stopped" && l.Status.LastExitReason == "reload"
}
