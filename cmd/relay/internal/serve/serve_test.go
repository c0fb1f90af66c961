package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/secrets"
	"relay/orchestrator/view/viewtest"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// A row that stands for several tasks has the buttons that decide on all of them.
func TestControlOfRow(t *testing.T) {
	t.Parallel()
	sv := serving(t, 400, 0, Options{Control: true})
	_, text, _ := sv.ask(t, "GET", sv.base, nil, nil)
	for _, want := range []string{`value="answer --same"`, `value="ungate --same"`, `>answer --same T29 A</button>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of the night lacks %s", want)
		}
	}
}

// secret is the value of an environment variable that tells of itself.
const secret = "sk-live-0123456789abcdef"

// served is a server of a made night, and the store that a run would have.
type served struct {
	*site
	*guard
	*httptest.Server

	base string

	store *attempts.Store
	at    atomic.Pointer[time.Time] // of the next event
	left  []attempts.Event
}

// serving serves a night of so many tasks, of which the last events are still to come.
func serving(tb testing.TB, tasks, later int, o Options) *served {
	tb.Helper()
	night := viewtest.Of(tb, tasks)
	root := tb.TempDir()
	dir := filepath.Join(root, ".agents-os", "relay")
	text, err := night.Epic.Encode()
	must(tb, err)
	must(tb, os.MkdirAll(dir, 0o755))
	must(tb, os.WriteFile(filepath.Join(dir, "epic.yml"), text, 0o644))
	sv := &served{}
	sv.at.Store(&time.Time{})
	sv.store, err = attempts.Open(attempts.Options{
		Dir: dir, Epic: night.Epic, Graph: night.Graph, Run: "20261125T220000Z-7c1e", Fresh: &attempts.Settings{MaxAttemptsPerTask: 3},
		Now: func() time.Time { return *sv.at.Load() },
	})
	must(tb, err)
	tb.Cleanup(func() { sv.store.Close() })
	sv.left = night.Events
	sv.append(tb, len(night.Events)-later)

	environ := []string{"HOME=" + root, "PATH=" + os.Getenv("PATH"), "API_KEY=" + secret}
	out := &bytes.Buffer{}
	o.App = &cli.App{
		In: strings.NewReader(""), Out: terminal.NewWriter(out), Err: terminal.NewWriter(out), Environ: environ, Dir: root,
		Now: func() time.Time { return night.Now }, Secrets: secrets.New(environ),
	}
	gitInit(tb, root)
	p, err := project.Locate(tb.Context(), project.Session{
		Dir: root, Environ: environ, Now: o.App.Now, Warn: func(text string) { tb.Log(text) },
	}, nil)
	must(tb, err)
	sv.guard, sv.site, err = newSite(tb.Context(), p, &o)
	must(tb, err)
	sv.base = sv.site.base
	sv.Server = httptest.NewServer(sv.guard)
	tb.Cleanup(func() {
		sv.CloseClientConnections() // browsers listen for events
		sv.Close()
	})
	_, sv.port, _ = net.SplitHostPort(sv.Listener.Addr().String())
	return sv
}

func gitInit(tb testing.TB, root string) {
	tb.Helper()
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"} {
		must(tb, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
		must(tb, os.WriteFile(filepath.Join(root, ".git", name), []byte(text), 0o644))
	}
	for _, name := range []string{"objects", "refs"} {
		must(tb, os.MkdirAll(filepath.Join(root, ".git", name), 0o755))
	}
}

// append writes the next events of the night into the log, as a run does.
func (sv *served) append(tb testing.TB, n int) {
	tb.Helper()
	for range n {
		e := sv.left[0]
		sv.left = sv.left[1:]
		sv.at.Store(&e.At)
		must(tb, sv.store.Append(e))
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// ask asks as a browser with the cookie does, unless change makes it another one.
func (sv *served) ask(tb testing.TB, method, path string, body io.Reader, change func(*http.Request)) (int, string, http.Header) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, sv.URL+path, body)
	must(tb, err)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: sv.cookie})
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	must(tb, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(tb, err)
	return answer.StatusCode, string(text), answer.Header
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	sv := serving(t, 40, 0, Options{})
	stranger := func(r *http.Request) { r.Header.Del("Cookie") }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	once := sv.onceToken()
	for _, c := range []struct {
		what, method, path string
		change             func(*http.Request)
		code               int
	}{
		{"the cookie", "GET", sv.base, nil, 200},
		{"no cookie", "GET", sv.base, stranger, 403},
		{"no cookie, the style", "GET", sv.base + "files/style.css", stranger, 403},
		{"another cookie", "GET", sv.base, header("Cookie", cookieName+"=x"), 403},
		{"the token", "GET", sv.base + "?token=" + sv.token, stranger, 200},
		{"another token", "GET", sv.base + "?token=x", stranger, 403},
		{"an empty token", "GET", sv.base + "?token=", stranger, 403},
		{"the token elsewhere", "GET", sv.base + "graph?token=" + sv.token, stranger, 403},
		{"the token of --open", "GET", sv.base + "?token=" + once, stranger, 200},
		{"the token of --open again", "GET", sv.base + "?token=" + once, stranger, 403},
		{"a name that was made to lead here", "GET", sv.base, func(r *http.Request) { r.Host = "evil.example:" + sv.port }, 403},
		{"another port", "GET", sv.base, func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		{"no port", "GET", sv.base, func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		{"localhost", "GET", sv.base, func(r *http.Request) { r.Host = "localhost:" + sv.port }, 200},
		{"another page", "GET", sv.base + "events", header("Origin", "http://evil.example"), 403},
		{"a page of another port", "GET", sv.base + "part/head", header("Origin", "http://127.0.0.1:1"), 403},
		{"no origin", "GET", sv.base + "part/head", header("Origin", "null"), 403},
		{"this page", "GET", sv.base + "part/head", header("Origin", sv.URL), 200},
		{"a script of another page", "GET", sv.base + "part/head", header("Sec-Fetch-Site", "same-site"), 403},
		{"an image of another page", "GET", sv.base, header("Sec-Fetch-Site", "cross-site"), 403},
		{"a form", "POST", sv.base + "do", nil, 403},
		{"another method", "DELETE", sv.base, nil, 405},
		{"a file by its name", "GET", sv.base + "files/epic.yml", nil, 404},
		{"a list of files", "GET", sv.base + "files/", nil, 404},
		{"another path", "GET", "/", nil, 404},
		{"a task that is not there", "GET", sv.base + "task/T999", nil, 404},
		{"no control", "GET", sv.base + "control", nil, 404},
	} {
		code, _, h := sv.ask(t, c.method, c.path, nil, c.change)
		if code != c.code {
			t.Errorf("%s: got %d, want %d", c.what, code, c.code)
		}
		if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: the answer has the headers %v", c.what, h)
		}
	}
}

func TestCookie(t *testing.T) {
	t.Parallel()
	sv := serving(t, 5, 0, Options{})
	_, _, h := sv.ask(t, "GET", sv.base+"?token="+sv.token, nil, nil)
	want := "relay=" + sv.cookie + "; Path=" + sv.base + "; HttpOnly; SameSite=Strict"
	if got := h.Get("Set-Cookie"); got != want || h.Get("Refresh") != "0; url="+sv.base {
		t.Errorf("got %q, want %q; refresh %q", got, want, h.Get("Refresh"))
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, "127.9.8.7:0": true,
		"0.0.0.0:0": false, ":0": false, "192.168.1.2:0": false, "[::]:0": false, "example.org:0": false, "127.0.0.1": false, "x": false, "": false,
	} {
		l, err := listen(t.Context(), addr)
		if (err == nil) != ok {
			t.Errorf("%q: got %v", addr, err)
		}
		if err == nil {
			l.Close()
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	sv := serving(t, 40, 0, Options{})
	for path, want := range map[string]string{
		"": "Needs you", "graph": "Task graph in", "timeline": "Timeline from", "money": "Money by agent", "runs": "25 Nov",
		"run/20261125T220000Z-7c1e": "Needs you", "task/T1": "attempt", "rows/done/0": "T1", "part/head": "tasks done",
		"files/style.css": "--bg", "files/script.js": "EventSource", "task/T1/checks": "",
	} {
		code, text, _ := sv.ask(t, "GET", sv.base+path, nil, nil)
		if code != 200 && want != "" || !strings.Contains(text, want) || strings.Contains(text, secret) {
			t.Errorf("%s: got %d, without %q:\n%.300s", path, code, want, text)
		}
		if strings.Contains(text, "style=\"") || strings.Contains(text, "<style") || strings.Contains(text, " onclick") {
			t.Errorf("%s has style or script that the policy refuses", path)
		}
	}
}

// When the run is over the page says how to land its work.
func TestThen(t *testing.T) {
	t.Parallel()
	sv := serving(t, 40, 0, Options{})
	says := func(want bool) {
		t.Helper()
		if _, text, _ := sv.ask(t, "GET", sv.base, nil, nil); strings.Contains(text, "relay finish") != want {
			t.Errorf("the page says relay finish: %t", !want)
		}
	}
	says(false)
	must(t, sv.store.Close())
	sv.live.refresh(t.Context())
	says(true)
}

// viewer is an EventSource.
type viewer struct {
	body io.ReadCloser
	read *bufio.Reader
}

func (sv *served) view(ctx context.Context, tb testing.TB, since, last string) *viewer {
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, sv.URL+sv.base+"events?since="+since, nil)
	must(tb, err)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: sv.cookie})
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	must(tb, err)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("got %s, %s", answer.Status, answer.Header.Get("Content-Type"))
	}
	return &viewer{answer.Body, bufio.NewReader(answer.Body)}
}

// next returns the next event.
func (v *viewer) next(tb testing.TB) (id, data string) {
	tb.Helper()
	for {
		line, err := v.read.ReadString('\n')
		must(tb, err)
		if text, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(text)
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			return id, strings.TrimSpace(text)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	sv := serving(t, 40, 6, Options{})
	since := sv.live.shown.Load().at
	v := sv.view(t.Context(), t, fmt.Sprint(since), "")
	defer v.body.Close()
	sv.append(t, 3)
	sv.live.refresh(t.Context())
	first, data := v.next(t)
	if first != sv.shownAt() || number(t, first) < since+3 || !strings.Contains(data, `"working"`) || !strings.Contains(data, `"task/T`) {
		t.Errorf("three events after %d: got %s %s", since, first, data)
	}
	v.body.Close()
	sv.append(t, 2)
	sv.live.refresh(t.Context())
	again := sv.view(t.Context(), t, fmt.Sprint(since), first)
	defer again.body.Close()
	second, _ := again.next(t)
	_, whole := sv.view(t.Context(), t, fmt.Sprint(since), "").next(t)
	if second != sv.shownAt() || number(t, second) < since+5 || len(whole) < len(data) {
		t.Errorf("after %s: got %s, and of all %s", first, second, whole)
	}
	sv.append(t, 1)
	sv.live.refresh(t.Context())
	if third, _ := again.next(t); third != sv.shownAt() || number(t, third) < since+6 {
		t.Errorf("after %s: got %s", second, third)
	}
}

