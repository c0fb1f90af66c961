package durable

import (
	"bytes"
	"os"
	"strconv"
)

// startField is the 22nd of a process's line in /proc, counted behind its name.
const startField = 19

// startOf returns when a process began, which tells it from later ones with the same pid: in ticks since the system's
// start, which no change of the clock moves. It is 0 when there is no such process.
func startOf(pid int) uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // the name may hold anything
	if len(fields) <= startField {
		return 0
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return 0
	}
	return start
}
