package ledgersync

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"relay/attempts/internal/durable"
	"relay/epic/plaintext"
)

// config is what a checkout without a configuration gets. It has every key: without one of them the program's own validate fails.
const config = `version: "0.1"
project:
  name: %s
philosophy:
  required: []
  optional: []
codebases: []
ledger:
  maxEntriesToLoad: 20
  summarizeAfter: 50
constraints: []
`

// Writer appends to the ledger of one checkout. Other programs may append to it at the same time.
type Writer struct {
	fsys  durable.FS
	valid *Validator
	fault durable.Fault
}

// Open makes the ledger's folder in the top folder of a checkout, with a configuration, unless they are there. A folder that it makes is
// ignored by git; one that is there is used as it is. project is the name that a new configuration has. fault is called at each point that
// a crash can cut; nil in use.
func Open(top, project string, fault func(point string) error) (*Writer, error) {
	fsys, err := durable.OpenDisk(top)
	if err != nil {
		return nil, err
	}
	return NewWriter(fsys, project, fault)
}

// NewWriter is Open for a disk that is open already; the writer closes it, also when it cannot be made.
func NewWriter(fsys durable.FS, project string, fault durable.Fault) (*Writer, error) {
	valid, err := NewValidator()
	w := &Writer{fsys: fsys, valid: valid, fault: fault}
	if err == nil {
		err = w.prepare(project)
	}
	if err != nil {
		return nil, errors.Join(err, fsys.Close())
	}
	return w, nil
}

func (w *Writer) prepare(project string) error {
	if err := durable.MkdirIgnored(w.fsys, Folder); err != nil {
		return err
	}
	info, err := w.fsys.Lstat(Folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: records need one of that name", Folder)
	}
	return durable.ReplaceMissing(w.fsys, path.Join(Folder, ConfigFile), durable.Text([]byte(newConfig(project))))
}

func newConfig(project string) string {
	quoted, _ := json.Marshal(project) // a string, and JSON is YAML, too
	return fmt.Sprintf(config, quoted)
}

// IsNewConfig reports whether a checkout, whose top folder is given, has the configuration that Open makes, unchanged.
func IsNewConfig(top, project string) bool {
	found, err := os.ReadFile(filepath.Join(top, Folder, ConfigFile))
	return err == nil && string(found) == newConfig(project)
}

// Close gives the checkout back.
func (w *Writer) Close() error { return w.fsys.Close() }

// Encode returns an entry as a line of a ledger, without its end. Lists and maps that the format requires are empty rather than missing. An
// entry that [Schema] refuses is an error.
func (w *Writer) Encode(e *Entry) ([]byte, error) {
	normalize(reflect.ValueOf(e))
	var b bytes.Buffer
	if err := plaintext.WriteJSON(&b, e, ""); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(line) > MaxLine {
		return nil, fmt.Errorf("entry %s has %d bytes, and may have %d", e.ID, len(line), MaxLine)
	}
	if problems := w.valid.Check(line); len(problems) > 0 {
		return nil, fmt.Errorf("entry %s: %s", e.ID, strings.Join(problems, "; "))
	}
	return line, nil
}

// Append writes entries at the end of the ledger, in one write, and makes them durable. A last line that has no end gets one before; half
// an entry, which an interrupted writer has left, is removed: mended says so, in words.
func (w *Writer) Append(entries ...*Entry) (mended string, err error) {
	var lines [][]byte
	for _, e := range entries {
		line, err := w.Encode(e)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return w.AppendLines(lines...)
}

// AppendLines is Append for entries that Encode has made lines of.
func (w *Writer) AppendLines(encoded ...[]byte) (mended string, err error) {
	if len(encoded) == 0 {
		return "", nil
	}
	lines := append(bytes.Join(encoded, []byte("\n")), '\n')
	name := path.Join(Folder, LedgerFile)
	unlock, err := durable.WaitNewLock(w.fsys, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	log, err := durable.OpenLog(w.fsys, name, w.fault)
	if err != nil {
		return "", err
	}
	defer log.Close()
	mended, err = w.mendEnd(name, &lines)
	if err != nil {
		return "", err
	}
	if err := log.Write(1, lines); err != nil {
		return mended, err
	}
	return mended, log.Wait(1)
}

// mendEnd repairs a ledger whose last line has no end, before lines are appended. A whole entry, or a line too long to read, gets its end
// in front of lines; half an entry is cut off, and mended says so unless it is the beginning of lines.
func (w *Writer) mendEnd(name string, lines *[]byte) (mended string, err error) {
	f, err := durable.Regular(w.fsys, name, os.O_RDWR)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	begin := max(0, info.Size()-MaxLine-1)
	end := make([]byte, info.Size()-begin)
	if _, err := f.ReadAt(end, begin); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	at := bytes.LastIndexByte(end, '\n') + 1
	torn := end[at:]
	if len(torn) == 0 {
		return "", nil
	}
	if _, _, err := Decode(bytes.TrimPrefix(torn, []byte(byteOrderMark))); err == nil || at == 0 && begin > 0 {
		*lines = append([]byte("\n"), *lines...)
		return "", nil
	}
	if !bytes.HasPrefix(*lines, torn) {
		mended = fmt.Sprintf("%s: half an entry (%d bytes) at its end was removed", name, len(torn))
	}
	return mended, errors.Join(f.Truncate(begin+int64(at)), f.Sync())
}
