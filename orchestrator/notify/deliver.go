package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/secrets"
)

var (
	errSlow = errors.New("no answer within " + plaintext.Span(tryWait))
	errOver = errors.New("no answer before the run was over")
)

// Send delivers a notification once. Its error has no private parts of the receiver.
func (r *Receiver) Send(ctx context.Context, host *Host, e plaintext.Notification) error {
	e = secrets.Clean(secrets.Cleaner{Redactor: host.Redact}, e)
	e.Version = 1
	body, err := e.Render(r.Template)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tryWait, errSlow)
	defer cancel()
	var who, answer string
	if r.URL != "" {
		who, answer, err = r.post(ctx, body)
	} else {
		argv := r.Argv
		if r.Desktop {
			argv, body = desktop(runtime.GOOS, e, string(body), r.Template), nil
		}
		who = argv[0]
		answer, err = host.Run(ctx, argv, body)
	}
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		err = errors.New("it is not installed")
	}
	fault := fmt.Sprintf("%s: %v%s", who, err, plaintext.Because(plaintext.Line(answer)))
	return errors.New(host.Redact.Text(plaintext.Fit(r.hide(fault), maxFault)))
}

// maxFault is the width of a fault.
const maxFault = 300

// post sends a notification to an address, and returns its host with the answer. It follows no redirect: the user has not said that the
// report may go there.
func (r *Receiver) post(ctx context.Context, body []byte) (host, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return "url", "", err
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if json.Valid(body) {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if whole, ok := errors.AsType[*url.Error](err); ok { // it has the address
		err = whole.Err
	}
	if err != nil {
		return req.URL.Host, "", err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode < http.StatusMultipleChoices {
		return "", "", nil
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return req.URL.Host, string(said), errors.New("it answered " + resp.Status)
}

// desktop returns the program that shows a notification on a system's desktop, with its arguments.
func desktop(system string, e plaintext.Notification, text, template string) []string {
	title := "relay: " + strings.ReplaceAll(e.Event, "_", " ")
	if template == "" {
		text = e.Message()
	}
	if system == "darwin" {
		const show = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		return []string{"osascript", "-e", show, title, text}
	}
	return []string{"notify-send", "--app-name=relay", "--", title, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)}
}

// hide removes what a receiver's messages must not show from a text: the parts of its address and its arguments. Short ones are common
// words.
func (r *Receiver) hide(text string) string {
	const shortest = 8
	at, _ := url.Parse(r.URL)
	parts := func(c rune) bool { return strings.ContainsRune(" /?&=:@", c) }
	private := strings.FieldsFunc(r.URL+" "+strings.Join(r.Argv[min(1, len(r.Argv)):], " "), parts)
	slices.SortFunc(private, func(a, b string) int { return len(b) - len(a) })
	for _, p := range private {
		if len(p) >= shortest && (at == nil || !strings.Contains(at.Host, p)) {
			text = strings.ReplaceAll(text, p, "…")
		}
	}
	return text
}
