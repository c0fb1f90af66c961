package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"relay/cmd/relay/internal/project"
	"relay/epic/each"
	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/process"
)

// keyless starts the processes of an agent without its keys: relay adds them to its requests.
type keyless struct {
	process.Supervisor
	runners.Access
	agent string
}

// AgentSupervisor returns a supervisor for the processes of an agent, which are in the sandbox and may get no keys.
func AgentSupervisor(ctx context.Context, p *project.Project, sup process.Supervisor, name string) process.Supervisor {
	agent := p.Config.Relay.Agents[name]
	sup = Walled(ctx, p, sup, name)
	if agent.Key == "proxy" {
		return keyless{sup, kinds.FactsOf(agent.Type).Access, name}
	}
	return sup
}

// Start implements [process.Supervisor]. The proxy ends with the process.
func (k keyless) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	var hide, reveal []string
	named := ""
	for _, name := range k.Keys {
		if key := runners.Variable(cmd.Env, name); key != "" {
			token := "relay-" + rand.Text()
			hide, reveal, named = append(hide, key, token), append(reveal, token, key), name
		}
	}
	if named == "" {
		return nil, errors.New("relay.agents." + k.agent + ".key is proxy, and no variable has a key: " + strings.Join(k.Keys, ", "))
	}
	target, err := url.Parse(cmp.Or(runners.Variable(cmd.Env, k.Base), k.Address))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := "http://" + listener.Addr().String()
	cmd.Env = each.Of(cmd.Env, strings.NewReplacer(hide...).Replace)
	cmd.Env = append(slices.DeleteFunc(cmd.Env, func(entry string) bool { return strings.HasPrefix(entry, k.Base+"=") }), k.Base+"="+address)
	if k.Argv != nil {
		cmd.Argv = k.Argv(cmd.Argv, address, named)
	}
	silent := log.New(io.Discard, "", 0) //nolint:forbidigo // the process sees the errors of its requests
	p := &served{server: &http.Server{Handler: withKeys(target, strings.NewReplacer(reveal...)), ErrorLog: silent}}
	p.serving.Go(func() { _ = p.server.Serve(listener) }) // until it is closed
	if p.Process, err = k.Supervisor.Start(ctx, cmd); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// withKeys passes requests that have a token on to target, with the key in its place.
func withKeys(target *url.URL, reveal *strings.Replacer) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := false
		for _, name := range []string{"X-Api-Key", "Authorization"} {
			for i, value := range r.Header[name] {
				r.Header[name][i] = reveal.Replace(value)
				known = known || r.Header[name][i] != value
			}
		}
		if !known {
			http.Error(w, "relay has given no such key", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// served is a process with a proxy of its own.
type served struct {
	process.Process
	server  *http.Server
	serving sync.WaitGroup
}

// Wait implements [process.Process].
func (p *served) Wait() process.Exit {
	defer p.close()
	return p.Process.Wait()
}

func (p *served) close() {
	_ = p.server.Close() // also of its connections, whose process has ended
	p.serving.Wait()
}
