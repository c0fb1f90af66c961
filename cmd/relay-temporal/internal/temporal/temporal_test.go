package temporal

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/orchestrator/engine"
	"relay/runners"
)

// A server that does not know standalone activities is refused with what to do.
func TestOldServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer() // it answers every call with Unimplemented, as an old server does the calls that it does not know
	defer s.Stop()
	go func() { _ = s.Serve(l) }()
	_, err = Dial(t.Context(), &settings.Temporal{Address: l.Addr().String(), Namespace: "default"}, time.Minute, "test")
	refused, ok := errors.AsType[*attempts.RefusedError](err)
	if !ok || !strings.Contains(refused.Reason, "has no standalone activities") || !strings.Contains(refused.Hint, "1.31 or newer") {
		t.Errorf("got %v", err)
	}
}

// A server that is away is tried again, until patience ends.
func TestServerAway(t *testing.T) {
	t.Parallel()
	_, err := Dial(t.Context(), &settings.Temporal{Address: "127.0.0.1:1", Namespace: "default"}, 1500*time.Millisecond, "test")
	if refused, ok := errors.AsType[*attempts.RefusedError](err); !ok || !strings.Contains(refused.Reason, "was not reached for 1.5s") {
		t.Errorf("got %v", err)
	}
}

// The certificates let a client and a server know each other, and the files of keys are the user's own. What is there stays.
func TestCerts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "certs")
	file := func(name string) string { return filepath.Join(dir, name) }
	var before []byte
	for range 2 {
		if err := Certs(dir, []string{"build.example", "10.0.0.7"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file("client.pem"))
		if err != nil || before != nil && string(text) != string(before) {
			t.Errorf("got another client, %v", err)
		}
		before = text
	}
	if is, err := os.Stat(file("ca-key.pem")); err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", is, err)
	}
	for name, ok := range map[string]bool{"localhost": true, "build.example": true, "10.0.0.7": true, "other.example": false} {
		client, err := secure(settings.TLS{CA: file("ca.pem"), Cert: file("client.pem"), Key: file("client-key.pem"), ServerName: name})
		if err != nil {
			t.Fatal(err)
		}
		server, err := secure(settings.TLS{CA: file("ca.pem"), Cert: file("server.pem"), Key: file("server-key.pem")})
		if err != nil {
			t.Fatal(err)
		}
		server.ClientCAs, server.ClientAuth = server.RootCAs, tls.RequireAndVerifyClientCert
		here, there := net.Pipe()
		go func() { _ = tls.Server(there, server).HandshakeContext(t.Context()) }()
		if err := tls.Client(here, client).HandshakeContext(t.Context()); (err == nil) != ok {
			t.Errorf("%s: got %v", name, err)
		}
		here.Close()
	}
}

// Beats have the last events, in few bytes; each is told once.
func TestNews(t *testing.T) {
	t.Parallel()
	var n news
	told := map[engine.EventKind]int{}
	r := reader{tell: func(e engine.Event) { told[e.Kind]++ }}
	n.add(engine.Event{Kind: engine.KindBriefed, Attempt: 1})
	for range 100 {
		n.add(engine.Event{Kind: engine.KindActivity, Detail: runners.Event{Text: strings.Repeat("ä", 5000)}})
		n.add(engine.Event{Kind: engine.KindUsage})
		r.read(n.all())
		r.read(n.all())
	}
	size := 0
	for _, i := range n.all() {
		size += len(i.Event.Detail.Text)
	}
	if told[engine.KindBriefed] != 1 || told[engine.KindActivity] != 100 || told[engine.KindUsage] != 100 ||
		len(n.all()) > mostNews || size > 8<<10 {
		t.Errorf("got %v, %d events, %d bytes", told, len(n.all()), size)
	}
}
