package process

import (
	"runtime"
	"sync"
)

// enoughThreads is more than relay or a guardian was ever seen to use beside one for each process it waits for.
const enoughThreads = 12

// ReserveThreads makes the threads now that this process will need later. A Go program that cannot make one when it
// needs it ends at once, and a machine can run out of room for them in the middle of the night: threads and processes
// count as one. Those that are there stay, and cost next to nothing.
func ReserveThreads() {
	var up, done sync.WaitGroup
	release := make(chan struct{})
	for range enoughThreads {
		up.Add(1)
		done.Go(func() {
			runtime.LockOSThread() // each on one of its own
			defer runtime.UnlockOSThread()
			up.Done()
			<-release
		})
	}
	up.Wait()
	close(release)
	done.Wait()
}
