// Command relay runs AI agent CLIs over an epic's task graph, unattended, and can prove afterwards what it did.
package main

import (
	"context"
	"os"
	"runtime/debug"
)

// memoryLimit is where the collector begins to work for every byte: relay promises to stay below 64 MiB.
const memoryLimit = 48 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	os.Exit(relay(context.Background(), os.Args[1:]))
}

// relay is the program from its arguments to its exit code.
func relay(ctx context.Context, args []string) int {
	a := newApp()
	root := newRootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.failure()
	}
	return a.exit(err)
}
