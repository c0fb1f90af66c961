package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"relay/epic/pattern"
)

var errNotListed = errors.New("relay.sandbox_network does not list it")

// proxy answers the one request of a connection: CONNECT, or plain HTTP.
func (l *Link) proxy(client net.Conn) {
	bound := &io.LimitedReader{R: client, N: maxHead}
	in := bufio.NewReader(bound)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	bound.N = math.MaxInt64
	status, host, port := http.StatusBadGateway, req.URL.Hostname(), cmp.Or(req.URL.Port(), "80")
	up, err := l.dial(host, port)
	if errors.Is(err, errNotListed) {
		status, err = http.StatusForbidden, fmt.Errorf("the sandbox refuses %s: %w", net.JoinHostPort(host, port), errNotListed)
		l.refuse(listing(host, port))
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(client, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n%v\n", status, http.StatusText(status), err)
	case req.Method == http.MethodConnect:
		_, _ = io.WriteString(client, "HTTP/1.1 200 Connected\r\n\r\n") // what is lost ends the join, too
		l.join(client, in, up)
	default:
		l.keep(up)
		defer l.drop(up)
		req.Close = true // one request passes, to the host that was asked for
		req.Header.Del("Proxy-Connection")
		req.Header.Del("Proxy-Authorization")
		l.tasks.Go(func() { _ = req.Write(up) }) // the host says what it lacks
		pass(client, up)
	}
}

// dial connects to a host if it is listed. A name that is listed does not lead to this machine or its neighbours.
func (l *Link) dial(host, port string) (net.Conn, error) {
	if !listed(l.hosts, host, port) {
		return nil, errNotListed
	}
	named := !isLocal(host) && net.ParseIP(host) == nil
	//nolint:staticcheck // a link has no context, as nothing but the end of its process ends it
	d := net.Dialer{Timeout: dialTime, Cancel: l.done, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && named && !at.Addr().Unmap().IsGlobalUnicast() {
			return errNotListed
		}
		return err
	}}
	return d.Dial("tcp", net.JoinHostPort(host, port))
}

// join passes bytes between a process, from which in reads, and a host until both have ended.
func (l *Link) join(client net.Conn, in io.Reader, up net.Conn) {
	l.keep(up)
	defer l.drop(up)
	l.tasks.Go(func() { pass(up, in) })
	pass(client, up)
}

// pass copies to a connection, and then closes its half.
func pass(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // both ends see that it broke off
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}

// refuse records a host that was refused.
func (l *Link) refuse(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if host != "" && len(l.refused) < maxRefused && !slices.Contains(l.refused, host) {
		l.refused = append(l.refused, host)
	}
}

// hosts matches a host that a list can have: see relay.sandbox_network.
var hosts = pattern.New(`^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// isHost reports whether what a process was refused is a host that a list can have. Two words mean something else there.
func isHost(refused string) bool {
	return hosts.MatchString(refused) && refused != "open" && refused != "none"
}

// listing returns a host and its port as a list has them.
func listing(host, port string) string {
	if port == "80" || port == "443" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// listed reports whether a list has a host and a port: HOST, *.DOMAIN, or either with :PORT. Without one it means those of HTTP.
func listed(list []string, host, port string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(list, func(entry string) bool {
		name, own, _ := strings.Cut(strings.ToLower(entry), ":")
		domain, below := strings.CutPrefix(name, "*")
		return (own == port || own == "" && listing("", port) == "") && (name == host || below && strings.HasSuffix(host, domain))
	})
}

// local returns the ports of this machine's own loopback in a list.
func local(list []string) (ports []int) {
	for _, entry := range list {
		host, own, _ := strings.Cut(entry, ":")
		if port, err := strconv.Atoi(own); err == nil && isLocal(host) && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

func isLocal(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
