package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/artifact"
	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
)

// LedgerFile is the path of the ledger below the top folder of a checkout, with slashes.
const LedgerFile = ledgersync.Folder + "/" + ledgersync.LedgerFile

// tag is the first tag of every entry that relay writes of a run.
const tag = "relay"

// OwnRecordFile reports whether a file of a checkout, whose top folder is given, is written by relay alone: an artifact of a run, what
// relay puts beside the ledger, or an empty ledger.
func OwnRecordFile(top, p string) bool {
	full := filepath.Join(top, filepath.FromSlash(p))
	switch {
	case strings.Contains(p, discussion.TempSuffix): // what relay is about to rename
		first, _, _ := strings.Cut(p, "/")
		own := []string{ledgersync.Folder, discussion.TopFolder, artifact.TopFolder}
		return slices.Contains(own, strings.TrimSuffix(first, discussion.TempSuffix))
	case p == LedgerFile:
		info, err := os.Lstat(full)
		return err == nil && info.Mode().IsRegular() && info.Size() == 0 // see Apart
	case p == path.Join(ledgersync.Folder, ledgersync.ConfigFile):
		return ledgersync.IsNewConfig(top, filepath.Base(top))
	case path.Dir(p) == discussion.Folder:
		return isRelays(full)
	case p == discussion.LockFile:
		return true
	case path.Dir(path.Dir(p)) != artifact.Folder || path.Ext(p) != ".yaml":
		return false
	}
	a, _, err := artifact.ReadFile(full)
	if err != nil {
		return false
	}
	_, ofRun := a.Metadata[tag]
	return ofRun
}

// RecordsOnce returns the lines of a ledger, each once.
func RecordsOnce(lines []byte) []byte { return added(lines, nil) }

func trimmed(line []byte) string { return strings.TrimRight(string(line), "\r\n") }
