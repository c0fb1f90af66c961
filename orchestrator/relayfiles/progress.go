package relayfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"relay/epic/plaintext"
	"relay/runners"
)

// Progress is what an agent has said of how far it is.
type Progress struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"`
	Percent int       `json:"percent,omitempty"` // 0: it has not said
}

// MaxProgress bounds a message, in bytes; maxProgressFile bounds all of one turn.
const (
	MaxProgress     = 300
	maxProgressFile = 64 << 10
)

var errProgressFull = errors.New("enough was said of the progress: nothing more is noted in this turn")

// AddProgress adds what an agent says to the file beside its result.
func AddProgress(result string, p Progress) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	path := beside(result, ProgressFile)
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || info.Size()+int64(len(line)) >= maxProgressFile) {
		return errProgressFull
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// ReadProgress returns the last that an agent has said in the turns of an attempt, whose folder is given. It leaves out lines
// that it cannot read.
func ReadProgress(folder string, most int) (list []Progress) {
	list = readProgress(folder)
	for n := 1; ; n++ {
		turn := filepath.Join(folder, TurnFolder(n))
		if _, err := os.Lstat(turn); err != nil {
			return list[max(len(list)-most, 0):]
		}
		list = append(list, readProgress(turn)...)
	}
}

// TurnFolder returns the name of the folder, in that of an attempt, of a further turn of its agent.
func TurnFolder(n int) string { return fmt.Sprintf("fix-%d", n) }

func readProgress(folder string) (list []Progress) {
	text, _ := runners.ReadRegular(filepath.Join(folder, ProgressFile), maxProgressFile)
	for line := range bytes.Lines(text) {
		var p Progress
		if json.Unmarshal(line, &p) == nil && p.Message != "" {
			p.Message = plaintext.Line(plaintext.Head(p.Message, MaxProgress))
			list = append(list, p)
		}
	}
	return list
}
