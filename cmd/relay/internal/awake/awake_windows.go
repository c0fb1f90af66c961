package awake

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sys/windows"
)

// What SetThreadExecutionState takes.
const (
	untilToldOtherwise = 0x80000000 // ES_CONTINUOUS
	systemRequired     = 0x00000001 // ES_SYSTEM_REQUIRED
)

// Hold asks the system not to sleep until release is called, or relay is gone, however it ends: the request belongs to a
// thread, and ends with it. A request that fails is not reported.
func Hold(ctx context.Context, _ []string, _ string) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		if ask(untilToldOtherwise|systemRequired) == nil {
			<-ctx.Done()
			_ = ask(untilToldOtherwise)
		}
	})
	return func() { cancel(); holding.Wait() }
}

// ask makes a request for the calling thread.
func ask(request uintptr) error {
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	if err := call.Find(); err != nil {
		return err
	}
	if before, _, err := call.Call(request); before == 0 {
		return err
	}
	return nil
}

// Check returns the name of the system call that Hold makes.
func Check(context.Context, []string) (name string, err error) {
	return "SetThreadExecutionState", nil
}
