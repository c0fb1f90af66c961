package machines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// told keeps what is heard of an attempt, the last of it where relay show finds it and all for relay logs, until the attempt's own files
// come.
type told struct {
	files relayfiles.Files
	list  []relayfiles.Progress
}

func (t *told) add(message string) {
	t.list = append(t.list, relayfiles.Progress{At: time.Now(), Message: message})
	t.list = t.list[max(len(t.list)-5, 0):] // as many as relay show prints
	var text []byte
	for _, p := range t.list {
		line, _ := json.Marshal(p)
		text = append(append(text, line...), '\n')
	}
	_ = git.ReplaceFile(filepath.Join(t.files.Folder, relayfiles.ProgressFile), 0o600, text) // it is for who looks
	if log, err := os.OpenFile(t.files.Transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = log.WriteString(plaintext.Line(message) + "\n")
		_ = log.Close()
	}
}
