package runners

import (
	"slices"
	"strings"
)

// OwnSettings records what a CLI's own settings say of the model that it will ask.
type OwnSettings struct {
	Model  string // "" : they name none
	Priced bool   // they say what the model costs, and the CLI counts by that
}

// Variable returns the value of the last entry of an environment with this name; "" when there is none.
func Variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
