package project

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// FaultVariable names where a run is to be cut: POINT=kill, POINT=EIO or POINT=ENOSPC, with #N after the point for its
// N-th occurrence. It is how relay's own tests look at every instant a crash can come.
const FaultVariable = "RELAY_FAULT"

// SlowChecksVariable says, as in 1ns, from when on several landings share one run of the checks: tests have no time for slow ones.
const SlowChecksVariable = "RELAY_SLOW_CHECKS"

// SlowChecks reads such a text; 0 means relay's own.
func SlowChecks(text string) time.Duration {
	took, _ := time.ParseDuration(text)
	return took
}

// FaultPoints reads such a text; nil when nothing is to go wrong.
func FaultPoints(text string) func(string) error {
	point, action, ok := strings.Cut(text, "=")
	if !ok {
		return nil
	}
	left := 1
	if name, number, counted := strings.Cut(point, "#"); counted {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			point, left = name, n
		}
	}
	var mu sync.Mutex
	return func(at string) error {
		if at != point {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if left--; left != 0 {
			return nil
		}
		return strike(action)
	}
}

func strike(action string) error {
	switch action {
	case "kill":
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {} // dead in a moment
	case "EIO":
		return syscall.EIO
	case "ENOSPC":
		return syscall.ENOSPC
	}
	return fmt.Errorf("%s: unknown fault %q", FaultVariable, action)
}
