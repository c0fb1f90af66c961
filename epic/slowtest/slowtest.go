// Package slowtest leaves out of go test ./... what takes long and is seldom the first to fail. With TEST_SLOW=1, as .ci/long sets it,
// everything runs.
package slowtest

import (
	"hash/fnv"
	"os"
	"testing"
)

// Variable is set for the slow tests.
const Variable = "TEST_SLOW"

// Skip skips a test unless the slow ones run.
func Skip(tb testing.TB) {
	tb.Helper()
	if os.Getenv(Variable) == "" { //nolint:forbidigo // it is not part of the program
		tb.Skip("it takes long; it runs with " + Variable + "=1")
	}
}

// OneIn skips a case of a large table unless the slow ones run, or its name is among the one in n that always do.
func OneIn(tb testing.TB, n uint32) {
	tb.Helper()
	h := fnv.New32a()
	_, _ = h.Write([]byte(tb.Name()))
	if h.Sum32()%n != 0 {
		Skip(tb)
	}
}
