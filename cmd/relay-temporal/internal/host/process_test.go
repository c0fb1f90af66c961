package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/orchestrator/engine"
)

var anID = order.ID{Run: "20260101T220000Z-beef", Task: "T1", Number: 1}

// processes returns hosts whose program is a shell script.
func processes(t *testing.T, script string) (p *Processes, home string) {
	t.Helper()
	home = t.TempDir()
	return &Processes{
		Homes:   map[string]string{"build1": home},
		Program: []string{"/bin/sh", "-c", script}, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}, Grace: time.Minute,
	}, home
}

func ignore(engine.Event) {}

// A process gets the message, tells what happens and answers; an id is not started twice.
func TestProcess(t *testing.T) {
	t.Parallel()
	p, home := processes(t, `echo x >> "$HOME/started"; read m; echo not json; echo '{"event":{"Task":"T1","Kind":"activity"}}'; echo "{\"result\":$m}"`)
	told := 0
	tell := func(e engine.Event) {
		if e.Task == "T1" && e.Kind == engine.KindActivity {
			told++
		}
	}
	for n := 1; n <= 2; n++ {
		got, err := p.Do(t.Context(), "build1", anID, []byte(`{"a":1}`+"\n"), tell)
		if err != nil || string(got) != `{"a":1}` || told != n {
			t.Errorf("got %s, %v, %d events", got, err, told)
		}
	}
	if started, err := os.ReadFile(filepath.Join(home, "started")); err != nil || string(started) != "x\n" {
		t.Errorf("started %q, %v", started, err)
	}
}

// Another relay attaches to a process that is at work.
func TestProcessAttached(t *testing.T) {
	t.Parallel()
	p, home := processes(t, `mkfifo "$HOME/go"; echo '{"event":{"Task":"T1"}}'; read x < "$HOME/go"; echo '{"result":7}'`)
	begun := make(chan bool, 2)
	results := make(chan string, 2)
	for range 2 {
		go func() {
			got, err := p.Do(t.Context(), "build1", anID, []byte("{}"), func(engine.Event) { begun <- true })
			results <- string(got) + errorText(err)
		}()
		<-begun
	}
	if err := os.WriteFile(filepath.Join(home, "go"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-results; got != "7" {
			t.Errorf("got %s", got)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What a process does not say is unknown, and what it refuses is refused.
func TestProcessFails(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		is   error
		says string
	}{
		`kill -9 $$`:                              {machines.ErrUnknown, "its process has ended without a result"},
		`echo boom >&2; exit 3`:                   {machines.ErrUnknown, "boom"},
		`echo '{"refused":"a message of 2.0"}'`:   {machines.ErrRefused, "a message of 2.0"},
		`printf '{"result":7'; exit 0`:            {machines.ErrUnknown, ""},
		`echo '{"event":{"Task":"T1"}}'; exit 12`: {machines.ErrUnknown, ""},
	} {
		p, _ := processes(t, script)
		if _, err := p.Do(t.Context(), "build1", anID, []byte("{}"), ignore); !errors.Is(err, want.is) || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: got %v", script, err)
		}
	}
	p, _ := processes(t, "")
	if _, err := p.Do(t.Context(), "build2", anID, nil, ignore); !errors.Is(err, machines.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

// A stop reaches the process, and what it answers then counts. One that does not stop is killed.
func TestProcessStopped(t *testing.T) {
	t.Parallel()
	wait := `echo '{"event":{"Task":"T1"}}'; while :; do sleep 0.01; done`
	p, _ := processes(t, `trap 'echo "{\"result\":8}"; exit' TERM; `+wait)
	ctx, stop := context.WithCancel(t.Context())
	if got, err := p.Do(ctx, "build1", anID, []byte("{}"), func(engine.Event) { stop() }); err != nil || !bytes.Equal(got, []byte("8")) {
		t.Errorf("got %s, %v", got, err)
	}
	p, home := processes(t, `trap '' TERM; `+wait)
	p.Grace = 50 * time.Millisecond
	ctx, stop = context.WithCancel(t.Context())
	if _, err := p.Do(ctx, "build1", anID, []byte("{}"), func(engine.Event) { stop() }); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	dir := filepath.Join(home, ".cache/relay/orders", anID.String())
	for end := time.Now().Add(time.Minute); !free(dir); {
		if time.Now().After(end) {
			t.Fatal("it is still alive")
		}
	}
}

// An order of a relay that this one does not understand is refused with what to do.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := &Host{Settings: &settings.Machines{}}
	if err := h.Serve(t.Context(), strings.NewReader(`{"version":"2.0"}`), &out); err != nil || !strings.Contains(out.String(), `"refused":`) ||
		!strings.Contains(out.String(), "install the same relay on both") {
		t.Errorf("got %s, %v", out.String(), err)
	}
}
