package notify

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/secrets"
)

var update = flag.Bool("update", false, "write the goldens")

var at = time.Date(2026, 1, 11, 23, 5, 0, 0, time.UTC)

// night returns a notification of each kind.
func night() []plaintext.Notification {
	u := decide.Update{At: at, Task: "T4", Title: "Pay", Counts: decide.Counts{Completed: 3, Total: 7}}
	var all []plaintext.Notification
	of := func(change func(*decide.Update)) {
		v := u
		change(&v)
		all = append(all, Of(v)...)
	}
	of(func(u *decide.Update) {
		u.Kind, u.Looks = decide.Completed, []attempts.Look{{Cause: "passes by changed tests", Text: "it changes tests/pay_test.go"}}
	})
	of(func(u *decide.Update) {
		u.Kind, u.Text = decide.Gated, "3 attempts failed: <b>$(rm -rf /)</b> & \"quotes\""
	})
	of(func(u *decide.Update) { u.Kind, u.Questions = decide.Gated, []string{"Which endpoint?", "Until when?"} })
	of(func(u *decide.Update) {
		u.Kind, u.Runner, u.Until, u.Text, u.Task = decide.UpdateWaiting, "claude", at.Local().Add(time.Hour), "usage limit", ""
	})
	of(func(u *decide.Update) { u.Kind, u.Runner = decide.UpdateWaiting, decide.ForAnswer })
	of(func(u *decide.Update) { u.Kind = decide.Completed })
	for _, s := range []decide.Summary{
		{Reason: decide.EpicComplete},
		{Reason: decide.NoRunnableTasks, Left: 2},
		{Reason: decide.BudgetExhausted, Why: "the run's budget of $5.00 is used up", Left: 2},
		{Reason: decide.Deadline, Left: 2},
		{Reason: decide.CircuitBreaker, Why: "5 tasks failed in a row", Left: 2},
	} {
		s.Run, s.Counts, s.Usage.CostUSD = "20260111-220000", decide.Counts{Completed: 5, Total: 7, Gated: 2}, 3.25
		e := OfEnd(s, "")
		e.At = at
		all = append(all, e)
	}
	return all
}

// The payload of each event, as JSON, as a message, and as the desktop shows it.
func TestPayloads(t *testing.T) { //nolint:paralleltest // it sets the zone
	time.Local = time.UTC //nolint:reassign // the zone of a golden
	var got strings.Builder
	for _, e := range night() {
		e.Repository, e.Epic, e.Version = "shop", "20260111-pay", 1
		for _, template := range []string{"", "{{.Message}}", `{"text": {{json .Text}}}`} {
			body, err := e.Render(template)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s\n", strings.TrimSuffix(string(body), "\n"))
		}
		fmt.Fprintf(&got, "%q\n%q\n\n", desktop("linux", e, "", ""), desktop("darwin", e, "", ""))
	}
	path := filepath.Join("testdata", "payloads.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v: go test ./orchestrator/notify -update; got\n%s", err, got.String())
	}
}

// A kind is due once a minute; what comes in between is folded into the next.
func TestFolding(t *testing.T) {
	t.Parallel()
	f, now := folder{last: map[string]time.Time{}}, at
	next := func(everything bool) string {
		e, due, wait := f.next(now, everything)
		if !due {
			return "in " + wait.String()
		}
		return fmt.Sprintf("%s %s +%d %d", e.Event, e.Text, e.Folded, len(e.Earlier))
	}
	for i := range 30 {
		f.add(plaintext.Notification{Event: "gated", Text: fmt.Sprint(i)})
		if i == 0 {
			f.add(plaintext.Notification{Event: "look", Text: "a"})
			check(t, next(false), "gated 0 +0 0")
			check(t, next(false), "look a +0 0")
			check(t, next(false), "in 1h0m0s")
		}
	}
	now = now.Add(20 * time.Second)
	check(t, next(false), "in 40s")
	now = now.Add(40 * time.Second)
	check(t, next(false), "gated 29 +28 10")
	f.add(plaintext.Notification{Event: "gated", Text: "x"})
	check(t, next(false), "in 1m0s")
	check(t, next(true), "gated x +0 0")
	f.add(plaintext.Notification{Event: "gated", Text: "y"})
	now = now.Add(-time.Hour)
	check(t, next(false), "gated y +0 0")
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// notes collects what a person is told.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, text)
}

