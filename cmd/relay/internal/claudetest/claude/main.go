// Command claude is the stand-in for Claude Code as a program of its own. Scripts start it a thousand times, and it starts
// four times as fast as a program that has all of relay in it.
package main

import "relay/cmd/relay/internal/claudetest"

func main() { claudetest.Run() }
