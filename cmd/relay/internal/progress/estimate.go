package progress

import (
	"time"

	"relay/cmd/relay/internal/status"
)

// How often the end of a run is estimated: soon after a task has ended, and now and then, as what runs takes its time.
const (
	estimateSoon = 5 * time.Second
	estimateLate = time.Minute
)

// estimator has the end of a run estimated beside the display, which never waits for it.
type estimator struct {
	estimate func() *status.Forecast // nil: nobody does
	result   chan *status.Forecast   // of the one under way; nil: none is
	last     time.Time               // when it was asked
	changed  bool                    // a task has ended since
}

// poll takes a new estimate, if there is one, and has another one made when it is time to.
func (e *estimator) poll(now time.Time) (f *status.Forecast, isNew bool) {
	if e.result != nil {
		select {
		case f = <-e.result:
			e.result, isNew = nil, true
		default:
			return nil, false
		}
	}
	after := estimateLate
	if e.changed {
		after = estimateSoon
	}
	if e.estimate != nil && now.Sub(e.last) >= after {
		e.last, e.changed = now, false
		result := make(chan *status.Forecast, 1)
		e.result = result
		go func() { result <- e.estimate() }()
	}
	return f, isNew
}
