package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/secrets"
)

// Fault is why a notification was not delivered.
type Fault struct {
	text  string
	final bool // another try would fail too
}

// Error returns it in words, without private parts of the receiver.
func (f *Fault) Error() string { return f.text }

// orNil returns the fault as an error.
func (f *Fault) orNil() error {
	if f == nil {
		return nil
	}
	return f
}

// Send delivers a notification once.
func (r *Receiver) Send(ctx context.Context, host Host, e plaintext.Notification) *Fault {
	e = secrets.Clean(secrets.Cleaner{Redactor: host.Redact}, e)
	body, err := e.Render(r.Template)
	if err != nil {
		return &Fault{"its template: " + err.Error(), true}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tryWait, errSlow)
	defer cancel()
	var fault *Fault
	switch {
	case r.URL != "":
		fault = r.post(ctx, body)
	case r.Desktop:
		fault = program(ctx, host, desktop(runtime.GOOS, e, body, r.Template), nil)
	default:
		fault = program(ctx, host, r.Argv, body)
	}
	if fault != nil {
		fault.text = host.Redact.Text(plaintext.Fit(r.hide(fault.text), maxFault))
	}
	return fault
}

var (
	errSlow = errors.New("no answer within " + plaintext.Span(tryWait))
	errOver = errors.New("no answer before the run was over")
)

// maxFault is the width of a fault.
const maxFault = 300

// program has a program deliver a notification.
func program(ctx context.Context, host Host, argv []string, body []byte) *Fault {
	printed, err := host.Run(ctx, argv, body)
	if err == nil {
		return nil
	}
	said := err.Error()
	if ctx.Err() != nil {
		said = context.Cause(ctx).Error()
	}
	missing := errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
	return &Fault{argv[0] + plaintext.Because(said) + plaintext.Because(plaintext.Line(printed)), missing}
}

// post sends a notification to an address. It follows no redirect: nobody said that the report may go there.
func (r *Receiver) post(ctx context.Context, body []byte) *Fault {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return &Fault{"its url is not an address", true}
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if json.Valid(body) {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if whole, ok := errors.AsType[*url.Error](err); ok { // it has the address
			err = whole.Err
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return &Fault{req.URL.Host + ": " + err.Error(), false}
	}
	defer func() { _ = resp.Body.Close() }() // only read
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	switch code := resp.StatusCode; {
	case code < 300:
		return nil
	case code < 400:
		return &Fault{fmt.Sprintf("%s answered %s; relay does not follow it: write the new address into url", req.URL.Host, resp.Status), true}
	default:
		said := fmt.Sprintf("%s answered %s%s", req.URL.Host, resp.Status, plaintext.Because(plaintext.Line(string(answer))))
		return &Fault{said, code < 500 && code != http.StatusTooManyRequests}
	}
}

// desktop returns the program that shows a notification on a system's desktop, with its arguments.
func desktop(system string, e plaintext.Notification, body []byte, template string) []string {
	title := "relay: " + strings.ReplaceAll(e.Event, "_", " ")
	text := e.Message()
	if template != "" {
		text = string(body)
	}
	if system == "darwin" {
		return []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, text,
		}
	}
	return []string{"notify-send", "--app-name=relay", "--", title, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)}
}
