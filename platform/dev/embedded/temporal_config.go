package embedded

import (
	"context"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/primitives"
)

const (
	// clusterName is what the CLI's development server calls its cluster too.
	clusterName = "active"

	storeName = "sqlite"

	// historyShards cannot change once a database is created: the server then
	// keeps the number in the database.
	historyShards = 4
)

// temporalPorts are the ports of one server.
type temporalPorts struct {
	frontend, history, matching, worker int
}

func chooseTemporalPorts(ctx context.Context, wanted wish) (temporalPorts, error) {
	frontend, err := wanted.choose(ctx)
	if err != nil {
		return temporalPorts{}, err
	}
	rest, err := choosePorts(ctx, 3)
	if err != nil {
		return temporalPorts{}, err
	}
	return temporalPorts{frontend: frontend, history: rest[0], matching: rest[1], worker: rest[2]}, nil
}

func serverConfig(db *config.SQL, ports temporalPorts) *config.Config {
	var c config.Config
	c.Persistence = config.Persistence{
		DefaultStore:     storeName,
		VisibilityStore:  storeName,
		NumHistoryShards: historyShards,
		DataStores:       map[string]config.DataStore{storeName: {SQL: db}},
	}
	// The addresses are of this start; the server writes them over those it
	// finds in the database.
	c.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled:                true,
			InitialFailoverVersion: 1,
			RPCAddress:             address(ports.frontend),
		}},
	}
	c.DCRedirectionPolicy.Policy = "noop"
	c.Services = map[string]config.Service{
		string(primitives.FrontendService): service(ports.frontend),
		string(primitives.HistoryService):  service(ports.history),
		string(primitives.MatchingService): service(ports.matching),
		string(primitives.WorkerService):   service(ports.worker),
	}
	c.Archival.History.State = config.ArchivalDisabled
	c.Archival.Visibility.State = config.ArchivalDisabled
	c.NamespaceDefaults.Archival.History.State = config.ArchivalDisabled
	c.NamespaceDefaults.Archival.Visibility.State = config.ArchivalDisabled
	c.PublicClient.HostPort = address(ports.frontend)
	return &c
}

// service has no HTTP API: it would accept requests from any site that is open
// in the browser, and no client here uses it.
func service(port int) config.Service {
	var s config.Service
	s.RPC.GRPCPort = port
	s.RPC.BindOnIP = loopback
	return s
}
