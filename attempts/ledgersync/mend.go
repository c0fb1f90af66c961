package ledgersync

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"relay/attempts/internal/durable"
)

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
