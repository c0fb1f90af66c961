package attemptfiles

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of files beside an agent's result.
const (
	EndFile      = "end.json"       // how its process ended
	ProgressFile = "progress.jsonl" // what it has said of its progress
	tokenFile    = "token"          // hash of the token of its turn
)

// TokenVariable names the variable that the agent of a turn finds the turn's token in.
const TokenVariable = "RELAY_TOKEN"

// The errors of CheckToken.
var (
	ErrEnded = errors.New("the attempt has ended: nothing more can be reported for it")
	ErrToken = errors.New(TokenVariable + " is not that of this attempt")
)

// NewToken returns a token for the turn of an agent that writes its result to a path; mark names the attempt. It is good until
// EndToken, or until the agent's process has ended. It fails when its hash cannot be written beside the result.
func NewToken(result, mark string) (token string, err error) {
	token = rand.Text()
	create := func() (*os.File, error) {
		return os.OpenFile(beside(result, tokenFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	f, err := create()
	if errors.Is(err, fs.ErrExist) { // of an earlier turn, or a link to somewhere
		EndToken(result)
		f, err = create()
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(hashOf(token, mark))
	return token, errors.Join(err, f.Close())
}

// EndToken makes the token of a turn worthless. An agent can stand in the way of that; then it is worthless because the process has ended.
func EndToken(result string) { _ = os.Remove(beside(result, tokenFile)) }

// CheckToken fails unless a token is that of the turn which writes its result to a path, and the turn goes on.
func CheckToken(result, mark, token string) error {
	if _, err := os.Lstat(beside(result, EndFile)); err == nil {
		return ErrEnded
	}
	hash, err := os.ReadFile(beside(result, tokenFile))
	if err != nil {
		return ErrEnded
	}
	if subtle.ConstantTimeCompare(hash, []byte(hashOf(token, mark))) != 1 {
		return ErrToken
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