func number(tb testing.TB, text string) uint64 {
	tb.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	must(tb, err)
	return n
}

// shownAt returns how far what is shown has come: the store may write an event a moment after it took it.
func (sv *served) shownAt() string { return fmt.Sprint(sv.live.shown.Load().at) }

// eventually waits until something holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(20 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatal(what)
		}
	}
}

func TestManyViewers(t *testing.T) {
	t.Parallel()
	const many = 200
	sv := serving(t, 40, 2, Options{})
	viewers := make([]*viewer, many)
	killed, kill := context.WithCancel(t.Context())
	for i := range viewers {
		viewers[i] = sv.view(killed, t, sv.shownAt(), "")
	}
	eventually(t, "not all viewers came", func() bool { return sv.live.viewers.Load() == many })
	sv.append(t, 1)
	sv.live.refresh(t.Context())
	for i, v := range viewers {
		if id, _ := v.next(t); id != sv.shownAt() {
			t.Errorf("viewer %d heard of %s, and the night is at %s", i, id, sv.shownAt())
		}
	}
	kill()
	eventually(t, "killed viewers are still there", func() bool { return sv.live.viewers.Load() == 0 })
}

// A viewer that never reads holds up neither others nor the server, and is dropped.
func TestSlowViewer(t *testing.T) {
	t.Parallel()
	sv := serving(t, 5, 0, Options{})
	sv.live.patience = 100 * time.Millisecond
	conn, err := net.Dial("tcp", sv.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	must(t, conn.(*net.TCPConn).SetReadBuffer(1))
	fmt.Fprintf(conn, "GET %sevents?since=0 HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nCookie: %s=%s\r\n\r\n", sv.base, sv.port, cookieName, sv.cookie)
	eventually(t, "the viewer did not come", func() bool { return sv.live.viewers.Load() == 1 })
	tasks := make([]string, 20000)
	for i := range tasks {
		tasks[i] = fmt.Sprintf("TASK-%d", i)
	}
	eventually(t, "the viewer that never reads is still there", func() bool {
		sv.live.mu.Lock()
		sv.live.show(tasks)
		sv.live.mu.Unlock()
		return sv.live.viewers.Load() == 0
	})
	if code, _, _ := sv.ask(t, "GET", sv.base, nil, nil); code != 200 {
		t.Errorf("another viewer gets %d", code)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	var ran [][]string
	sv := serving(t, 40, 0, Options{Control: true, Run: func(_ context.Context, args ...string) (string, error) {
		if ran = append(ran, args); args[0] == "gate" {
			return "", errors.New("error: <b>it is completed")
		}
		return "done: " + secret, nil
	}})
	_, text, _ := sv.ask(t, "GET", sv.base, nil, nil)
	for _, want := range []string{`name="what" value="answer"`, `name="what" value="ungate"`, `name="what" value="approve"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of the night lacks %s", want)
		}
	}
	for _, c := range []struct {
		form string
		code int
		args string
	}{
		{"what=ungate&task=T18", 409, ""},
		{"form=x&what=ungate&task=T18", 409, ""},
		{"form=" + sv.desk.form + "&what=ungate&task=T18&text=%20try%20it%20", 200, "ungate|--note=try it|--|T18"},
		{"form=" + sv.desk.form + "&what=answer --same&task=T29&text=A", 200, "answer|--same|--|T29|A"},
		{"form=" + sv.desk.form + "&what=clean --same&task=T29", 409, ""},
		{"form=" + sv.desk.form + "&what=answer&task=--help&text=--yes", 200, "answer|--|--help|--yes"},
		{"form=" + sv.desk.form + "&what=pause", 200, "pause"},
		{"form=" + sv.desk.form + "&what=go on", 200, "pause|--off"},
		{"form=" + sv.desk.form + "&what=stop the run", 200, "stop"},
		{"form=" + sv.desk.form + "&what=stop", 409, ""},
		{"form=" + sv.desk.form + "&what=stop&task=T9", 200, "stop|--|T9"},
		{"form=" + sv.desk.form + "&what=clean&task=T9", 409, ""},
		{"form=" + sv.desk.form + "&what=gate&task=T9", 409, "gate|--|T9"},
		{"form=" + sv.desk.form + "&what=answer&task=T9&text=" + strings.Repeat("x", maxForm), 409, ""},
	} {
		ran = nil
		code, text, _ := sv.ask(t, "POST", sv.base+"do", strings.NewReader(c.form), nil)
		got := ""
		for _, args := range ran {
			got += strings.Join(args, "|")
		}
		if code != c.code || got != c.args {
			t.Errorf("%.80s: got %d and %q, want %d and %q", c.form, code, got, c.code, c.args)
		}
		if strings.Contains(text, "<b>") && strings.Contains(text, "it is completed") && !strings.Contains(text, "&lt;b&gt;") || strings.Contains(text, secret) {
			t.Errorf("%.80s: the page is not harmless:\n%s", c.form, text)
		}
	}
}
