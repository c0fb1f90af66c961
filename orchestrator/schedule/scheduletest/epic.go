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
	"relay/epic/globs"
)

// Declarations are ways in which a task can declare some of the files that tasks of a random epic change.
var Declarations = []string{"a/1", "a/2", "a/*", "b", "b/1", "b/2", "{b,c}/2", "c/**", "c/1", "d/1", "d/?/x", "d/2/x", "e", "*/2", "[ab]/1"}

// files are all files that Declarations can mean.
var files = []string{"a/1", "a/2", "b/1", "b/2", "c/1", "c/2", "d/1/x", "d/2/x", "e", "e/2"}

// Share reports whether two lists of declared files have one in common, by trying every file there is.
func Share(a, b []string) bool {
	covered := func(declared []string, p string) bool {
		return slices.ContainsFunc(declared, func(g string) bool { return globs.Covers(g, p) })
	}
	return slices.ContainsFunc(files, func(p string) bool { return covered(a, p) && covered(b, p) })
}

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
// points are that time in minutes. With claims, tasks declare files of a few folders, in many ways.
func Layered(t *testing.T, r *rand.Rand, points, claims bool) (*epic.Epic, map[string]time.Duration) {
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
			var deps, declared []string
			for range min(r.IntN(4), len(before)) {
				if d := before[r.IntN(len(before))]; !slices.Contains(deps, d) {
					deps = append(deps, d)
				}
			}
			for range r.IntN(3) {
				declared = append(declared, fmt.Sprintf("%q", Declarations[r.IntN(len(Declarations))]))
			}
			if claims {
				fmt.Fprintf(&b, ", files: [%s]", strings.Join(slices.Compact(declared), ", "))
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
