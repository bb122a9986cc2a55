package embedded

import (
	"errors"
	"fmt"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// tuning is the dynamic configuration of one node on one machine where it
// differs from a cluster's, with the types that the server's configuration
// files would have.
var tuning = map[string]any{
	// By default a shard looks for new tasks 20 times a second, so that each
	// step of a workflow waits 50 ms.
	"history.transferProcessorMaxPollRPS":   2000,
	"history.timerProcessorMaxPollRPS":      2000,
	"history.visibilityProcessorMaxPollRPS": 2000,
	// By default a run cannot continue as new within a second of its start.
	"history.workflowIdReuseMinimalInterval": "0s",
	// A long poll for a workflow's next event or end expires after 20 s by default.
	// Under load the server drops notifications: each poll buffers one, and a second
	// is lost if it arrives before the first is read. The client then learns of the
	// end when its poll expires and it polls again.
	"history.longPollExpirationInterval": "1s",
	// The server does not query the internet for a newer version.
	"frontend.enableServerVersionCheck": false,
	// By default a namespace is listed and counted ten times a second, by all
	// of its clients together: the UI, the API and a person who pages through
	// runs.
	"frontend.namespaceRPS.visibility": 1000,
	// Tenants share queues fairly.
	"matching.enableFairness": true,
	// One process has no use for four partitions of each queue.
	"matching.numTaskqueueReadPartitions":  1,
	"matching.numTaskqueueWritePartitions": 1,
	// By default a version of a Worker Deployment that gets no new work is first looked at after
	// three minutes, and then every three, for a cluster whose lists lag behind. These do not.
	"matching.wv.VersionDrainageStatusVisibilityGracePeriod": "5s",
	"matching.wv.VersionDrainageStatusRefreshInterval":       "5s",
	// Search attributes are visible once registered: no cache delays them.
	"system.forceSearchAttributesCacheRefreshOnRead": true,
	// So each row of a list reads what search attributes there are, from a database
	// in this process: by default a frontend stops at 2,000 reads a second, which
	// is two pages of a thousand workflows.
	"frontend.persistenceMaxQPS": 100_000,
	"history.persistenceMaxQPS":  100_000,
	// One process serves itself: a limit on its requests would turn away the polls of workers that
	// are busy, and each then waits before it polls again.
	"frontend.rps":          100_000,
	"frontend.namespaceRPS": 100_000,
	"matching.rps":          100_000,
	"history.rps":           100_000,
}

func dynamicConfig() dynamicconfig.Client {
	values := dynamicconfig.StaticClient{}
	for key, value := range tuning {
		values[dynamicconfig.MakeKey(key)] = value
	}
	return values
}

// runServer makes and starts a server.
func runServer(cfg *config.Config, log *serverLogger) (server temporal.Server, err error) {
	if err := log.build(func() error {
		server, err = newServer(cfg, log)
		return err
	}); err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

func newServer(cfg *config.Config, log *serverLogger) (temporal.Server, error) {
	authorizer, err := authorization.GetAuthorizerFromConfig(&cfg.Global.Authorization)
	if err != nil {
		return nil, fmt.Errorf("making an authorizer: %w", err)
	}
	claims, err := authorization.GetClaimMapperFromConfig(&cfg.Global.Authorization, log)
	if err != nil {
		return nil, fmt.Errorf("making a claim mapper: %w", err)
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range cfg.Services {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address(service.RPC.GRPCPort))
	}
	return temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dynamicConfig()),
	)
}
