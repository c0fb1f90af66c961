package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clockOff is added to Go's own clock in a build for this test: TEST_CLOCK_OFFSET is how many seconds it is off.
const clockOff = `
var testOffset = func() (seconds int64) {
	text, _ := syscall.Getenv("TEST_CLOCK_OFFSET")
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' {
			seconds = 10*seconds + int64(c-'0')
		}
	}
	if len(text) > 0 && text[0] == '-' {
		return -seconds
	}
	return seconds
}()
`

// One host's clock is ten minutes ahead and the other's is ten behind: no beat, lease or limit depends on that, nor how long an attempt
// took.
func TestFaultClock(t *testing.T) {
	t.Parallel()
	needsServer(t)
	s := newSite(t, "working", "  timeout_minutes: 5\n")
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	s.must(err)
	clock := filepath.Join(strings.TrimSpace(string(goroot)), "src/time/time.go")
	text, err := os.ReadFile(clock)
	s.must(err)
	off := strings.Replace(string(text), "sec, nsec, mono := runtimeNow()\n", "sec, nsec, mono := runtimeNow()\n\tsec += testOffset\n", 1)
	off = strings.Replace(off, "import (", "import (\n\t\"syscall\"", 1)
	s.must(write(s.path("off/time.go"), off+clockOff))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {clock: s.path("off/time.go")}})
	s.must(err)
	s.must(write(s.path("off/overlay.json"), string(replace)))
	build := exec.Command("go", "build", "-trimpath", "-overlay", s.path("off/overlay.json"), "-o", s.path("off/worker"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	s.start("server")
	s.start("build1", "TEST_CLOCK_OFFSET=600")
	s.start("build2", "TEST_CLOCK_OFFSET=-600")
	s.start("decider")
	s.pass()
	if code := s.ended("decider"); code != 0 {
		t.Errorf("it ended with %d\n%s", code, s.logs())
	}
	s.holds(2, false)
	if took := regexp.MustCompile(`T[12] completed in (\S+),`).FindAllStringSubmatch(s.read("decider.log"), -1); len(took) != 2 ||
		strings.ContainsAny(took[0][1]+took[1][1], "mh-") {
		t.Errorf("it took %v\n%s", took, s.logs())
	}
	t.Log(s.run("relay-temporal", "show", "T1"))
}