func testHost(said *notes) Host {
	return Host{Pause: time.Millisecond, Flush: 2 * time.Second, Failed: said.add, Now: time.Now, Redact: secrets.New([]string{"API_TOKEN=tok-123456789-abcdefgh"})}
}

// Receivers that hang, fail, flood, redirect or quote secrets: the run does not wait, and no message has a secret.
func TestBadReceivers(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	var calls, elsewhere sync.Map
	count := func(m *sync.Map, key string) int {
		n, _ := m.LoadOrStore(key, new(int))
		*n.(*int)++
		return *n.(*int)
	}
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n := count(&calls, r.URL.Path)
		mu.Unlock()
		switch r.URL.Path {
		case "/hang":
			select {
			case <-hanging:
			case <-r.Context().Done():
			}
		case "/fail":
			http.Error(w, "no such hook: "+r.URL.RawQuery+" tok-123456789-abcdefgh", http.StatusInternalServerError)
		case "/passes":
			if n < 3 {
				w.WriteHeader(http.StatusBadGateway)
			}
		case "/refuse":
			w.WriteHeader(http.StatusForbidden)
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/elsewhere":
			count(&elsewhere, "")
		case "/flood":
			w.WriteHeader(http.StatusBadRequest)
			for range 1 << 14 {
				if _, err := w.Write([]byte(strings.Repeat("flood ", 1000))); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	defer close(hanging)
	var said notes
	var all []Receiver
	for _, name := range []string{"hang", "fail", "passes", "refuse", "redirect", "flood"} {
		all = append(all, Receiver{Name: name, On: []string{"gated"}, URL: server.URL + "/" + name + "?key=verysecretkey"})
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	all = append(all, Receiver{Name: "gone", On: []string{"gated"}, URL: "http://u:verysecretkey@" + address + "/verysecretkey"})
	n := New(t.Context(), testHost(&said), all)
	began := time.Now()
	for range 10_000 {
		n.Notify(plaintext.Notification{Event: "gated", Text: "T1 gated"})
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("10,000 notifications took %s of the run", took)
	}
	n.Close()
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("the end waited %s", took)
	}
	text := strings.Join(said.list, "\n")
	for _, want := range []string{
		"hang did not get the notification gated: 127.", "no answer before the run was over", "answered 500 Internal Server Error: no such hook: key=… [redacted API_TOKEN]", "answered 403 Forbidden",
		"answered 307 Temporary", "answered 400 Bad Request: flood flood", "connection refused",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "verysecretkey") || strings.Contains(text, "tok-1234") || strings.Contains(text, "passes") {
		t.Errorf("got\n%s", text)
	}
	if _, followed := elsewhere.Load(""); followed {
		t.Error("a redirect was followed")
	}
}

// A program gets the notification without secrets, and its own words are shown without its arguments.
func TestProgram(t *testing.T) {
	t.Parallel()
	var said notes
	var got []string
	host := testHost(&said)
	host.Run = func(_ context.Context, argv []string, input []byte) (string, error) {
		got = append(got, string(input))
		return "cannot reach topic " + argv[2], errors.New("exit status 7")
	}
	r := Receiver{Name: "phone", On: []string{"ended"}, Argv: []string{"push", "--to", "my-secret-topic"}, Template: "{{.Text}}"}
	n := New(t.Context(), host, []Receiver{r})
	n.Notify(plaintext.Notification{Event: "budget", Text: "the agent printed tok-123456789-abcdefgh"})
	n.Notify(plaintext.Notification{Event: "gated", Text: "not wanted"})
	n.Close()
	if want := []string{"phone did not get the notification budget: push: exit status 7: cannot reach topic …"}; !slices.Equal(said.list, want) {
		t.Errorf("got %q, want %q", said.list, want)
	}
	if len(got) != 1+retries || got[0] != "the agent printed [redacted API_TOKEN]" {
		t.Errorf("got %q", got)
	}
	New(t.Context(), host, nil).Notify(plaintext.Notification{})
	New(t.Context(), host, nil).Close()
}
