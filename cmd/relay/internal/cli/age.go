package cli

import (
	"math"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/orchestrator/text"
)

// ParseAge reads the age of --older-than, such as 12h, 30d or 8w. The error is a usage error.
func ParseAge(words string) (time.Duration, error) {
	wrong := &exit.UsageError{Message: "--older-than " + text.Line(words, 40) + " is no age", Hint: "such as 12h, 30d or 8w"}
	day := 24 * time.Hour
	for unit, each := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(words, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n > uint64(math.MaxInt64/int64(each)) {
			return 0, wrong
		}
		return time.Duration(n) * each, nil
	}
	age, err := time.ParseDuration(words)
	if err != nil || age < 0 {
		return 0, wrong
	}
	return age, nil
}
