//go:build race

package labtest

// raceEnabled says that memory cannot be measured: the race detector needs several times as much.
const raceEnabled = true
