package project

import "time"

// How long a run that follows another waits for whoever was quicker to take the epic's lock: a command, most likely.
const (
	ReloadPause = 20 * time.Millisecond
	ReloadWait  = 10 * time.Second
)
