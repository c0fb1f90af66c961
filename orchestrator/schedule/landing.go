package schedule

import "time"

// LandTogether returns how many works that can land share one run of their checks first: all of them if these took longer than slow on
// the mean when they ran last, else the first one alone. checked is how long they took for each, in the order in which they land.
func LandTogether(checked []time.Duration, slow time.Duration) int {
	sum := time.Duration(0)
	for _, took := range checked {
		sum += took
	}
	if sum > slow*time.Duration(len(checked)) {
		return len(checked)
	}
	return min(1, len(checked))
}

// LandFewer returns how many share one run of their checks next, when so many have failed theirs together: more than 1.
func LandFewer(red int) int { return red / 2 }
