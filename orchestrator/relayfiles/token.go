package relayfiles

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// Names of files beside an agent's result.
const (
	EndFile      = "end.json"       // how its process ended
	ProgressFile = "progress.jsonl" // what it has said of its progress
)

// The errors of CheckResult.
var (
	ErrEnded   = errors.New("the attempt has ended: nothing more can be reported for it")
	ErrForeign = errors.New("RELAY_RESULT is not that of this attempt")
)

// CheckResult returns an error unless result is a path that Out has made for the turn of an attempt, and the turn has not ended. Mark names
// the attempt. Only the agent of the turn knows that path.
func CheckResult(result, mark string) error {
	hash, err := os.ReadFile(beside(result, outFile))
	if err != nil || git.Exists(beside(result, EndFile)) {
		return ErrEnded
	}
	if subtle.ConstantTimeCompare(hash, []byte(hashOf(filepath.Base(filepath.Dir(result)), mark))) != 1 {
		return ErrForeign
	}
	return nil
}

func hashOf(token, mark string) string {
	sum := sha256.Sum256([]byte(mark + "\n" + token))
	return hex.EncodeToString(sum[:])
}

// beside returns a file in the folder of a turn, whose agent writes its result there or, by Out, below it.
func beside(result, name string) string {
	folder := filepath.Dir(result)
	if above := filepath.Dir(folder); filepath.Base(above) == outFolder {
		folder = filepath.Dir(above)
	}
	return filepath.Join(folder, name)
}
