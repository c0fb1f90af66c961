package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "relay: relay does not run on Windows yet; use WSL (https://learn.microsoft.com/windows/wsl/install)")
	os.Exit(2)
}
