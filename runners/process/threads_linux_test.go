package process

import (
	"os"
	"strconv"
	"testing"
)

// A guardian that waits for its first command has made all the threads it will need, and no more come with the next.
func TestThreadsAreReserved(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	threads := func() int {
		list, err := os.ReadDir("/proc/" + strconv.Itoa(g.link.proc.Pid) + "/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	run(t, g, shell(t, "exit 0"))
	before := threads()
	if before < enoughThreads {
		t.Errorf("%d threads, want %d at least", before, enoughThreads)
	}
	for range 20 {
		for _, p := range []Process{start(t, g, shell(t, "exit 0")), start(t, g, shell(t, "sleep 0.01")), start(t, g, shell(t, "exit 0"))} {
			p.Wait()
		}
	}
	if after := threads(); after != before {
		t.Errorf("%d threads after 60 commands, %d before", after, before)
	}
}
