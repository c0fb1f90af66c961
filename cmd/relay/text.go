package main

import (
	"time"

	"relay/orchestrator/text"
)

// What package text has, by the names that every command uses.

func safe(s string) string              { return text.Safe(s) }
func line(s string, width int) string   { return text.Line(s, width) }
func count(n int, noun string) string   { return text.Count(n, noun) }
func span(d time.Duration) string       { return text.Span(d) }
func some(names []string, n int) string { return text.Some(names, n) }
func after(why string) string           { return text.After(why) }
