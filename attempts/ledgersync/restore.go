package ledgersync

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"relay/attempts/internal/durable"
)

// Size returns the length of the ledger in bytes; 0 when it is not there.
func (w *Writer) Size() (int64, error) {
	info, err := w.fsys.Lstat(path.Join(Folder, LedgerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

const idLength = 36

// Lines calls f with the id and the text of every line from an offset on that can be an entry, the oldest first. An offset that is not
// the beginning of a line stands for that of the ledger.
func (w *Writer) Lines(from int64, f func(id string, line []byte)) error {
	file, err := durable.Regular(w.fsys, path.Join(Folder, LedgerFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if !beginsLine(file, from) {
		from = 0
	}
	return eachLine(io.NewSectionReader(file, from, 1<<62), func(l line) error {
		if id := idOf(l.text); id != "" {
			f(id, l.text)
		}
		return nil
	})
}

func beginsLine(file io.ReaderAt, at int64) bool {
	if at == 0 {
		return true
	}
	before := make([]byte, 1)
	_, err := file.ReadAt(before, at-1)
	return err == nil && before[0] == '\n'
}

// idOf returns the id of an entry; "" : it is none. To decode each line of a ledger that others have filled takes too long: an id that
// comes first, as in all that relay and the program of LedgerSync write, is taken as it stands.
func idOf(text []byte) string {
	if len(text) == 0 || text[0] != '{' {
		return ""
	}
	if rest, ok := bytes.CutPrefix(text, []byte(`{"id":"`)); ok && text[len(text)-1] == '}' && len(rest) > idLength && rest[idLength] == '"' {
		if id := rest[:idLength]; bytes.IndexByte(id, '"') < 0 && bytes.IndexByte(id, '\\') < 0 {
			return string(id)
		}
	}
	var e struct {
		ID string `json:"id"`
	}
	if !bytes.Contains(text, []byte(`"id"`)) || json.Unmarshal(text, &e) != nil {
		return ""
	}
	return e.ID
}

// Restore puts lines back that somebody has changed: those whose id is a key of lines. The bytes of all others stay as they are. It
// returns how many were changed.
func (w *Writer) Restore(lines map[string][]byte) (restored int, err error) {
	name := path.Join(Folder, LedgerFile)
	unlock, err := durable.WaitLock(w.fsys, name)
	if err != nil {
		return 0, err
	}
	defer unlock()
	file, err := durable.Regular(w.fsys, name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	var now bytes.Buffer
	for line := range bytes.Lines(text) {
		there := bytes.TrimSpace(line)
		if want, ok := lines[idOf(there)]; ok && !bytes.Equal(there, want) {
			restored++
			line = append(bytes.Clone(want), '\n')
		}
		now.Write(line)
	}
	content := durable.Text(now.Bytes())
	content.Before = func() error {
		info, err := file.Stat()
		if err == nil && info.Size() != int64(len(text)) {
			err = fmt.Errorf("%s was written to by another program meanwhile", name)
		}
		return err
	}
	return restored, durable.Replace(w.fsys, name, w.fault, content)
}
