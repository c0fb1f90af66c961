//go:build !windows

package main

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	schema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

type configuration = config.Config

const (
	clusterName = "active"
	namespace   = "default"
	storeName   = "sqlite"

	// retention is how long results stay. relay finds older ones in the git repository.
	retention = 30 * 24 * time.Hour
)

func database(file string) *config.SQL {
	return &config.SQL{
		PluginName: sqlite.PluginName, DatabaseName: file,
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "full"},
	}
}

// prepare makes the database where there is none.
func prepare(sql *config.SQL) error {
	if err := os.MkdirAll(filepath.Dir(sql.DatabaseName), 0o700); err != nil {
		return err
	}
	_, err := os.Stat(sql.DatabaseName)
	if errors.Is(err, fs.ErrNotExist) {
		err = schema.SetupSchema(sql)
	}
	ns, failed := schema.NewNamespaceConfig(clusterName, namespace, false, nil)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	ns.Detail.Config.Retention = durationpb.New(retention)
	return errors.Join(schema.CreateNamespaces(sql, ns), os.Chmod(sql.DatabaseName, 0o600))
}

// configure makes the configuration of the server's services, and says where they listen.
func configure(o options, sql *config.SQL) (*configuration, map[primitives.ServiceName]static.Hosts, error) {
	c := &configuration{}
	at, err := netip.ParseAddrPort(o.listen)
	if err != nil {
		return nil, nil, err
	}
	own := at // by which the services reach the one that clients reach
	if at.Addr().IsUnspecified() {
		own = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	c.Global.Membership.MaxJoinDuration = 30 * time.Second
	c.Global.Membership.BroadcastAddress = own.Addr().String()
	c.Persistence = config.Persistence{
		DefaultStore: storeName, VisibilityStore: storeName, NumHistoryShards: 1,
		DataStores: map[string]config.DataStore{storeName: {SQL: sql}},
	}
	c.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{
			clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: own.String(), ClusterID: "relay"},
		},
	}
	c.DCRedirectionPolicy.Policy = "noop"
	c.Archival.History.State, c.Archival.Visibility.State = "disabled", "disabled"
	c.NamespaceDefaults.Archival.History.State, c.NamespaceDefaults.Archival.Visibility.State = "disabled", "disabled"
	c.PublicClient.HostPort = own.String()
	c.Services = map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, name := range []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		rpc := config.RPC{GRPCPort: int(at.Port()), BindOnIP: at.Addr().String()}
		here := own.String()
		if name != primitives.FrontendService {
			if rpc, here, err = inside(); err != nil {
				return nil, nil, err
			}
		}
		c.Services[string(name)] = config.Service{RPC: rpc}
		hosts[name] = static.SingleLocalHost(here)
	}
	if o.ca != "" {
		secure(c, o)
	}
	return c, hosts, nil
}

// inside returns where a service listens that only the others reach.
func inside() (rpc config.RPC, here string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return rpc, "", err
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	return config.RPC{GRPCPort: port, BindOnIP: "127.0.0.1"}, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// secure has everybody show a certificate, the server's own services as well.
func secure(c *configuration, o options) {
	server := config.ServerTLS{CertFile: o.crt, KeyFile: o.key, ClientCAFiles: []string{o.ca}, RequireClientAuth: true}
	client := config.ClientTLS{ServerName: "localhost", RootCAFiles: []string{o.ca}}
	c.Global.TLS.Internode = config.GroupTLS{Server: server, Client: client}
	c.Global.TLS.Frontend = config.GroupTLS{Server: server, Client: client}
	c.Global.TLS.SystemWorker = config.WorkerTLS{CertFile: o.crt, KeyFile: o.key, Client: client}
}
