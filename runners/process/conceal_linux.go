package process

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Conceal closes the memory, the environment and the open files of this process to other processes of the same user, but not
// to root, and keeps it from dumping core. It says nothing about programs that this process starts.
func Conceal() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// Ancestors returns the arguments of every process that this one runs below, the nearest first.
func Ancestors() (argv [][]string) {
	for _, pid := range ancestors() {
		line, _ := readProc("/proc/"+strconv.Itoa(pid)+"/cmdline", maxEnviron) // gone meanwhile: it has none
		argv = append(argv, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"))
	}
	return argv
}
