//go:build !linux && !darwin

package durable

import "os"

// machineID returns "": this system does not say.
func machineID() string { return "" }

// onlyHere returns false: this system does not say.
func onlyHere(*os.File) bool { return false }
