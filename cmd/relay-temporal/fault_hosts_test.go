package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"relay/cmd/relay-temporal/internal/order"
)

// needsServer skips a test without a server.
func needsServer(t *testing.T) {
	t.Helper()
	if os.Getenv(serverVariable) == "" {
		t.Skipf("SKIPPED: %s does not name a built relay-temporal-server; .ci/long temporal builds it", serverVariable)
	}
}

// The lies of a host, and what relay says of each. LIE names one.
var lies = map[string]struct {
	lie  func(h *liar, o order.Order, m *order.Result)
	says string
}{
	"another commit": {func(_ *liar, o order.Order, m *order.Result) { m.Commit = o.Commit }, "the result is the commit"},
	"another head":   {func(_ *liar, o order.Order, m *order.Result) { m.Head = o.Commit }, "its work does not begin at"},
	"another order": {func(_ *liar, o order.Order, m *order.Result) {
		m.Order = strings.Repeat("0", 64)
	}, "it answers another order"},
	"another attempt": {func(_ *liar, o order.Order, m *order.Result) { m.Number = 7 }, "it answers another order"},
	"other history": {func(h *liar, o order.Order, m *order.Result) {
		m.Head = h.git("commit-tree", "-m", "orphan", m.Head+"^{tree}")
		h.push(o, m, h.git("commit-tree", "-m", "result", "-p", o.Commit, "-p", m.Head, m.Commit+"^{tree}"))
	}, "its work does not begin at"},
	"an earlier result": {func(h *liar, o order.Order, m *order.Result) {
		if h.first == "" {
			h.first = m.Commit
			return
		}
		h.push(o, m, h.first)
	}, "it does not come from the order"},
	"no work": {func(_ *liar, o order.Order, m *order.Result) { m.Head = o.Base }, "test -f T1.txt"},
}

// TestFaultLies has a host send results that are not those of its orders.
func TestFaultLies(t *testing.T) {
	t.Parallel()
	needsServer(t)
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "none", "")
			s.start("server")
			s.start("build2")
			s.start("liar", "LIE="+name)
			s.await("the liar to be ready", func() bool { return strings.Contains(s.read("liar.log"), "ready") })
			s.start("decider")
			if code := s.ended("decider"); code != 0 {
				t.Errorf("it ended with %d\n%s", code, s.logs())
			}
			if !strings.Contains(s.read("decider.log"), lie.says) {
				t.Errorf("it does not say %s\n%s", lie.says, s.logs())
			}
			s.holds(4, false)
		})
	}
}

// liar is a host that carries its orders out, and lies of what has come of them.
type liar struct {
	first string // the commit of the first result
}

func (h *liar) git(args ...string) string {
	clones, err := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".cache/relay/hosts/*/.git"))
	cmd := exec.Command("git", append([]string{"--git-dir", strings.Join(clones, "")}, args...)...)
	out, failed := cmd.CombinedOutput()
	if err := errors.Join(err, failed); err != nil {
		panic(string(out) + err.Error())
	}
	return strings.TrimSpace(string(out))
}

// push puts a commit where the result of an order belongs.
func (h *liar) push(o order.Order, m *order.Result, commit string) {
	m.Commit = commit
	h.git("push", "-q", "-f", filepath.Join(os.Getenv("HOME"), "../remote.git"), commit+":refs/relay/results/"+o.Run+"/"+o.Task+"/1")
}

// lied is what the liar reports.
type lied struct {
	Result json.RawMessage `json:"result"`
}

func (h *liar) attempt(ctx context.Context, message []byte) (answer lied, err error) {
	beats := time.AfterFunc(0, func() {})
	beats = time.AfterFunc(time.Second/2, func() { activity.RecordHeartbeat(ctx); beats.Reset(time.Second / 2) })
	defer beats.Stop()
	cmd := exec.CommandContext(ctx, "relay-temporal", "carry", "--name", "build1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(message), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return answer, err
	}
	for line := range bytes.Lines(out) {
		_ = json.Unmarshal(line, &answer)
	}
	o, err := order.Decode[order.Order](message)
	if err != nil {
		return answer, err
	}
	m, err := order.Decode[order.Result](answer.Result)
	if err != nil {
		return answer, err
	}
	lies[os.Getenv("LIE")].lie(h, o, &m)
	answer.Result, err = order.Encode(m)
	return answer, err
}

