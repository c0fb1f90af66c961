package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"relay/runners/sandbox"
)

// Variables by which the test starts itself as a program that probes, under a filter of system calls.
const (
	probeVariable  = "TEST_PROBE"
	filterVariable = "TEST_FILTER" // "namespaces", or "all": Landlock too
)

func TestMain(m *testing.M) {
	if os.Getenv(probeVariable) == "" {
		os.Exit(m.Run())
	}
	if which := os.Getenv(filterVariable); which != "" {
		filter(which == "all")
	}
	_ = json.NewEncoder(os.Stdout).Encode(sandbox.Try(context.Background(), os.Getenv("PATH")))
}

// filter refuses namespaces to this process, as containers do, and Landlock, as if the kernel had none.
func filter(landlock bool) {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWUTS
	step := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	refuse := func(errno unix.Errno) unix.SockFilter {
		return step(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
	}
	const equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	from := uint32(1 << 20)
	if landlock {
		from = unix.SYS_LANDLOCK_CREATE_RULESET
	}
	program := []unix.SockFilter{
		step(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, 0),
		step(equal, unix.SYS_UNSHARE, 6, 0),
		step(equal, unix.SYS_CLONE3, 6, 0),
		step(equal, from, 5, 0),
		step(equal, unix.SYS_CLONE, 0, 2),
		step(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 16, 0, 0),
		step(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 1, 0),
		step(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0),
		refuse(unix.EPERM),
		refuse(unix.ENOSYS),
	}
	runtime.LockOSThread()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	const set, allThreads = 1, 1
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, set, allThreads, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		panic(errno)
	}
}

// What starts, and the true cause of what does not, are found on each kind of host.
func TestProbe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nobody := "setpriv --bounding-set -all --inh-caps -all --ambient-caps -all "
	for name, c := range map[string]struct {
		script    string // "$0" is the program that probes
		kind      sandbox.Kind
		why, mend string
	}{
		"as it is":           {`"$0"`, sandbox.Bubblewrap, "", ""},
		"without bubblewrap": {`PATH=/nowhere "$0"`, sandbox.Landlock, "not installed", "apt-get install bubblewrap"},
		"namespaces off": {
			`unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec ` + nobody + `"$0"' "$0"`, sandbox.Landlock,
			"user.max_user_namespaces is 0", "sysctl user.max_user_namespaces",
		},
		"in a container":            {filterVariable + `=namespaces "$0"`, sandbox.Landlock, "a seccomp filter", "docker run"},
		"in one on an older kernel": {filterVariable + `=all "$0"`, sandbox.None, "the kernel has no Landlock", "docker run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("sh", "-c", c.script, self)
			cmd.Env = append(os.Environ(), probeVariable+"=1")
			said, err := cmd.CombinedOutput()
			var p sandbox.Probe
			if err != nil || json.Unmarshal(said, &p) != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if p.Kind != c.kind || !strings.Contains(p.Why, c.why) || !strings.Contains(p.Mend, c.mend) {
				t.Errorf("got %+v, want %q: %q: %q", p, c.kind, c.why, c.mend)
			}
		})
	}
}
