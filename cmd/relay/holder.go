package main

import (
	"fmt"
	"time"

	"relay/attempts"
)

// holderText says who holds the epic.
func holderText(h *attempts.Holder) string {
	if h == nil || h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
}

// holderWords says that another relay holds the epic.
func holderWords(e *attempts.HeldError) string {
	if e.Foreign {
		return "the epic is held by " + holderText(&e.Holder) + ", another machine"
	}
	return "relay is already at work on this epic: " + holderText(&e.Holder)
}
