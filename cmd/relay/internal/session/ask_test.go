package session

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
)

// A run that cannot be asked, or does not answer, is told as such.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	here := attempts.Self("", time.Now())
	elsewhere := here
	elsewhere.Host, elsewhere.PID = "moon", 7
	const stop = "stop it with Ctrl-C where it was started, type that again, then relay work goes on; nothing is lost"
	for _, c := range []struct {
		holder        attempts.Holder
		answer        string // "": nothing listens
		message, hint string
	}{
		{here, "", "process … takes no requests while it runs", stop},
		{elsewhere, "", "the run is process 7 on moon …, which cannot be reached from here", "type that on moon, or stop the run there"},
		{here, "{\n", "process … did not answer", "relay status says whether it still runs, and what it does"},
		{here, `{"error": "no", "hint": "do"}`, "no", "do"},
	} {
		p := &project.Project{Dir: t.TempDir()}
		if c.answer != "" {
			link := p.File(requestsLink)
			l, err := listenIn(link, strings.Repeat("/long", 20), filepath.Join(p.Dir, "none"), "/tmp")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close(); forget(l.Addr().String(), link) })
			go reply1(l, c.answer)
		}
		_, err := Ask(t.Context(), p, &c.holder, Request{What: attempts.RequestPause})
		if err == nil {
			t.Fatal("it was answered")
		}
		d := terminal.Diagnose(err)
		from, to, _ := strings.Cut(c.message, "…")
		if !strings.HasPrefix(d.Messages[0], from) || !strings.HasSuffix(d.Messages[0], to) || d.Hint != c.hint {
			t.Errorf("%+v, want %s; %s", d, c.message, c.hint)
		}
	}
}

// reply1 gives one request an answer.
func reply1(l *net.UnixListener, answer string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = bufio.NewReader(conn).ReadString('\n')
	_, _ = conn.Write([]byte(answer))
}

// What cannot be carried out is answered as well, and the end of a run is asked for once, however often. A process of the run is refused
// also when no run takes its request.
func TestCarryOut(t *testing.T) {
	t.Parallel()
	r := &receiver{asks: make(chan orchestrator.Ask), over: make(chan struct{}), stop: &stopper{ch: make(chan os.Signal, 4)}}
	close(r.over)
	const (
		ends    = "the run comes to its end: its agents are asked to stop, uncharged, and what they have done is kept; relay work continues"
		already = "the run is coming to its end already: relay stop --now kills its agents"
		killed  = "the run ends: its agents are killed, and what they have done is kept; relay work continues"
		killing = "the run's agents are being killed already"
		insider = "requests are for people, and this run started the process that asks"
	)
	stop := attempts.RequestStop
	for _, c := range []struct {
		q             Request
		who           string
		message, fail string
	}{
		{Request{What: attempts.RequestGate, Task: "T1"}, "", "", "the run has just ended"},
		{Request{What: stop}, "a process of T1/1", "", insider},
		{Request{What: Reload}, "a process of T1/1", "", insider},
		{Request{What: stop}, "", ends, ""},
		{Request{What: stop}, "", already, ""},
		{Request{What: stop, Now: true}, "", killed, ""},
		{Request{What: stop, Now: true}, "", killing, ""},
	} {
		message, err := r.carryOut(c.q, c.who)
		if message != c.message || c.fail == "" && err != nil || c.fail != "" && (err == nil || err.Error() != c.fail) {
			t.Errorf("%+v of %q: %q, %v; want %q, %s", c.q, c.who, message, err, c.message, c.fail)
		}
	}
	if n := len(r.stop.ch); n != 2 {
		t.Errorf("%d signals, want 2", n)
	}
}

// No number of requests of the run's own processes fills the log.
func TestRefused(t *testing.T) {
	t.Parallel()
	r, recorded := &receiver{asks: make(chan orchestrator.Ask)}, 0
	go func() {
		defer close(r.asks)
		for range 1000 {
			if _, err := r.carryOut(Request{What: attempts.RequestStop}, "a process of T1/1"); err == nil {
				t.Error("it is carried out")
			}
		}
	}()
	for ask := range r.asks {
		recorded++
		ask.Answer("", orchestrator.ErrInsider)
	}
	if recorded != mostRefused {
		t.Errorf("%d are recorded, want %d", recorded, mostRefused)
	}
}
