package labtest

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// viewedAgent works until the morning may come, if it has the fifth task.
const viewedAgent = `until [ $RELAY_TASK != T5 ] || [ -e "$HOME/go" ]; do touch "$HOME/up"; sleep 0.02; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok "Wrote $RELAY_TASK.txt"`

// served is relay serve in a lab, with its address and a browser that has its cookie.
type served struct {
	*running

	at      *url.URL
	browser *http.Client
}

// serves starts relay serve, and opens the address that it prints.
func (l *lab) serves() *served {
	l.t.Helper()
	r := l.prepared(nil, "serve")
	out, err := r.stdless().StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	l.begin(r)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		l.t.Fatal(err)
	}
	s := &served{running: r, browser: &http.Client{}}
	s.at, err = url.Parse(strings.TrimSpace(line))
	if err != nil {
		l.t.Fatal(err)
	}
	s.browser.Jar, _ = cookiejar.New(nil) // it never fails without options
	token := s.at.RawQuery
	s.at.RawQuery = ""
	s.get(l.t, "?"+token).Close()
	return s
}

// get asks for what is below the address of the server.
func (s *served) get(t *testing.T, path string) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.at.String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.browser.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %v", path, answer, err)
	}
	return answer.Body
}

// follow has so many viewers follow the night. The first is gone at once, and the second never reads.
func (s *served) follow(t *testing.T, viewers int) {
	t.Helper()
	for i := range viewers {
		switch body := s.get(t, "events?since=0"); i {
		case 0:
			body.Close()
		case 1:
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.at.Host)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			cookie := s.browser.Jar.Cookies(s.at)[0]
			fmt.Fprintf(conn, "GET %sevents?since=0 HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", s.at.Path, s.at.Host, cookie)
			body.Close()
		default:
			if line, err := bufio.NewReader(body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry:") {
				t.Fatalf("viewer %d reads %q, %v", i, line, err)
			}
			go io.Copy(io.Discard, body) //nolint:errcheck // it ends with the server
		}
	}
}

// came is what a night came to: the state of each task, how its attempts ended, and the tree that they have made.
func (l *lab) came() string {
	l.t.Helper()
	var b strings.Builder
	f := l.ledger()
	for _, id := range slices.Sorted(maps.Keys(f.TaskStatus)) {
		fmt.Fprint(&b, id, " ", f.TaskStatus[id])
		for _, a := range f.Attempts[id] {
			fmt.Fprint(&b, " ", a.Result, a.Outcome, a.Charged, a.Receipt.Summary, a.Receipt.Files)
		}
		b.WriteString("\n")
	}
	return b.String() + l.git("rev-parse", "main^{tree}")
}

// Many viewers follow a run, one never reads, one is gone, and serve and watch are killed: the night comes to what it does without them.
func TestViewers(t *testing.T) {
	t.Parallel()
	viewers := 20
	if *full {
		viewers = 200
	}
	plan, _ := tenTasks(0)
	alone := newLab(t, plan, viewedAgent)
	alone.write(alone.inHome("go"), "")
	alone.work(terminal.OK)

	l := newLab(t, plan, viewedAgent)
	before, r := l.serves(), l.start("work")
	before.follow(t, viewers)
	l.awaitFile(l.inHome("up"))
	during := l.serves()
	during.follow(t, viewers)
	if _, err := exec.LookPath("tmux"); err == nil {
		screen := l.shows(80, 24, "relay watch")
		screen.keys("WORKING 1")
		watching := l.alive(func(_ int, environ, args string) bool {
			return strings.Contains(environ, "\x00HOME="+l.home+"\x00") && strings.HasPrefix(args, "relay\x00watch")
		})
		for _, pid := range watching {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		screen.keys("left with 137")
	}
	during.signal(t, syscall.SIGKILL)
	<-during.done
	l.write(l.inHome("go"), "")
	l.end(r)
	r.wants(t, terminal.OK)
	if got, want := l.came(), alone.came(); got != want {
		t.Errorf("with viewers the night came to\n%s\nand without to\n%s", got, want)
	}
	l.await("the page of the whole night", func() bool {
		body := before.get(t, "")
		defer body.Close()
		text, err := io.ReadAll(body)
		return err == nil && strings.Contains(string(text), "ll 10 tasks done")
	})
	before.signal(t, syscall.SIGTERM)
	l.end(before.running)
}
