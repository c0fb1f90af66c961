package project

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// BackupDir returns where a run keeps its copy of .git: of one checkout, and in that of one relay folder, for two runs can
// share a checkout. Without a home it stays in relay's own folder.
func (p *Project) BackupDir() string {
	all := backupDirs(p.Session.Environ, p.Root)
	if all == "" {
		return ""
	}
	return filepath.Join(all, pathHash(p.Dir))
}

// backupDirs returns the folder with the copies of .git of all runs in a checkout: outside of it, where rm -rf . does
// not reach them.
func backupDirs(environ []string, root string) string {
	state := Lookup(environ, "XDG_STATE_HOME")
	if home := Lookup(environ, "HOME"); state == "" && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if runtime.GOOS == "windows" {
		state = Lookup(environ, "LOCALAPPDATA")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "relay", "git-copy", pathHash(root))
}

// newestBackup returns the newest copy of .git that a killed run in this checkout has left, or "".
func newestBackup(environ []string, root string) string {
	folder := backupDirs(environ, root)
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

// pathHash returns a hash of a repository's path, for names.
func pathHash(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}
