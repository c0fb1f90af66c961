package limits

import "time"

// backoff records how long a runner is left alone after its faults.
type backoff struct {
	first, longest time.Duration
	jitter         func(most time.Duration) time.Duration
}

func backoffOf(o *PoolOptions) backoff { return backoff{o.Backoff, o.BackoffMax, o.Jitter} }

// Bounds of the time added to a wait: many relays wait for the same reset, and must not all ask in the same second.
const (
	leastSpread = 5 * time.Second
	mostSpread  = 5 * time.Minute
)

// wait returns the back-off after so many doublings.
func (b backoff) wait(doublings int) time.Duration { return doubled(b.first, doublings, b.longest) }

// A task with faults of its own waits so many doublings longer when nothing else can work: then nothing tells whether the
// runner answers others, and refused calls cost, and waiting does not.
const aloneDoublings = 5

// ownWait returns the back-off of a task with so many faults of its own: half an hour at most, with the default
// settings.
func (b backoff) ownWait(faults int, alone bool) time.Duration {
	if !alone {
		return b.wait(faults - 1)
	}
	return doubled(b.first, faults-1+aloneDoublings, 2*b.longest)
}

// spread draws what a wait takes longer: a hundredth of it at most, or some seconds, and never more than itself.
func (b backoff) spread(wait time.Duration) time.Duration {
	if b.jitter == nil || wait <= 0 {
		return 0
	}
	return b.jitter(min(max(wait/100, leastSpread), mostSpread, wait))
}

func doubled(wait time.Duration, times int, most time.Duration) time.Duration {
	wait <<= min(max(times, 0), 20)
	if wait < 0 || wait > most {
		return most
	}
	return wait
}
