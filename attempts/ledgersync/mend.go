package ledgersync

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"relay/attempts/internal/durable"
)

// mendEnd sees to a ledger whose last line has no end. A line that is whole, or too long to tell, gets one in front of
// lines; half a line that is the beginning of lines is cut off, and any other one is moved into a file beside.
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
	if beginsLine(f, info.Size()) {
		return "", nil
	}
	begin := max(0, info.Size()-MaxLine-1)
	end := make([]byte, info.Size()-begin)
	if _, err := f.ReadAt(end, begin); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	at := bytes.LastIndexByte(end, '\n') + 1
	torn := bytes.Clone(end[at:])
	if _, _, err := Decode(bytes.TrimPrefix(torn, []byte(byteOrderMark))); err == nil || at == 0 && begin > 0 {
		*lines = append([]byte("\n"), *lines...)
		if at == 0 && begin > 0 && err != nil {
			number, err := linesBefore(f, begin)
			return fmt.Sprintf("%s:%d: a line of more than %d MiB without an end: it has one now", name, number+1, MaxLine>>20), err
		}
		return "", nil
	}
	if !bytes.HasPrefix(*lines, torn) {
		if mended, err = w.moveTorn(name, f, begin+int64(at), torn); err != nil {
			return "", err
		}
	}
	if err := f.Truncate(begin + int64(at)); err != nil {
		return "", err
	}
	return mended, f.Sync()
}

// moveTorn keeps half a line, which begins at an offset of the ledger, and says so in words.
func (w *Writer) moveTorn(name string, ledger io.ReaderAt, at int64, torn []byte) (mended string, err error) {
	kept := path.Join(Folder, tornName)
	log, err := durable.OpenLog(w.fsys, kept, nil)
	if err != nil {
		return "", err
	}
	defer log.Close()
	if err := errors.Join(log.Write(1, append(bytes.Clone(torn), '\n')), log.Wait(1)); err != nil {
		return "", err
	}
	before, err := linesBefore(ledger, at)
	return fmt.Sprintf("%s:%d: half an entry (%d bytes) at its end: it is in %s now", name, before+1, len(torn), kept), err
}
