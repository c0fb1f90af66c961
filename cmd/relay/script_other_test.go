//go:build !unix

package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// signalNamed knows one signal where there are no others; scripts that need more begin with [!unix] skip.
func signalNamed(*testscript.TestScript, string) os.Signal { return os.Kill }
