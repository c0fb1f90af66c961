package discussion

import (
	"bytes"
	"fmt"

	"relay/attempts/internal/yamltext"
	"relay/internal/plaintext"
)

func encode(e *Entry) ([]byte, error) {
	var b bytes.Buffer
	y := yamltext.NewWriter(&b)
	y.Line(0, keyID, ": ", yamltext.Scalar(e.ID))
	y.Line(0, keyTopic, ": ", yamltext.Scalar(e.Topic))
	writeText(y, 0, keySummary, e.Summary)
	header(y, keyPositions, len(e.Positions))
	for _, p := range e.Positions {
		y.Line(2, "- by: ", yamltext.Scalar(p.By))
		writeText(y, 4, "stance", p.Stance)
		writeText(y, 4, "rationale", p.Rationale)
	}
	y.Line(0, keyStatus, ": ", yamltext.Scalar(string(e.Status)))
	y.Line(0, keyCreated, ": ", yamltext.Scalar(e.Created))
	if e.Origin != "" {
		y.Line(0, keyOrigin, ": ", yamltext.Scalar(e.Origin))
	}
	header(y, keyRelated, len(e.Related))
	for _, id := range e.Related {
		y.Line(2, "- ", yamltext.Scalar(id))
	}
	header(y, keyLinks, len(e.Links))
	for _, k := range e.Links {
		writeLink(k)(y, 2)
	}
	y.Line(0, keyHistory, ":")
	for _, c := range e.History {
		writeChange(c)(y, 2)
	}
	if err := y.Flush(); err != nil {
		return nil, err
	}
	if err := checkSize(b.Len()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// header begins a list of so many items.
func header(y *yamltext.Writer, key string, items int) {
	end := ":"
	if items == 0 {
		end = ": []"
	}
	y.Line(0, key, end)
}

func checkSize(n int) error {
	if n > MaxSize {
		return fmt.Errorf("the entry would have %d bytes, and may have %d", n, MaxSize)
	}
	return nil
}

func writeChange(c Change) writeItem {
	return func(y *yamltext.Writer, indent int) {
		y.Line(indent, "- status: ", yamltext.Scalar(string(c.Status)))
		writeText(y, indent+2, "note", c.Note)
		y.Line(indent+2, "at: ", yamltext.Scalar(c.At))
		y.Line(indent+2, "by: ", yamltext.Scalar(c.By))
	}
}

func writeLink(k Link) writeItem {
	return func(y *yamltext.Writer, indent int) {
		y.Line(indent, "- entry_id: ", yamltext.Scalar(k.To))
		writeText(y, indent+2, "relation", k.Relation)
		y.Line(indent+2, "at: ", yamltext.Scalar(k.At))
		y.Line(indent+2, "by: ", yamltext.Scalar(k.By))
	}
}

func writeScalar(key, value string) writeItem {
	return func(y *yamltext.Writer, indent int) { y.Line(indent, key, ": ", yamltext.Scalar(value)) }
}

// writeText writes a text of any content, also an empty one.
func writeText(y *yamltext.Writer, indent int, key, text string) {
	if text == "" {
		y.Line(indent, key, `: ""`)
		return
	}
	y.Text(indent, key, text)
}

func (l *Ledger) clean(text string) string {
	text = plaintext.Clean(text)
	if l.o.Clean != nil {
		text = plaintext.Clean(l.o.Clean(text))
	}
	return text
}

func (l *Ledger) line(text string) string { return plaintext.Line(l.clean(text)) }