// lyingHost is the program of a host that lies.
func lyingHost() {
	c, err := client.Dial(client.Options{HostPort: os.Getenv("ADDRESS")})
	if err != nil {
		panic(err)
	}
	w := worker.New(c, "relay.build1", worker.Options{MaxConcurrentActivityExecutionSize: 1, DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions((&liar{}).attempt, activity.RegisterOptions{Name: "attempt"})
	if err := w.Start(); err != nil {
		panic(err)
	}
	_, _ = os.Stderr.WriteString("ready\n")
	select {}
}

// Two relays decide on one epic. In one checkout the second is refused; in two, each lands its own work in its own, by its own settings.
func TestFaultTwoDeciders(t *testing.T) {
	t.Parallel()
	needsServer(t)
	s := newSite(t, "settings-before", "")
	s.must(os.CopyFS(s.path("other/project"), os.DirFS(s.path("project"))))
	s.must(os.CopyFS(s.path("other/home"), os.DirFS(s.path("home"))))
	other := &site{t: t, dir: s.path("other"), step: "none", jobs: "2", procs: map[string]*exec.Cmd{}}
	other.must(os.Rename(other.path("project/agent.sh"), other.path("project/another.sh")))
	settings := strings.ReplaceAll(other.read("project/.agents.yml"), "agent.sh", "another.sh")
	other.must(os.WriteFile(other.path("project/.agents.yml"), []byte(settings), 0o600))
	other.run("git", "add", "-A")
	other.run("git", "commit", "-q", "-m", "Another agent")
	for _, part := range []string{"server", "build1", "build2", "decider"} {
		s.start(part)
	}
	s.await("an order", func() bool { return s.there("seen/at") })
	s.start("second")
	if code := s.ended("second"); code == 0 || !strings.Contains(s.read("second.log"), "is already at work on this epic") {
		t.Errorf("the second one ended with %d\n%s", code, s.logs())
	}
	other.start("decider", "PATH="+s.path("git")+":"+os.Getenv("PATH"))
	s.await("its order", func() bool { return strings.Count(s.read("build1.log"), "carries out") == 2 })
	s.touch("seen/go")
	if code := other.ended("decider"); code != 0 {
		t.Errorf("the one elsewhere ended with %d\n%s%s", code, other.logs(), s.logs())
	}
	if code := s.ended("decider"); code != 0 {
		t.Errorf("the first one ended with %d\n%s", code, s.logs())
	}
	s.holds(4, false)
	for _, id := range []string{"T1", "T2"} {
		if text := other.run("git", "show", "relay/"+siteEpic+":"+id+".txt"); text != id {
			t.Errorf("elsewhere %s.txt has %q", id, text)
		}
	}
}

// The disk of a host is full: what it cannot do is done elsewhere, uncharged.
func TestFaultDiskFull(t *testing.T) {
	t.Parallel()
	needsServer(t)
	if err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", t.TempDir()).Run(); err != nil {
		t.Skipf("SKIPPED: only root can make a small disk here: %v", err)
	}
	for _, step := range []string{"order-push-after", "order-fetch-before", "working", "result-push-before"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, step, "")
			s.start("server")
			s.start("build2")
			s.start("small")
			s.await("build1 to be ready", func() bool { return strings.Contains(s.read("small.log"), " ready ") })
			s.start("decider")
			s.await(step, func() bool { return strings.HasSuffix(s.read("seen/at"), "\n") })
			s.fill()
			s.touch("seen/go")
			if code := s.ended("decider"); code != 0 {
				t.Errorf("it ended with %d\n%s", code, s.logs())
			}
			s.holds(3, false)
		})
	}
}

// smallDisk starts the worker of build1 with a home folder of a few megabytes.
const smallDisk = `cp -r "$HOME/.config" "$HOME/../config" && mount -t tmpfs -o size=12m none "$HOME" && cp -r "$HOME/../config" "$HOME/.config" &&
exec relay-temporal worker --name build1 --jobs 2`

// fill leaves no room on the small disk.
func (s *site) fill() {
	s.t.Helper()
	to, err := os.Create(filepath.Join("/proc", s.pid("small"), "root", s.path("build1/filled")))
	s.must(err)
	defer to.Close()
	for size := 1 << 16; size > 0; {
		if _, err := to.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			s.must(err)
		}
	}
}

// The server answers when a worker connects, and fails when the worker starts: it starts again, and serves.
func TestFaultFirstStart(t *testing.T) {
	t.Parallel()
	needsServer(t)
	s := newSite(t, "none", "")
	s.start("server")
	behind, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	s.must(err)
	t.Cleanup(func() { _ = behind.Close() })
	to := proxy.WorkflowServiceProxyOptions{Client: workflowservice.NewWorkflowServiceClient(behind)}
	front, err := proxy.NewWorkflowServiceProxyServer(to)
	s.must(err)
	var starts atomic.Int32
	refuse := func(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if strings.HasSuffix(info.FullMethod, "/DescribeNamespace") && starts.Add(1) <= 2 {
			return nil, status.Error(codes.FailedPrecondition, "not yet")
		}
		return next(ctx, in)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(refuse))
	workflowservice.RegisterWorkflowServiceServer(server, front)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	settings := strings.Replace(s.read("build1/.config/relay/machines.yml"), s.address, l.Addr().String(), 1)
	s.must(os.WriteFile(s.path("build1/.config/relay/machines.yml"), []byte(settings), 0o600))
	s.start("build1")
	if got := strings.Count(s.read("build1.log"), "the server is away"); got != 2 {
		t.Errorf("it was away %d times, want 2\n%s", got, s.logs())
	}
	s.start("decider")
	if code := s.ended("decider"); code != 0 {
		t.Errorf("it ended with %d\n%s", code, s.logs())
	}
}
