//go:build !windows

// Command relay-temporal-server is a Temporal server in one process with one file, for teams that have none. It has no user interface,
// no authentication besides TLS, and no second process to take over.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/temporal"
)

const notice = `relay-temporal-server: SQLite is for a small team: one process, one file, no second server.
To grow, run Temporal with PostgreSQL or use Temporal Cloud, and name it in machines.yml once no attempt runs.
`

// options are the arguments.
type options struct {
	listen       string
	db           string
	ca, crt, key string
	insecure     bool
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "relay-temporal-server:", err)
		os.Exit(1)
	}
}

// parse reads the arguments. It refuses to listen for other machines without TLS.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("relay-temporal-server", flag.ContinueOnError)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7233", "`IP:PORT` for relay-temporal; [::] and 0.0.0.0 mean all interfaces")
	flags.StringVar(&o.db, "db", "", "the SQLite `file`, made where there is none")
	flags.StringVar(&o.ca, "tls-ca", "", "`file` of the authority whose clients are served")
	flags.StringVar(&o.crt, "tls-cert", "", "`file` of the server's certificate")
	flags.StringVar(&o.key, "tls-key", "", "`file` of its key")
	flags.BoolVar(&o.insecure, "insecure", false, "serve other machines without TLS: whoever reaches the port controls the hosts")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	at, err := netip.ParseAddrPort(o.listen)
	some, all := o.ca+o.crt+o.key != "", o.ca != "" && o.crt != "" && o.key != ""
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.db == "":
		err = errors.New("--db is missing: the file that keeps orders and results")
	case err != nil:
		err = fmt.Errorf("--listen %s: want IP:PORT", o.listen)
	case some && !all:
		err = errors.New("--tls-ca, --tls-cert and --tls-key belong together: relay-temporal certs DIR makes them")
	case !some && !at.Addr().IsLoopback() && !o.insecure:
		err = fmt.Errorf("--listen %s without TLS lets everybody who reaches it control the hosts: relay-temporal certs DIR makes certificates", o.listen)
	}
	return o, err
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, notice)
	sql := database(o.db)
	if err := prepare(sql); err != nil {
		return fmt.Errorf("%s: %w", o.db, err)
	}
	c, hosts, err := configure(o, sql)
	if err != nil {
		return err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error"}))
	server, err := temporal.NewServer(
		temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithStaticHosts(hosts), temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*configuration) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): historyCache}),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
	if err != nil {
		return err
	}
	go announce(o.listen)
	return server.Start()
}

// historyCache bounds the executions that the server keeps in memory.
const historyCache = 8096

// announce says when clients are served.
func announce(listen string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if conn, err := net.Dial("tcp", listen); err == nil {
			_ = conn.Close()
			fmt.Fprintln(os.Stderr, "relay-temporal-server: serving", listen)
			return
		}
	}
}
