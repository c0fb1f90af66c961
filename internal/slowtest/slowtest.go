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
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip("it takes long; it runs with " + Variable + "=1")
	}
}

// OneIn skips a case of a large table unless the slow ones run, or its name is among the one in n that always do.
func OneIn(t testing.TB, n uint32) {
	t.Helper()
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	if h.Sum32()%n != 0 {
		Skip(t)
	}
}
