package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// vault is where a run keeps its copy of .git: of one checkout, and in that of one relay folder, for two runs can share
// a checkout. Without a home it stays in relay's own folder.
func (p *place) vault(a *app) string {
	all := a.vaults(p.root)
	if all == "" {
		return ""
	}
	return filepath.Join(all, fingerprint(p.dir))
}

// vaults has the copies of .git of all runs in a checkout: outside of it, where rm -rf . does not reach them.
func (a *app) vaults(root string) string {
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

// keptGit is the newest copy of .git that a killed run in this checkout has left, or "".
func (a *app) keptGit(root string) string {
	folder := a.vaults(root)
	entries, err := os.ReadDir(folder)
	if folder == "" || err != nil {
		return ""
	}
	newest, kept := time.Time{}, ""
	for _, e := range entries {
		copied := filepath.Join(folder, e.Name())
		if head, err := os.Lstat(filepath.Join(copied, "HEAD")); err == nil && head.ModTime().After(newest) {
			newest, kept = head.ModTime(), copied
		}
	}
	return kept
}

// fingerprint tells repositories apart by their path.
func fingerprint(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}
