package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"runtime"
	"strings"
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

// shellQuote writes a path so that a person can paste it into a shell.
func shellQuote(path string) string {
	plain := func(r rune) bool { return !strings.ContainsRune(" \t'\"\\$`!*?[](){}<>|&;#~", r) }
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
