package discussion

import (
	"bytes"
	"fmt"

	"relay/attempts/internal/yamltext"
	"relay/internal/plaintext"
)

func encode(e *Entry) ([]byte, error) {
	var b bytes.Buffer
	y := newWriter(&b)
	y.Fields(0, e)
	_ = y.Flush() // a buffer takes everything
	return b.Bytes(), checkSize(b.Len())
}

func newWriter(b *bytes.Buffer) *yamltext.Writer {
	y := yamltext.NewWriter(b)
	y.Whole = true
	return y
}

func checkSize(n int) error {
	if n > MaxSize {
		return fmt.Errorf("the entry would have %d bytes, and may have %d", n, MaxSize)
	}
	return nil
}

func writeScalar(key, value string) writeItem {
	return func(y *yamltext.Writer, indent int) { y.Line(indent, key, ": ", yamltext.Scalar(value)) }
}

func (l *Ledger) clean(text string) string {
	text = plaintext.Clean(text)
	if l.o.Clean != nil {
		text = plaintext.Clean(l.o.Clean(text))
	}
	return text
}

func (l *Ledger) line(text string) string { return plaintext.Line(l.clean(text)) }
