package runners

import (
	"fmt"
	"strconv"
	"strings"
)

// GitSettings returns the variables that give git more settings (NAME=VALUE), after those that the environment gives it
// already.
func GitSettings(env []string, settings ...string) []string {
	if len(settings) == 0 {
		return nil
	}
	n := 0
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(value) // git refuses anything but a number, with or without ours
		}
	}
	var more []string
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		more = append(more, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	return append(more, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}
