// Package scheduletest makes random epics for tests of schedules.
package scheduletest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic"
)

// Duration draws a duration between a second and an hour and a half. kind says how they are spread: 0 all alike, 1 many
// short ones and few long ones, 2 either short or long.
func Duration(r *rand.Rand, kind int) time.Duration {
	switch kind {
	case 0:
		return 10*time.Minute + time.Duration(r.Int64N(int64(10*time.Minute)))
	case 1:
		return time.Second + time.Duration(min(r.ExpFloat64(), 9)*float64(10*time.Minute))
	}
	if r.IntN(5) == 0 {
		return 50*time.Minute + time.Duration(r.Int64N(int64(20*time.Minute)))
	}
	return time.Second + time.Duration(r.Int64N(int64(3*time.Minute)))
}

// Layered makes a random epic in layers, and draws how long each of its tasks takes, by its id. With points, a task's
// points are that time in minutes.
func Layered(t *testing.T, r *rand.Rand, points bool) (*epic.Epic, map[string]time.Duration) {
	t.Helper()
	durations := map[string]time.Duration{}
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-layers\ntitle: layers\ntasks:\n")
	kind, widest := r.IntN(3), 1+r.IntN(14)
	var before []string
	for layer := range 2 + r.IntN(6) {
		var here []string
		for k := range 1 + r.IntN(widest) {
			id := fmt.Sprintf("L%dT%d", layer, k)
			takes := Duration(r, kind)
			fmt.Fprintf(&b, "  %s: {title: t", id)
			if points {
				fmt.Fprintf(&b, ", points: %.9f", takes.Minutes())
			}
			var deps []string
			for range min(r.IntN(4), len(before)) {
				if d := before[r.IntN(len(before))]; !slices.Contains(deps, d) {
					deps = append(deps, d)
				}
			}
			fmt.Fprintf(&b, ", depends_on: [%s]}\n", strings.Join(deps, ", "))
			here, durations[id] = append(here, id), takes
		}
		before = append(before[len(before)/2:], here...)
	}
	e, err := epic.Read("epic.yml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return e, durations
}
