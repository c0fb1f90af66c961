package ledgersync

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Lines calls f with the id of every line from an offset on that can be an entry, the oldest first. An offset that is not
// the beginning of a line stands for that of the ledger.
func (w *Writer) Lines(from int64, f func(id string)) error {
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
			f(id)
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
