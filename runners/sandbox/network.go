package sandbox

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// proxyPort is that of the proxy in a network of its own: the system gives it to no other listener.
const proxyPort = 61773

// Bounds of a link, as the process decides what it asks for.
const (
	maxConnections = 128
	maxRefused     = 20       // hosts that are named
	maxHead        = 64 << 10 // of a request to the proxy, in bytes
	dialTime       = 30 * time.Second
)

// Link connects a process that has no network to the hosts that its wall lists. The guardian listens on the loopback of the process: as a
// proxy, and on the listed ports of this machine's own loopback.
type Link struct {
	Files []*os.File // what bubblewrap gets besides its standard files: the other end of gate, twice

	hosts    []string
	gate     *os.File     // bubblewrap writes its pid there, and begins when it is closed
	listener net.Listener // of the proxy, in Landlock
	slots    chan struct{}
	done     chan struct{}
	tasks    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[io.Closer]bool
	refused []string
}

// Connect returns the wall and the link of a process that is about to start. A wall without hosts has a link that connects nothing.
func (w *Wall) Connect() (_ *Wall, l *Link, err error) {
	l = &Link{slots: make(chan struct{}, maxConnections), done: make(chan struct{}), open: map[io.Closer]bool{}}
	if w == nil || len(w.Hosts) == 0 {
		return w, l, nil
	}
	own, port := *w, proxyPort
	l.hosts = w.Hosts
	if w.Wraps() {
		syscall.ForkLock.RLock() // macOS knows no SOCK_CLOEXEC
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
		syscall.ForkLock.RUnlock()
		if err != nil {
			return nil, nil, os.NewSyscallError("socketpair", err)
		}
		other := os.NewFile(uintptr(pair[1]), "other")
		l.gate, l.Files = os.NewFile(uintptr(pair[0]), "gate"), []*os.File{other, other}
	} else {
		if l.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			return nil, nil, err
		}
		port = l.listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of TCP
		own.Ports = append(local(w.Hosts), port)
	}
	const direct = "localhost,127.0.0.1,::1"
	own.Env = append(slices.Clone(w.Env), "NODE_USE_ENV_PROXY=1", "NO_PROXY="+direct, "no_proxy="+direct)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		own.Env = append(own.Env, name+"=http://127.0.0.1:"+strconv.Itoa(port))
	}
	return &own, l, nil
}

// Open lets the process begin when its link listens. While it holds lock, nothing else may wait for children of this process.
func (l *Link) Open(lock sync.Locker) {
	if l.listener != nil {
		l.listen(l.listener, "")
	}
	if l.gate == nil {
		return
	}
	_ = l.Files[0].Close()
	l.tasks.Go(func() {
		defer func() { _ = l.gate.Close() }() // a signal
		var bwrap struct {
			Pid int `json:"child-pid"`
		}
		err := json.NewDecoder(l.gate).Decode(&bwrap)
		for _, port := range append(local(l.hosts), proxyPort) {
			var listener net.Listener
			if err == nil {
				listener, err = listenInside(lock, bwrap.Pid, port)
			}
			if err != nil {
				l.refuse("all:" + strings.ReplaceAll(err.Error(), " ", "-")) // one word, as hosts are
				return
			}
			l.listen(listener, map[bool]string{true: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}[port != proxyPort])
		}
	})
}

// listen serves the connections of a listener: as a proxy, or by passing them to a target.
func (l *Link) listen(listener net.Listener, target string) {
	l.keep(listener)
	l.tasks.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			l.keep(client)
			l.slots <- struct{}{}
			l.tasks.Go(func() {
				defer func() { l.drop(client); <-l.slots }()
				if target == "" {
					l.proxy(client)
				} else if up, err := net.DialTimeout("tcp", target, dialTime); err == nil {
					l.join(client, client, up)
				}
			})
		}
	})
}

// keep has the end of the link close c, at once if it has ended.
func (l *Link) keep(c io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[c] = true; l.closed {
		_ = c.Close()
	}
}

func (l *Link) drop(c io.Closer) {
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Close ends all connections, and returns the hosts that were refused.
func (l *Link) Close() []string {
	close(l.done)
	l.mu.Lock()
	l.closed = true
	for c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	for _, f := range append(l.Files, l.gate) {
		_ = f.Close() // nil, or closed already
	}
	l.tasks.Wait()
	return l.refused
}
