package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"runtime"
)

// vault is where the copy of .git is kept during a run: outside the checkout, where rm -rf . does not reach it. Without
// a home it stays in relay's own folder.
func (a *app) vault(root string) string {
	state := a.lookup("XDG_STATE_HOME")
	if home := a.lookup("HOME"); state == "" && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if runtime.GOOS == "windows" {
		state = a.lookup("LOCALAPPDATA")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "relay", "git-copy", fingerprint(root))
}

// fingerprint tells repositories apart by their path.
func fingerprint(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}
