package main

import (
	"time"

	"relay/orchestrator/words"
)

// The words of package words, by the names that every command uses.

func safe(s string) string              { return words.Safe(s) }
func line(s string, width int) string   { return words.Line(s, width) }
func count(n int, noun string) string   { return words.Count(n, noun) }
func span(d time.Duration) string       { return words.Span(d) }
func some(names []string, n int) string { return words.Some(names, n) }
func after(text string) string          { return words.After(text) }
