//go:build !windows

// Command relay runs AI agent CLIs over an epic's task graph, unattended, and can prove afterwards what it did.
package main

import (
	"os"

	"relay/cmd/relay/command"
)

func main() {
	os.Exit(command.Main(command.Options{}))
}
