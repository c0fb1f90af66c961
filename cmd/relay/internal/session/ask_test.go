//go:build unix

package session

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator"
)

// deaf takes the signal of requests, as a run does that is stuck.
func deaf(t *testing.T) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGUSR2)
	t.Cleanup(func() { signal.Stop(heard) })
}

// askedIn asks a run that is this process, with its folder made ready, and returns what the user is told.
func askedIn(t *testing.T, h attempts.Holder, ready func(dir string)) *exit.Diagnosis {
	t.Helper()
	p := &project.Project{Dir: t.TempDir()}
	if ready != nil {
		dir := requestDir(p, h.PID)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		ready(dir)
	}
	_, err := Ask(t.Context(), p, &h, Request{What: attempts.RequestPause})
	if err == nil {
		t.Fatal("it was answered")
	}
	d := exit.Diagnose(err)
	return &d
}

// A request that no run carries out is told as such, and is not left behind for another one.
func TestUnanswered(t *testing.T) { //nolint:paralleltest // signals are the whole process's
	deaf(t)
	here := attempts.Self("", time.Now())
	elsewhere := here
	elsewhere.Host, elsewhere.PID = "moon", 7
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			holder        attempts.Holder
			ready         func(dir string)
			message, hint string
		}{
			{here, nil, "process … takes no requests while it runs", "stop it with Ctrl-C, type that again, then relay work goes on; nothing is lost"},
			{elsewhere, nil, "the run is process 7 on moon …, which cannot be reached from here", "type that on moon, or stop the run there"},
			{here, func(string) {}, "process … did not answer: nothing was changed", "relay status says whether it still runs"},
			{here, func(dir string) { go takeAll(dir) }, "process … took the request and did not answer", "relay status says whether it still runs"},
			{here, func(dir string) { go replyAll(dir, "{") }, "the reply of process … cannot be read: unexpected end of JSON input", ""},
			{here, func(dir string) { go replyAll(dir, `{"error": "no", "hint": "do"}`) }, "no", "do"},
		} {
			d := askedIn(t, c.holder, c.ready)
			from, to, _ := strings.Cut(c.message, "…")
			if !strings.HasPrefix(d.Messages[0], from) || !strings.HasSuffix(d.Messages[0], to) || c.hint != "" && d.Hint != c.hint {
				t.Errorf("%+v, want %s; %s", d, c.message, c.hint)
			}
		}
	})
	d := exit.Diagnose(askError(&here, errors.ErrUnsupported))
	if d.Messages[0] != "a run on this system takes no requests" || !strings.HasPrefix(d.Hint, "stop it with Ctrl-C") {
		t.Errorf("%+v", d)
	}
}

// found waits for the request in a folder.
func found(dir string) (name string) {
	for {
		names, _ := filepath.Glob(filepath.Join(dir, "*"+requestFile))
		if len(names) > 0 {
			return strings.TrimSuffix(names[0], requestFile)
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // in a bubble of fake time
	}
}

func takeAll(dir string) {
	name := found(dir)
	_ = os.Rename(name+requestFile, name+takenFile)
}

func replyAll(dir, text string) { _ = os.WriteFile(found(dir)+replyFile, []byte(text), 0o600) }

// What cannot be carried out is answered as well, and the end of a run is asked for once, however often.
func TestReceive(t *testing.T) {
	t.Parallel()
	r := &receiver{dir: t.TempDir(), asks: make(chan orchestrator.Ask), over: make(chan struct{}), stop: &stopper{ch: make(chan os.Signal, 4)}}
	close(r.over)
	answer := func(request string) string {
		if err := os.WriteFile(filepath.Join(r.dir, "a"+requestFile), []byte(request), 0o600); err != nil {
			t.Fatal(err)
		}
		r.take()
		r.working.Wait()
		content, err := os.ReadFile(filepath.Join(r.dir, "a"+replyFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	const (
		ends    = "the run comes to its end: its agents are asked to stop, uncharged, and what they have done is kept; relay work continues"
		already = "the run is coming to its end already: relay stop --now kills its agents"
		killed  = "the run ends: its agents are killed, and what they have done is kept; relay work continues"
		killing = "the run's agents are being killed already"
	)
	for _, c := range []struct{ request, want string }{
		{"{", `{"error":"the request cannot be read: unexpected end of JSON input"}`},
		{`{"what": "gate", "task": "T1"}`, `{"error":"the run has just ended","hint":"type that again: it changes the ledger then"}`},
		{`{"what": "stop"}`, `{"message":"` + ends + `"}`},
		{`{"what": "stop"}`, `{"message":"` + already + `"}`},
		{`{"what": "stop", "now": true}`, `{"message":"` + killed + `"}`},
		{`{"what": "stop", "now": true}`, `{"message":"` + killing + `"}`},
	} {
		if got := answer(c.request); got != c.want {
			t.Errorf("%s: %s, want %s", c.request, got, c.want)
		}
	}
	if n := len(r.stop.ch); n != 2 {
		t.Errorf("%d signals, want 2", n)
	}
}
