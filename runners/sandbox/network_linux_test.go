package sandbox_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"relay/runners/sandbox"
)

// serveWord returns the port on the loopback of a server that answers a word.
func serveWord(t *testing.T, word string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, word, " ", r.Host, " ", r.RequestURI, " ", r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at.Port()
}

// A check reaches the hosts of its list and no others, and those that it was refused are named.
func TestNetwork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	listed, other := serveWord(t, "answered"), serveWord(t, "escaped")
	ask := "ask() { curl -s -m 20 \"$@\"; echo \" = $?\"; }; direct=127.0.0.1:" + other + " listed=127.0.0.1:" + listed + "\n"
	tests := map[string]struct {
		script  string
		want    string
		refused []string
	}{
		"a listed port of the loopback":       {`ask http://$listed/a`, "answered", nil},
		"the same through the proxy":          {`ask --noproxy '' http://$listed/a?b`, "answered 127.0.0.1:" + listed + " /a?b  = 0", nil},
		"a header for proxies":                {`ask --noproxy '' -U me:secret http://$listed/a`, "/a  = 0", nil},
		"the same through a tunnel":           {`ask --noproxy '' -p http://$listed/a`, "answered", nil},
		"two requests in a connection":        {`ask --noproxy '' http://$listed/a http://$listed/b`, "/b  = 0", nil},
		"a body":                              {`head -c 3000000 /dev/zero | ask --noproxy '' --data-binary @- http://$listed/a`, "answered", nil},
		"another port of the loopback":        {`ask http://$direct/`, " = 7", nil},
		"the same through the proxy, refused": {`ask --noproxy '' http://$direct/`, "the sandbox refuses 127.0.0.1:" + other, []string{"127.0.0.1:" + other}},
		"the same through a tunnel, refused":  {`ask --noproxy '' -p http://$direct/`, " = 56", []string{"127.0.0.1:" + other}},
		"a host":                              {`ask https://example.com/`, " = 56", []string{"example.com"}},
		"a host with a port":                  {`ask http://example.com:8080/`, "refuses", []string{"example.com:8080"}},
		"the host of a header":                {`ask --noproxy '' -H "Host: $direct" http://$listed/`, "answered 127.0.0.1:" + listed, nil},
		"other forms of the loopback":         {`for h in 2130706433 0x7f.1 127.1 0 localhost '[::1]' '[::ffff:127.0.0.1]'; do ask --noproxy '' http://$h:` + other + `/; done`, "refuses", nil},
		"files of relay":                      {`ls -l /proc/self/fd | grep -c ' [3-9] -> \(pipe\|socket\)'; echo "= $?"`, "= 1", nil},
		"no request":                          {`printf 'x\n\n' | ask telnet://${HTTP_PROXY#*//}; ask -x '' $HTTP_PROXY`, "refuses :80", nil},
	}
	for kind, box := range boxes(t) {
		for name, test := range tests {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				box := *box
				box.Place = s.place
				box.Checks = []string{"127.0.0.1:" + listed}
				said, exit := s.run(&box, sandbox.Check, ask+test.script)
				if !strings.Contains(said, test.want) || strings.Contains(said, "escaped") || test.refused != nil && !slices.Equal(strings.Fields(exit.Refused), test.refused) {
					t.Errorf("got %q, %+v; want %q, %v", said, exit, test.want, test.refused)
				}
			})
		}
	}
}

// Without hosts a check has a network of its own: a port that is taken outside is free there. Landlock forbids connections.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	port := serveWord(t, "escaped")
	script := `import socket, sys
try: socket.create_connection(("127.0.0.1", ` + port + `), 5); print("escaped")
except OSError as e: print(type(e).__name__)
s = socket.create_server(("127.0.0.1", ` + port + `)); socket.create_connection(("127.0.0.1", ` + port + `)); print("own")`
	for kind, box := range boxes(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			box := *box
			box.Place = s.place
			box.Checks = []string{}
			said, _ := s.run(&box, sandbox.Check, "python3 -c '"+script+"' 2>&1")
			want := map[sandbox.Kind]string{sandbox.Bubblewrap: "ConnectionRefusedError\nown\n", sandbox.Landlock: "PermissionError\n"}[kind]
			if !strings.Contains(said, want) || strings.Contains(said, "escaped") {
				t.Errorf("got %q, want %q", said, want)
			}
			box.Agents = []string{}
			if said, _ := s.run(&box, sandbox.Reviewer, "curl -sv --noproxy '' http://127.0.0.1:"+port+" http://example.com; env -u HTTP_PROXY -u http_proxy curl -s http://127.0.0.1:"+port); strings.Contains(said, "escaped") {
				t.Errorf("a reviewer got %q", said)
			}
			if said, _ := s.run(&box, sandbox.SetUp, "curl -s http://127.0.0.1:"+port); !strings.Contains(said, "escaped") {
				t.Errorf("set-up got %q", said)
			}
		})
	}
}

// A listed name that leads to this machine is refused.
func TestNetworkName(t *testing.T) {
	t.Parallel()
	name, _ := os.Hostname()
	if ips, err := net.LookupIP(name); err != nil || !ips[0].IsLoopback() {
		t.Skip("no name of this machine leads to its loopback")
	}
	for kind, box := range boxes(t) {
		s := newStage(t)
		box := *box
		box.Place = s.place
		box.Checks = []string{name}
		said, exit := s.run(&box, sandbox.Check, "curl -s http://"+name+"/")
		if !strings.Contains(said, "refuses "+name) || !slices.Equal(strings.Fields(exit.Refused), []string{name}) {
			t.Errorf("%s: got %q, refused %v", kind, said, exit.Refused)
		}
	}
}
