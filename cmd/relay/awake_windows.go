package main

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

// stayAwake asks the system not to sleep until release is called, or relay is gone, however it ends: the wish is a
// thread's own, and ends with it. Where it fails the night goes on.
func (a *app) stayAwake(ctx context.Context, _ string) (release func()) {
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

// ask wishes on behalf of the calling thread.
func ask(wish uintptr) error {
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	if err := call.Find(); err != nil {
		return err
	}
	if before, _, err := call.Call(wish); before == 0 {
		return err
	}
	return nil
}

func (a *app) canStayAwake(context.Context) (name string, err error) {
	return "SetThreadExecutionState", nil
}
