package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"io"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"relay/epic/plaintext"
)

//go:embed report.schema.json
var schema []byte

// Schema returns the JSON Schema of what JSON writes.
func Schema() json.RawMessage { return bytes.Clone(schema) }

// JSON writes the report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

const style = `body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 system-ui,sans-serif;color:#222}` +
	`code,pre{font:14px/1.4 ui-monospace,monospace;background:#f4f4f4}pre{padding:.6em;overflow:auto}` +
	`table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left;vertical-align:top}` +
	`@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}code,pre{background:#262626}td,th{border-color:#444}}`

// HTML writes the report as a page that loads nothing: the markdown, in which nothing is taken for HTML.
func (r *Report) HTML(w io.Writer, zone *time.Location) error {
	var markdown bytes.Buffer
	if err := r.Markdown(&markdown, zone); err != nil {
		return err
	}
	title := html.EscapeString(plaintext.Fit(r.Epic.Title, columnsWide))
	head := "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n" +
		"<title>" + title + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n"
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(markdown.Bytes(), w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</body>\n</html>\n")
	return err
}
